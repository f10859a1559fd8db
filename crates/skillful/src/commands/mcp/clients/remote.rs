//! What the settings of MCP clients need to reach a server over HTTP.
//!
//! Invariant: no token is printed. A client takes it from a variable of its own environment where it can.

use serde_json::json;

use super::{Client, Written};
use crate::commands::mcp::TOKEN_VARIABLE;
use crate::failure::{Exit, Failure};

impl Client {
    /// What goes into them, so that it connects to `url` and sends the token.
    pub(super) fn remote(self, url: &str) -> Result<Written, Failure> {
        let with = |place: &str| json!({"Authorization": format!("Bearer {place}")});
        let name = TOKEN_VARIABLE;
        Ok(Written::Json(match self {
            Self::ClaudeDesktop => {
                let message = "Claude Desktop cannot connect to a running server";
                return Err(Failure::new(Exit::Usage, "Usage", message)
                    .hint("leave out --http, so that Claude Desktop starts the server"));
            }
            Self::ClaudeCode => {
                let headers = with(&format!("${{{name}}}"));
                json!({"mcpServers": {"skillful": {"type": "http", "url": url, "headers": headers}}})
            }
            Self::Cursor => {
                let headers = with(&format!("${{env:{name}}}"));
                json!({"mcpServers": {"skillful": {"url": url, "headers": headers}}})
            }
            Self::GeminiCli => {
                let headers = with(&format!("${name}"));
                json!({"mcpServers": {"skillful": {"httpUrl": url, "headers": headers}}})
            }
            Self::Windsurf => {
                let headers = with(&format!("${{env:{name}}}"));
                json!({"mcpServers": {"skillful": {"serverUrl": url, "headers": headers}}})
            }
            Self::Opencode => {
                let headers = with(&format!("{{env:{name}}}"));
                json!({"mcp": {"skillful": {"type": "remote", "url": url, "headers": headers, "oauth": false, "enabled": true}}})
            }
            Self::Vscode => {
                let input = json!({"type": "promptString", "id": "skillful-token",
                    "description": "Token of the Skillful server", "password": true});
                let headers = with("${input:skillful-token}");
                json!({"inputs": [input], "servers": {"skillful": {"type": "http", "url": url, "headers": headers}}})
            }
            Self::Zed => {
                json!({"context_servers": {"skillful": {"url": url, "headers": with("TOKEN")}}})
            }
            Self::Codex => {
                return Ok(Written::Text(format!(
                    "[mcp_servers.skillful]\nurl = {}\nbearer_token_env_var = \"{name}\"\n",
                    json!(url)
                )));
            }
            Self::Goose => {
                return Ok(Written::Text(format!(
                    "extensions:\n  skillful:\n    type: streamable_http\n    name: skillful\n    uri: {}\n    env_keys: [\"{name}\"]\n    headers:\n      Authorization: \"Bearer ${{{name}}}\"\n    enabled: true\n    timeout: 300\n",
                    json!(url)
                )));
            }
        }))
    }

    /// How it comes to the token.
    pub(super) fn token_advice(self) -> &'static str {
        match self {
            Self::Vscode => "VS Code asks for the token; the server prints it when it starts",
            Self::Zed => "replace TOKEN with the token; --token-file keeps it the same",
            _ => "set SKILLFUL_MCP_TOKEN to the same token for the client and the server",
        }
    }
}
