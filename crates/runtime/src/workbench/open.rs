//! A workbench as the settings want it.

use std::collections::HashMap;
use std::io;
use std::sync::LazyLock;
use std::time::Instant;

use basics::skill::Source;
use permission::Pattern;
use skill::index::Index;
use skill::offer::Offer;
use tools::sandbox::Kernel;
use tools::script::{Author, Environment, Interpreters};
use tools::workspace::Workspace;

use super::{ScriptSettings, Workbench, closed_folders};
use crate::open::Runtime;

impl<'a> Workbench<'a> {
    /// What a run acts with in the working directory, for skills of the index.
    pub fn open(runtime: &Runtime, index: &'a Index, offer: &'a Offer<'a>) -> io::Result<Self> {
        let config = &runtime.layers.config;
        let mut workspace = open_workspace(runtime)?;
        // Folders of skills may be outside of the roots, behind a link.
        let skills = index.skills.iter().filter(|entry| entry.source != Source::Builtin);
        skills.for_each(|entry| workspace.protect(&entry.path));
        let own = index.skills.iter().filter(|entry| entry.source != Source::Builtin);
        let closed = closed_folders(runtime, own.map(|entry| entry.path.clone()));
        let patterns = |hosts: &[String]| hosts.iter().map(Pattern::new).collect();
        workspace.network.hosts = patterns(&config.execution.network_hosts);
        workspace.network.private_hosts = patterns(&config.execution.private_hosts);
        let mut interpreters = Interpreters::default();
        for (extension, command) in &config.execution.interpreters {
            interpreters = interpreters.with(extension.trim_start_matches('.'), command.clone());
        }
        let variable = |name| runtime.variable(name).cloned();
        let folder = &runtime.surroundings.working_directory;
        let home = runtime.surroundings.home.as_deref();
        let author = home.map(|home| Author::find(home, folder)).unwrap_or_default();
        Ok(Self {
            index,
            offer,
            invoked: None,
            read: config.read_options(),
            limits: config.load_limits(),
            workspace,
            folder: runtime.surroundings.working_directory.clone(),
            scripts: ScriptSettings {
                kernel: LazyLock::new(Kernel::detect),
                environment: Environment {
                    path: variable("PATH"),
                    language: variable("LANG"),
                    time_zone: variable("TZ"),
                    author,
                    secrets: Vec::new(),
                },
                interpreters,
                arguments: config.argument_limits(),
                confinement: config.confinement(),
            },
            copy_bytes: config.execution.copy_bytes,
            closed,
            opened: Instant::now(),
            run: None,
            inherited: None,
            background: Vec::new(),
            seen: None,
            unnoted: None,
            noted: None,
            prepared: None,
            copies: HashMap::new(),
        })
    }
}

/// Opens the working directory for tools. What decides over runs is closed to them, wherever it is: the state of
/// agents in the project and in the home, the folders of skills, and the cache.
pub fn open_workspace(runtime: &Runtime) -> io::Result<Workspace> {
    let surroundings = &runtime.surroundings;
    let mut workspace = Workspace::open(&surroundings.working_directory)?;
    let visible = runtime.layers.config.security.visible_files.iter().map(String::as_str);
    workspace.secrets = workspace.secrets.except(visible);
    workspace.protect_state(surroundings.project());
    surroundings.home.iter().for_each(|home| workspace.protect_state(home));
    runtime.cache_folder().into_iter().for_each(|cache| workspace.protect(cache));
    for root in surroundings.roots().iter().filter(|root| root.source != Source::Builtin) {
        workspace.protect_skills(&root.path);
    }
    Ok(workspace)
}
