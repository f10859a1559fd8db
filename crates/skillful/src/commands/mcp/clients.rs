//! What the settings of MCP clients need to start this server.

use schemars::JsonSchema;
use serde::Serialize;
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
    let arguments = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let (file, settings) = client.settings(&of_the_server(arguments));
    let text = match settings {
        Written::Json(value) => format!("{value:#}\n"),
        Written::Text(text) => text,
    };
    let settings = ClientSettings { file, content: text };
    output.result(&settings, |out, _| out.write_all(settings.content.as_bytes()))?;
    output.note(&format!("for {file}"));
    Ok(())
}

/// What goes into the settings of a client.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ClientSettings {
    /// Where they are.
    file: &'static str,
    content: String,
}

enum Written {
    Json(Value),
    Text(String),
}

/// The words of this command that the server is started with: all but those about printing.
fn of_the_server(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words;
    while let Some(word) = words.next() {
        match word.as_str() {
            "--print-config" => drop(words.next()),
            "--json" | "-q" | "--quiet" | "-v" | "--verbose" => {}
            word if word.starts_with("--print-config=") => {}
            _ => kept.push(word),
        }
    }
    kept
}

impl Client {
    /// The file, and what goes into it.
    fn settings(self, args: &[String]) -> (&'static str, Written) {
        let server = json!({"command": "skillful", "args": args});
        let servers = json!({"mcpServers": {"skillful": server}});
        let (file, settings) = match self {
            Self::ClaudeCode => (".mcp.json in the project", servers),
            Self::ClaudeDesktop => ("claude_desktop_config.json", servers),
            Self::Cursor => (".cursor/mcp.json in the project, or ~/.cursor/mcp.json", servers),
            Self::GeminiCli => ("~/.gemini/settings.json, or .gemini in the project", servers),
            Self::Windsurf => ("~/.codeium/windsurf/mcp_config.json", servers),
            Self::Vscode => (
                ".vscode/mcp.json in the project",
                json!({"servers": {"skillful": {"type": "stdio", "command": "skillful", "args": args}}}),
            ),
            Self::Zed => (
                "~/.config/zed/settings.json",
                json!({"context_servers": {"skillful": {"command": "skillful", "args": args, "env": {}}}}),
            ),
            Self::Opencode => (
                "opencode.json in the project, or ~/.config/opencode/opencode.json",
                json!({"mcp": {"skillful": {"type": "local", "command": ([&["skillful".to_owned()], args].concat()), "enabled": true}}}),
            ),
            // A list in JSON is one in TOML and YAML too.
            Self::Codex => {
                let text = format!(
                    "[mcp_servers.skillful]\ncommand = \"skillful\"\nargs = {}\n",
                    json!(args)
                );
                return ("~/.codex/config.toml", Written::Text(text));
            }
            Self::Goose => {
                let text = format!(
                    "extensions:\n  skillful:\n    type: stdio\n    name: skillful\n    cmd: skillful\n    args: {}\n    enabled: true\n    timeout: 300\n",
                    json!(args)
                );
                return ("~/.config/goose/config.yaml", Written::Text(text));
            }
        };
        (file, Written::Json(settings))
    }
}
