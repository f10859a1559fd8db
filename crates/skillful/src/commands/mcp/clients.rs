//! What the settings of MCP clients need to start this server.

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::Output;

/// A client.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Codex,
    Cursor,
    GeminiCli,
    Goose,
    Opencode,
    Vscode,
    Windsurf,
    Zed,
}

/// Prints what goes into the settings of a client; where they are is said beside it.
pub(super) fn print(client: Client, output: &Output) -> Result<(), Failure> {
    let (file, settings) = client.settings();
    let text = match &settings {
        Written::Json(value) => format!("{value:#}\n"),
        Written::Text(text) => (*text).to_owned(),
    };
    let document = json!({"file": file, "content": text});
    output.result(&document, |out, _| out.write_all(text.as_bytes()))?;
    output.note(&format!("for {file}"));
    Ok(())
}

enum Written {
    Json(Value),
    Text(&'static str),
}

impl Client {
    /// The file, and what goes into it.
    fn settings(self) -> (&'static str, Written) {
        let server = json!({"command": "skillful", "args": ["mcp"]});
        let servers = json!({"mcpServers": {"skillful": server}});
        let (file, settings) = match self {
            Self::ClaudeCode => (".mcp.json in the project", servers),
            Self::ClaudeDesktop => ("claude_desktop_config.json", servers),
            Self::Cursor => (".cursor/mcp.json in the project, or ~/.cursor/mcp.json", servers),
            Self::GeminiCli => ("~/.gemini/settings.json, or .gemini in the project", servers),
            Self::Windsurf => ("~/.codeium/windsurf/mcp_config.json", servers),
            Self::Vscode => (
                ".vscode/mcp.json in the project",
                json!({"servers": {"skillful": {"type": "stdio", "command": "skillful", "args": ["mcp"]}}}),
            ),
            Self::Zed => (
                "~/.config/zed/settings.json",
                json!({"context_servers": {"skillful": {"command": "skillful", "args": ["mcp"], "env": {}}}}),
            ),
            Self::Opencode => (
                "opencode.json in the project, or ~/.config/opencode/opencode.json",
                json!({"mcp": {"skillful": {"type": "local", "command": ["skillful", "mcp"], "enabled": true}}}),
            ),
            Self::Codex => {
                let text = "[mcp_servers.skillful]\ncommand = \"skillful\"\nargs = [\"mcp\"]\n";
                return ("~/.codex/config.toml", Written::Text(text));
            }
            Self::Goose => {
                let text = "extensions:\n  skillful:\n    type: stdio\n    name: skillful\n    cmd: skillful\n    args: [mcp]\n    enabled: true\n    timeout: 300\n";
                return ("~/.config/goose/config.yaml", Written::Text(text));
            }
        };
        (file, Written::Json(settings))
    }
}
