//! Every place in the source that can open, make, rename or remove a file by itself.
//!
//! State is reached through this crate alone. So whatever else touches the disk is in the table, with what it
//! touches; a file that is not there fails the test: use `state::Folder`, or say here why not.

use std::fs;
use std::path::{Path, PathBuf};

/// Source files, or folders of them, and what they touch.
const PLACES: &[(&str, &str)] = &[
    ("state/src", "this crate"),
    // Skills: read through handles of their own, in folders that may be links.
    ("skill/src/load", "reads one file of a skill beneath its folder"),
    ("skill/src/discover", "reads the heads of manifests, through links that are reported"),
    ("skill/src/discover.rs", "opens folders of skills"),
    ("skill/src/platform", "how a skill's folder is opened"),
    ("skill/src/cache.rs", "the user's cache: a damaged one is made again"),
    ("skill/src/cache", "the user's cache: a damaged one is made again"),
    ("pack/src/disk.rs", "installing: its own operations, each of which a test stops before"),
    ("pack/src/platform", "installing: operations that only Linux has"),
    ("pack/src/install", "installing: looks at what the operations made, and follows no link"),
    ("pack/src/source", "what is to be installed, and temporary folders"),
    ("pack/src/spool.rs", "temporary files without a name"),
    ("pack/src/scan/folder.rs", "reads a skill's files through no link"),
    (
        "skillful/src/commands/chat/complete.rs",
        "lists folders of the workspace for whoever types a path",
    ),
    ("skillful/src/commands/new.rs", "writes a new skill where the user says"),
    ("skillful/src/commands/pack.rs", "writes a pack where the user says"),
    ("skillful/src/commands/run/request.rs", "looks at what standard input is"),
    ("skillful/src/commands/sign.rs", "keys and signatures where the user says"),
    (
        "skillful/src/commands/trust/author.rs",
        "lists the workspace for skills that came with it, and follows no link",
    ),
    ("skillful/src/commands/runs/take.rs", "writes a file of a run where the user says"),
    ("skillful/src/commands/validate.rs", "reads manifests that the user names"),
    // What tools and scripts work on: the workspace, with handles and rules of its own.
    ("tools/src/beneath.rs", "files of the workspace, beneath its handle"),
    ("tools/src/file", "what the file tools read there"),
    ("tools/src/workspace.rs", "the workspace itself"),
    ("tools/src/workspace", "what a path of the workspace really is"),
    ("tools/src/platform", "how files are opened, and what surrounds a script"),
    ("tools/src/script.rs", "real paths for the sandbox"),
    ("tools/src/script", "the private copy of a script, in a folder that `state` opened"),
    ("tools/src/view.rs", "the layer of a run, in a folder that `state` opened"),
    ("tools/src/view", "looks through the workspace, and copies it into that layer"),
    (
        "tools/src/changes",
        "change sets: the layer and the workspace beneath handles, each step a test stops before",
    ),
    (
        "runtime/src/changes/kept.rs",
        "looks how large files of the workspace are, and follows no link",
    ),
    ("runtime/src/here.rs", "looks for interpreters, and what the system is called"),
    ("runtime/src/workbench/secrets.rs", "looks for redacted marks in a file of the workspace"),
    // Settings and what the user names on the command line.
    ("runtime/src/settings/said.rs", "reads files of settings"),
    ("runtime/src/plain_file.rs", "reads a plain file that the user names, up to a limit"),
    ("runtime/src/models/remote.rs", "reads a certificate that the user names"),
    (
        "skillful/src/commands/mcp/socket.rs",
        "the socket file that the user names, in a folder of their own",
    ),
    ("skillful/src/commands/mcp/token.rs", "reads a token that the user names"),
    ("skillful/src/commands/doctor.rs", "tries whether the user's cache can be written"),
    // Evals: cases are read, each run has a fresh folder.
    ("eval/src/folder.rs", "reads and copies what cases bring, beneath a handle of its own"),
    ("eval/src/shelf.rs", "a fresh folder for what cases bring"),
    ("eval/src/suite.rs", "finds cases"),
    ("eval/src/runner/scratch.rs", "fills the fresh folder of a case"),
    ("eval/src/runner/tree.rs", "looks at the workspace of a case, and follows no link"),
    ("skillful/src/commands/eval/folder.rs", "writes a built-in skill into a fresh folder"),
    ("skillful/src/commands/eval/judge.rs", "reads a record that the user names"),
    ("skillful/src/commands/eval/triggers.rs", "reads queries, writes to a fresh folder"),
    // Tests that are built with a crate.
    ("skill/src/world.rs", "tests"),
    ("skill/src/corpus.rs", "tests"),
    ("pack/src/scan/corpus.rs", "tests"),
];

/// Ways to reach the disk without a handle from here.
const WAYS: &[&str] = &[
    "use std::fs;",
    "std::fs::{self",
    "std::fs::read",
    "std::fs::write",
    "std::fs::create",
    "std::fs::remove",
    "std::fs::rename",
    "std::fs::copy",
    "std::fs::hard_link",
    "std::fs::set_permissions",
    "fs::symlink",
    "fs::{symlink",
    "OpenOptions",
    "DirBuilder",
    "File::open",
    "File::create",
    "File::options",
    "rustix::fs",
    "cap_std",
    "tempfile",
    "tokio::fs",
    "nix::fcntl",
    "libc::open",
];

fn touches_the_disk(text: &str) -> bool {
    let code = text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
    code.into_iter().any(|line| WAYS.iter().any(|way| line.contains(way)))
}

/// Source files below a folder, without those of tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "tests") {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && path.file_stem().is_some_and(|stem| stem != "tests")
        {
            found.push(path);
        }
    }
}

/// Where all crates are; a published crate is alone.
fn crates() -> Option<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let found = crates.join("../ARCHITECTURE.md").is_file();
    if !found {
        eprintln!("skipped: this needs the whole repository");
    }
    found.then_some(crates)
}

fn all_sources(crates: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        let source = entry.unwrap().path().join("src");
        if source.is_dir() {
            sources(&source, &mut found);
        }
    }
    found
}

/// By their paths below `crates`.
fn found(crates: &Path) -> Vec<String> {
    let mut found = all_sources(crates);
    found.retain(|path| touches_the_disk(&fs::read_to_string(path).unwrap()));
    let shown = |path: PathBuf| path.strip_prefix(crates).unwrap().display().to_string();
    found.into_iter().map(shown).collect()
}

#[test]
fn whatever_reaches_the_disk_by_itself_has_a_reason() {
    let Some(crates) = crates() else { return };
    let known = |path: &String| PLACES.iter().any(|(place, _)| Path::new(path).starts_with(place));
    let unknown: Vec<String> = found(&crates).into_iter().filter(|path| !known(path)).collect();
    assert!(
        unknown.is_empty(),
        "reach state through `state::Folder`, or say in `PLACES` what else is touched: {unknown:#?}"
    );
}

#[test]
fn no_reason_outlives_its_place() {
    let Some(crates) = crates() else { return };
    let found = found(&crates);
    let is_idle = |place: &&str| !found.iter().any(|path| Path::new(path).starts_with(place));
    let idle: Vec<&str> =
        PLACES.iter().map(|(place, _)| *place).filter(|place| is_idle(place)).collect();
    assert!(idle.is_empty(), "take these out of `PLACES`: {idle:#?}");
}

#[test]
fn a_new_way_to_the_disk_is_noticed() {
    for code in [
        "use std::fs;",
        "    std::fs::write(path, bytes)?;",
        "let file = File::open(path)?;",
        "use rustix::fs::{CWD, openat};",
        "let folder = tempfile::tempdir()?;",
    ] {
        assert!(touches_the_disk(code), "{code}");
    }
    assert!(!touches_the_disk(
        "use std::fs::File;\n// std::fs::write\nuse skillful_state::Folder;"
    ));
}

/// What other systems do not have; those who need it have a twin for them in their crate's `platform`.
const ONLY_LINUX: &[&str] = &[
    "target_os",
    "libc::",
    "\"/proc",
    "openat2",
    "ResolveFlags",
    "OFlags::PATH",
    "OFlags::TMPFILE",
    "RenameFlags",
    "MemfdFlags",
    "rustix::rand",
    "syncfs",
    "fadvise",
    "pidfd",
];

#[test]
fn what_only_linux_has_is_in_the_module_for_it() {
    let Some(crates) = crates() else { return };
    let mut found = all_sources(&crates);
    let is_its_place = |path: &Path| {
        path.components().any(|part| part.as_os_str() == "platform")
            || path.ends_with("platform.rs")
    };
    // The last one only knows what a command line that names it means.
    let is_known = |path: &PathBuf| {
        ["skill/src/world.rs", "shell/src/open.rs"].iter().any(|known| path.ends_with(known))
    };
    found.retain(|path| !is_its_place(path) && !is_known(path));
    found.retain(|path| {
        let text = fs::read_to_string(path).unwrap();
        let code = text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
        code.into_iter().any(|line| ONLY_LINUX.iter().any(|name| line.contains(name)))
    });
    assert!(found.is_empty(), "move it to `platform/linux.rs`, and give it a twin: {found:#?}");
}
