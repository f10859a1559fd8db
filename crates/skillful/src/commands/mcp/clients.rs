//! What the settings of MCP clients need to start this server, or to reach one over HTTP.

mod remote;

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

/// Prints what goes into the settings of a client; where they are is said beside it. Where there is a `url`,
/// the client connects to a server that runs there.
pub(super) fn print(client: Client, url: Option<&str>, output: &Output) -> Result<(), Failure> {
    let arguments = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let (file, settings) = match url {
        Some(url) => (client.file(), client.remote(url)?),
        None => (client.file(), client.settings(&of_the_server(arguments))),
    };
    let text = match settings {
        Written::Json(value) => format!("{value:#}\n"),
        Written::Text(text) => text,
    };
    let settings = ClientSettings { file, content: text };
    output.result(&settings, |out, _| out.write_all(settings.content.as_bytes()))?;
    output.note(&format!("for {file}"));
    if url.is_some() {
        output.note(client.token_advice());
    }
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
    /// Where its settings are.
    fn file(self) -> &'static str {
        match self {
            Self::ClaudeCode => ".mcp.json in the project",
            Self::ClaudeDesktop => "claude_desktop_config.json",
            Self::Codex => "~/.codex/config.toml",
            Self::Cursor => ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
            Self::GeminiCli => "~/.gemini/settings.json, or .gemini/settings.json in the project",
            Self::Goose => "~/.config/goose/config.yaml",
            Self::Opencode => "opencode.json in the project, or ~/.config/opencode/opencode.json",
            Self::Vscode => ".vscode/mcp.json in the project",
            Self::Windsurf => "~/.codeium/windsurf/mcp_config.json",
            Self::Zed => "~/.config/zed/settings.json",
        }
    }

    /// What goes into them, so that it starts the server with these arguments.
    fn settings(self, args: &[String]) -> Written {
        let server = json!({"command": "skillful", "args": args});
        Written::Json(match self {
            Self::ClaudeCode
            | Self::ClaudeDesktop
            | Self::Cursor
            | Self::GeminiCli
            | Self::Windsurf => json!({"mcpServers": {"skillful": server}}),
            Self::Vscode => {
                json!({"servers": {"skillful": {"type": "stdio", "command": "skillful", "args": args}}})
            }
            Self::Zed => {
                json!({"context_servers": {"skillful": {"command": "skillful", "args": args, "env": {}}}})
            }
            Self::Opencode => {
                json!({"mcp": {"skillful": {"type": "local", "command": ([&["skillful".to_owned()], args].concat()), "enabled": true}}})
            }
            // A list in JSON is one in TOML and YAML too.
            Self::Codex => {
                return Written::Text(format!(
                    "[mcp_servers.skillful]\ncommand = \"skillful\"\nargs = {}\n",
                    json!(args)
                ));
            }
            Self::Goose => {
                return Written::Text(format!(
                    "extensions:\n  skillful:\n    type: stdio\n    name: skillful\n    cmd: skillful\n    args: {}\n    enabled: true\n    timeout: 300\n",
                    json!(args)
                ));
            }
        })
    }
}
