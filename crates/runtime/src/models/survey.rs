//! Which models are at hand: servers on this machine that answer, and keys that are set.

use std::thread;

use schemars::JsonSchema;
use serde::Serialize;

use super::local;
use crate::open::Runtime;
use crate::settings::{Home, Provider};

/// A provider, and what is there of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listed {
    /// Its name, as `--model` takes it.
    pub name: &'static str,
    /// Where its server is.
    pub address: String,
    /// Whether that is on this machine.
    pub local: bool,
    /// Whether it can be used now: its server answers, or its key is set.
    pub ready: bool,
    /// The variable that has its key, or would have it.
    pub key_variable: Option<&'static str>,
    /// The models that its server on this machine has.
    pub models: Vec<String>,
    /// What to write after `--model`.
    pub example: String,
}

/// Looks at every provider. Asks the servers of this machine, and nobody else.
pub fn survey(runtime: &Runtime) -> Vec<Listed> {
    let homes = Provider::all().filter_map(|provider| Some((provider, provider.home()?)));
    // Whoever does not answer takes its time.
    thread::scope(|scope| {
        let looks: Vec<_> = homes
            .map(|(provider, home)| scope.spawn(move || look(runtime, provider, home)))
            .collect();
        let looked = looks.into_iter().map(thread::ScopedJoinHandle::join);
        looked.map(|it| it.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

fn look(runtime: &Runtime, provider: Provider, home: &'static Home) -> Listed {
    let found = local::address(runtime, provider);
    let models = found.and_then(|address| local::models(provider, address));
    let set = home.keys.iter().find(|key| runtime.variable(key).is_some());
    let name = provider.as_str();
    let first = models.iter().flatten().next().map(String::as_str);
    let example = format!("{name}:{}", first.or(home.usual).unwrap_or("NAME"));
    let own = match provider {
        Provider::Ollama => local::ollama_url(runtime),
        _ => None,
    };
    Listed {
        name,
        address: own.unwrap_or_else(|| home.base_url.to_owned()),
        local: found.is_some(),
        ready: models.is_some() || set.is_some(),
        key_variable: set.or(home.keys.first()).copied(),
        models: models.unwrap_or_default(),
        example,
    }
}
