//! `skillful mcp`

mod address;
mod clients;
mod socket;
mod token;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serve::http::{Door, Entrance, Limits};
use serve::shelf::{Settings, Shelf};
use skill::watch::Watch;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use crate::commands::rule_flags::RuleFlags;
use crate::commands::run::invocation;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::session::Session;
use address::{Address, Listening, listen_on_file, listen_on_network};
use clients::Client;
pub(crate) use clients::ClientSettings;
use token::Chosen;
pub(crate) use token::VARIABLE as TOKEN_VARIABLE;

/// How often skills are looked at for changes.
const EVERY: Duration = Duration::from_secs(2);
/// Calls that are carried out at the same moment; one that waits for a person is not among them.
const CALLS: usize = 128;
/// How long sessions have to finish their records at the end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Use your skills in other agents (Claude Code, Codex, Cursor …)
///
/// Starts an MCP server (Model Context Protocol) on standard input and output, or over HTTP. Every session
/// is recorded under .agent/runs and asks for the same approvals as a run. An approval that you give in a
/// client ends with the session.
///
/// Over HTTP, clients must send the header `Authorization: Bearer TOKEN`. The server makes a new token at
/// each start and prints it. To keep a token, use --token-file or SKILLFUL_MCP_TOKEN. A socket file
/// (unix:PATH) needs no token: only your own processes can connect.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful mcp --print-config claude-code\n  skillful mcp\n  skillful mcp --http 127.0.0.1:8321\n  skillful mcp --http 127.0.0.1:8321 --token-file ~/.config/skillful-token\n  skillful mcp --http unix:$XDG_RUNTIME_DIR/skillful.sock\n  skillful mcp --http 127.0.0.1:8321 --print-config codex\n  skillful mcp --approve run_script:csv-report/scripts/report.sh"
)]
pub(crate) struct Mcp {
    /// Serve HTTP at HOST:PORT, or at unix:PATH for a socket file; the path is /mcp
    #[arg(long, value_name = "ADDRESS")]
    http: Option<Address>,
    /// Read the token from this file; only you may have access to it
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// Accept requests from other machines to this host name (repeatable)
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<String>,
    /// Allow this many sessions at once
    #[arg(long, value_name = "N", requires = "http", default_value = "1000")]
    max_sessions: NonZeroUsize,
    /// Print the settings for this client, and do not start a server
    #[arg(long, value_name = "CLIENT")]
    print_config: Option<Client>,
    #[command(flatten)]
    rules: RuleFlags,
}

impl Mcp {
    pub(crate) fn run(&self, session: Session, output: &Output) -> Result<ExitCode, Failure> {
        if let Some(client) = self.print_config {
            clients::print(client, self.remote()?.as_deref(), output)?;
            return Ok(ExitCode::SUCCESS);
        }
        let runtime = runtime(self.http.is_some())?;
        let listening = match &self.http {
            Some(address) => Some(runtime.block_on(self.listen(address, &session, output))?),
            None => None,
        };
        session.finish_interrupted_installs();
        let index = Arc::new(session.index()?);
        let (entrance, file) = listening.unzip();
        let shelf = Arc::new(Shelf::new(
            Arc::clone(&index),
            self.settings(&session, entrance.as_ref().and_then(secret), output)?,
        ));
        let replaced = Arc::downgrade(&shelf);
        let rebuild = move || {
            session.finish_interrupted_installs();
            session.index().ok()
        };
        let watch = Watch::start(index, rebuild, EVERY, move |index| {
            if let Some(shelf) = replaced.upgrade() {
                shelf.replace(Arc::clone(index));
            }
        });
        let stop = stop_on_interrupt()?;
        let served = runtime.block_on(async {
            let Some(entrance) = entrance else {
                tokio::select! {
                    () = serve::mcp::serve_stdio(Arc::clone(&shelf)) => {}
                    () = stop.cancelled() => {}
                }
                return Ok(());
            };
            let door = Door { entrance, names: self.allow_host.clone(), limits: self.limits() };
            serve::http::serve_http(Arc::clone(&shelf), door, stop).await
        });
        drop(file);
        // Whoever still waits for input is not waited for.
        runtime.shutdown_background();
        drop(watch);
        shelf.wait_until_closed(PATIENCE);
        served?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Mcp {
    fn settings(
        &self,
        session: &Session,
        token: Option<String>,
        output: &Output,
    ) -> Result<Settings, Failure> {
        Ok(Settings {
            runtime: session.runtime(),
            engine: self.rules.engine(session)?,
            owner: session.signing_owner(output),
            redactor: session.redactor(token)?,
            invocation: invocation("mcp"),
        })
    }

    /// Listens, on this machine unless told under which name others may come.
    async fn listen(
        &self,
        address: &Address,
        session: &Session,
        output: &Output,
    ) -> Result<Listening, Failure> {
        let folder = &session.surroundings.working_directory;
        match address {
            Address::Socket(_) if self.token_file.is_some() => {
                let message = "a socket file needs no token: only your own processes can connect";
                Err(Failure::new(Exit::Usage, "Usage", message).hint("leave out --token-file"))
            }
            Address::Socket(path) => listen_on_file(&folder.join(path), output).await,
            Address::Network(address) => {
                if !address.ip().is_loopback() && self.allow_host.is_empty() {
                    let message = format!("other machines can reach `{address}`");
                    let hint = "listen on 127.0.0.1, or allow a host name with --allow-host";
                    return Err(Failure::new(Exit::Usage, "Usage", message).hint(hint));
                }
                let file = self.token_file.as_ref().map(|file| folder.join(file));
                let variable = session.variable(TOKEN_VARIABLE).map(|text| text.as_os_str());
                listen_on_network(*address, Chosen::new(file.as_deref(), variable)?, output)
            }
        }
    }

    /// Where a client finds this server; nothing when it starts one itself.
    fn remote(&self) -> Result<Option<String>, Failure> {
        let wrong =
            |message: &str, hint: &str| Err(Failure::new(Exit::Usage, "Usage", message).hint(hint));
        match &self.http {
            None => Ok(None),
            Some(Address::Socket(_)) => wrong(
                "clients cannot connect to a socket file on their own",
                "leave out --http, so that the client starts the server",
            ),
            Some(Address::Network(address)) if address.port() == 0 => {
                wrong("the client must know the port", "choose one")
            }
            Some(Address::Network(address)) => Ok(Some(match self.allow_host.first() {
                Some(name) => format!("http://{name}:{}{}", address.port(), serve::http::PATH),
                None => format!("http://{address}{}", serve::http::PATH),
            })),
        }
    }

    /// Connections take at most half of the files that this process may open: sessions need some, too.
    fn limits(&self) -> Limits {
        let limits = Limits::default();
        let files = usize::try_from(raise_open_files()).unwrap_or(usize::MAX);
        Limits {
            sessions: self.max_sessions.get(),
            connections: limits.connections.min((files / 2).max(1)),
            ..limits
        }
    }
}

/// As many as the system lets this process open, up to what many sessions need.
fn raise_open_files() -> u64 {
    const ENOUGH: u64 = 16_384;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let (now, most) = (current.unwrap_or(u64::MAX), maximum.unwrap_or(u64::MAX));
    let wanted = now.max(most.min(ENOUGH));
    match setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }) {
        Ok(()) => wanted,
        Err(_) => now,
    }
}

/// What must not be in a record.
fn secret(entrance: &Entrance) -> Option<String> {
    match entrance {
        Entrance::Network { token, .. } => Some(token.secret().to_owned()),
        Entrance::Socket { .. } => None,
    }
}

/// Many clients need all cores, one is served sooner without threads.
fn runtime(many: bool) -> Result<Runtime, Failure> {
    let mut builder =
        if many { Builder::new_multi_thread() } else { Builder::new_current_thread() };
    Ok(builder.enable_all().max_blocking_threads(CALLS).build()?)
}

/// The first interrupt ends sessions cleanly, the second ends the process.
fn stop_on_interrupt() -> Result<CancellationToken, Failure> {
    let stop = CancellationToken::new();
    let heard = stop.clone();
    ctrlc::set_handler(move || {
        if heard.is_cancelled() {
            std::process::exit(130);
        }
        heard.cancel();
    })
    .map_err(|error| Failure::from_error(Exit::Failed, "IOError", &error))?;
    Ok(stop)
}
