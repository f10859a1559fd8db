//! `skillful mcp`

mod clients;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use agent::step::Refusal;
use agent::workbench::Workbench;
use serve::http::Door;
use serve::shelf::{Settings, Shelf};
use skill::watch::Watch;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use crate::commands::rule_flags::RuleFlags;
use crate::commands::run::{invocation, redactor, workbench};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::session::Session;
use clients::Client;
pub(crate) use clients::ClientSettings;

/// How often skills are looked at for changes.
const EVERY: Duration = Duration::from_secs(2);
/// How long a client that broke off in the middle of a call has to come back.
const RETURN: Duration = Duration::from_secs(10);
/// Calls that are carried out at the same moment; one that waits for a person is not among them.
const CALLS: usize = 128;
/// How long sessions have to finish their records at the end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Offer the skills to other agents, over the Model Context Protocol
///
/// Speaks MCP on standard input and output, or over HTTP. Every session is recorded under .agent/runs like
/// a run, and asks for the same approvals.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful mcp --print-config claude-code\n  skillful mcp\n  skillful mcp --http 127.0.0.1:8321\n  skillful mcp --approve run_script:csv-report/scripts/report.sh"
)]
pub(crate) struct Mcp {
    /// Listen for HTTP here, at the path /mcp
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,
    /// A name other machines may reach it by; needed to listen on more than this machine (can be repeated)
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<String>,
    /// Print what a client's settings need to start this server, and nothing else
    #[arg(long, value_name = "CLIENT", conflicts_with = "http")]
    print_config: Option<Client>,
    #[command(flatten)]
    rules: RuleFlags,
}

impl Mcp {
    pub(crate) fn run(&self, session: Session, output: &Output) -> Result<ExitCode, Failure> {
        if let Some(client) = self.print_config {
            clients::print(client, output)?;
            return Ok(ExitCode::SUCCESS);
        }
        let runtime = runtime(self.http.is_some())?;
        let listener = match self.http {
            Some(address) => Some(self.listen(address, &runtime, output)?),
            None => None,
        };
        let session = Arc::new(session);
        let index = Arc::new(session.index()?);
        let shelf = Arc::new(Shelf::new(Arc::clone(&index), self.settings(&session, output)?));
        let replaced = Arc::downgrade(&shelf);
        let rebuild = move || session.index().ok();
        let watch = Watch::start(index, rebuild, EVERY, move |index| {
            if let Some(shelf) = replaced.upgrade() {
                shelf.replace(Arc::clone(index));
            }
        });
        let stop = stop_on_interrupt()?;
        let served = runtime.block_on(async {
            let Some(listener) = listener else {
                tokio::select! {
                    () = serve::mcp::serve_stdio(Arc::clone(&shelf)) => {}
                    () = stop.cancelled() => {}
                }
                return Ok(());
            };
            let door = Door { listener, names: self.allow_host.clone(), patience: RETURN };
            serve::http::serve_http(Arc::clone(&shelf), door, stop).await
        });
        // Whoever still waits for input is not waited for.
        runtime.shutdown_background();
        drop(watch);
        shelf.wait_until_closed(PATIENCE);
        served?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Mcp {
    fn settings(&self, session: &Arc<Session>, output: &Output) -> Result<Settings, Failure> {
        let config = &session.layers.config;
        let engine = self.rules.engine(session)?;
        let redactor = redactor(session, [])?;
        let (session_of_calls, engine_of_calls, clean) =
            (Arc::clone(session), engine.clone(), redactor.clone());
        Ok(Settings {
            catalog: config.catalog_limits(),
            read: config.read_options(),
            limits: config.load_limits(),
            runs: session.runs(),
            owner: session.signing_owner(output),
            redactor,
            invocation: invocation("mcp"),
            grants: session.grants(),
            workbench: Box::new(move |index, offer, invoked| {
                let made =
                    workbench(&session_of_calls, index, offer, &engine_of_calls, clean.clone());
                let made = made.map_err(|error| {
                    Refusal::new(
                        "IOError",
                        format!("the working directory cannot be opened: {error}"),
                        "start the server in a folder that exists",
                    )
                })?;
                Ok(Workbench { invoked, ..made })
            }),
            engine,
        })
    }

    /// Listens, on this machine unless told under which name others may come.
    fn listen(
        &self,
        address: SocketAddr,
        runtime: &Runtime,
        output: &Output,
    ) -> Result<TcpListener, Failure> {
        if !address.ip().is_loopback() && self.allow_host.is_empty() {
            let message = format!("`{address}` can be reached from other machines");
            return Err(Failure::new(Exit::Usage, "Usage", message)
                .hint("listen on 127.0.0.1, or name the host others may use with --allow-host"));
        }
        let listener = runtime.block_on(async { listener(address) }).map_err(|error| {
            Failure::new(Exit::Failed, "IOError", format!("cannot listen on `{address}`: {error}"))
                .hint("choose another port; 0 takes any that is free")
        })?;
        output.note(&format!(
            "listening on http://{}{}",
            listener.local_addr()?,
            serve::http::PATH
        ));
        Ok(listener)
    }
}

/// Many clients may come at the same moment.
fn listener(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(4_096)
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
