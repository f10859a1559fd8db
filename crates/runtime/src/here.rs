//! Where a run works, in words for its model: workspace, system, day, shell, interpreters.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use agent::setup::Here;

use crate::open::Runtime;

/// What skills are written for.
const INTERPRETERS: [&str; 10] =
    ["python3", "python", "node", "bash", "perl", "ruby", "lua", "php", "Rscript", "deno"];

/// Where a run of this folder works.
pub(crate) fn here(runtime: &Runtime) -> Here {
    let workspace = runtime.surroundings.working_directory.to_string_lossy().into_owned();
    let folders: Vec<PathBuf> = runtime.variable("PATH").map_or_else(
        || vec!["/usr/bin".into(), "/bin".into()],
        |path| std::env::split_paths(path).collect(),
    );
    let is_there = |name: &str| folders.iter().any(|folder| is_program(&folder.join(name)));
    let found = INTERPRETERS.into_iter().filter(|name| is_there(name));
    Here {
        folder: workspace.clone(),
        workspace,
        system: system(),
        date: jiff::Zoned::now().date().to_string(),
        shell: if is_there("bash") { "bash" } else { "sh" }.to_owned(),
        interpreters: found.map(str::to_owned).collect(),
    }
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The name of the distribution, or of the operating system alone.
fn system() -> String {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let name = name.map(|name| name.trim_matches('"').to_owned());
    let name = name.filter(|name| !name.is_empty());
    name.unwrap_or_else(|| OsStr::new(std::env::consts::OS).to_string_lossy().into_owned())
}
