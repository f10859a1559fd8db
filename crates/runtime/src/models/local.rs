//! Model servers on this machine, and where they are.

use std::net::SocketAddr;

use model::send::local::{self, Listing};

use crate::open::Runtime;
use crate::settings::Provider;

/// Where a provider's server would be on this machine; nothing for one that is elsewhere.
pub(super) fn address(runtime: &Runtime, provider: Provider) -> Option<SocketAddr> {
    let usual = provider.home().filter(|home| home.is_local())?.base_url.to_owned();
    let url = match provider {
        Provider::Ollama => ollama_url(runtime).unwrap_or(usual),
        _ => usual,
    };
    let address = url.strip_prefix("http://")?.split('/').next()?.parse().ok();
    address.filter(|address: &SocketAddr| address.ip().is_loopback())
}

/// The models of a server on this machine; nothing where none answers.
pub(super) fn models(provider: Provider, address: SocketAddr) -> Option<Vec<String>> {
    let listing = match provider {
        Provider::Ollama => Listing::Ollama,
        _ => Listing::OpenAi,
    };
    local::models(address, listing)
}

/// Where `OLLAMA_HOST` says that Ollama is. What it listens on stands for this machine.
pub(super) fn ollama_url(runtime: &Runtime) -> Option<String> {
    let host = runtime.variable("OLLAMA_HOST")?.to_str()?.trim().trim_end_matches('/').to_owned();
    let (scheme, host) = host.split_once("://").unwrap_or(("http", &host));
    let host = host.replace("0.0.0.0", "127.0.0.1");
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if has_port || scheme == "https" { "" } else { ":11434" };
    Some(format!("{scheme}://{host}{port}/v1"))
}
