//! Hostile folders and repositories.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::zips::SKILL;

type Make = fn(&Path);

/// What is added to a folder with a good skill `demo`.
pub(crate) fn folders() -> Vec<(&'static str, &'static str, Make)> {
    vec![
        ("a link out", "Symlink", |folder| symlink("/etc/passwd", folder.join("demo/x")).unwrap()),
        ("a link to a folder", "Symlink", |folder| symlink("/etc", folder.join("demo/x")).unwrap()),
        ("a link within", "Symlink", |folder| symlink("SKILL.md", folder.join("demo/x")).unwrap()),
        ("a link as SKILL.md", "Symlink", |folder| {
            fs::remove_file(folder.join("demo/SKILL.md")).unwrap();
            symlink("/etc/passwd", folder.join("demo/SKILL.md")).unwrap();
        }),
        ("a hard link", "HardLink", |folder| {
            fs::write(folder.join("secret"), "x").unwrap();
            fs::hard_link(folder.join("secret"), folder.join("demo/x")).unwrap();
        }),
        ("a pipe", "Fifo", |folder| {
            mknodat(CWD, folder.join("demo/x"), FileType::Fifo, Mode::from_raw_mode(0o644), 0)
                .unwrap();
        }),
        ("a socket", "Socket", |folder| {
            // A socket's own path is short; it is moved to where it should be.
            let short = tempfile::tempdir().unwrap();
            drop(UnixListener::bind(short.path().join("s")).unwrap());
            fs::rename(short.path().join("s"), folder.join("demo/x")).unwrap();
        }),
        ("setuid", "Setuid", |folder| {
            fs::write(folder.join("demo/x"), "x").unwrap();
            fs::set_permissions(folder.join("demo/x"), fs::Permissions::from_mode(0o4755)).unwrap();
        }),
        ("a git folder", "StateFolder", |folder| write(folder, "demo/.git/config")),
        ("an agent folder", "StateFolder", |folder| write(folder, "demo/.agent/skills/x")),
        ("an empty git folder", "StateFolder", |folder| {
            fs::create_dir_all(folder.join("demo/.git")).unwrap()
        }),
        ("twins in case", "CaseTwin", |folder| write(folder, "demo/skill.md")),
        ("twins in normalization", "UnicodeTwin", |folder| {
            write(folder, "demo/\u{e9}");
            write(folder, "demo/e\u{301}");
        }),
        ("a backslash", "Backslash", |folder| write(folder, "demo/a\\b")),
        ("a newline", "ControlCharacter", |folder| write(folder, "demo/a\nb")),
        ("a Windows device", "WindowsDevice", |folder| write(folder, "demo/aux.md")),
        ("a trailing dot", "TrailingDotOrSpace", |folder| write(folder, "demo/x.")),
        ("a long name", "NameTooLong", |folder| {
            write(folder, &format!("demo/{}/{}", "x".repeat(130), "y".repeat(130)))
        }),
        ("a deep name", "TooDeep", |folder| write(folder, &format!("demo/{}x", "a/".repeat(20)))),
        ("two skills of one name", "DuplicateSkill", |folder| {
            fs::create_dir(folder.join("other")).unwrap();
            fs::write(folder.join("other/SKILL.md"), SKILL).unwrap();
        }),
        ("no frontmatter", "InvalidFrontmatter", |folder| {
            fs::write(folder.join("demo/SKILL.md"), "# Demo").unwrap()
        }),
        ("no skill", "NoSkill", |folder| fs::remove_file(folder.join("demo/SKILL.md")).unwrap()),
        ("a name that is a path", "BadSkillName", |folder| {
            fs::write(folder.join("demo/SKILL.md"), "---\nname: /tmp/x\ndescription: x\n---\n")
                .unwrap();
        }),
        ("too much", "TooLarge", |folder| {
            let file = fs::File::create(folder.join("demo/x")).unwrap();
            file.set_len((100 << 20) + 1).unwrap();
        }),
    ]
}

fn write(folder: &Path, path: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "x").unwrap();
}

/// Files of a repository: mode, path, content.
pub(crate) type Files = Vec<(&'static str, Vec<u8>, &'static str)>;

pub(crate) fn repositories() -> Vec<(&'static str, &'static str, Files)> {
    let with = |mode: &'static str, path: &[u8], content: &'static str| {
        vec![("100644", b"demo/SKILL.md".to_vec(), SKILL), (mode, path.to_vec(), content)]
    };
    let named = |path: &[u8]| with("100644", path, "x");
    vec![
        ("a link", "Symlink", with("120000", b"demo/x", "/etc/passwd")),
        (
            "a link as SKILL.md",
            "Symlink",
            vec![("120000", b"demo/SKILL.md".to_vec(), "/etc/passwd")],
        ),
        ("a submodule", "Submodule", with("160000", b"demo/x", "")),
        ("a path upwards", "ParentSegment", named(b"demo/../../x")),
        ("a dot", "DotSegment", named(b"demo/./x")),
        ("a git folder", "StateFolder", named(b"demo/.git/hooks/post-checkout")),
        ("a git folder in capitals", "StateFolder", named(b"demo/.Git/config")),
        ("an agent folder", "StateFolder", named(b"demo/.agent/x")),
        ("twins in case", "CaseTwin", named(b"demo/skill.md")),
        ("a backslash", "Backslash", named(b"demo/a\\b")),
        ("an escape", "ControlCharacter", named(b"demo/\x1b[2J")),
        ("not UTF-8", "NotUtf8", named(b"demo/\xff")),
        ("a Windows device", "WindowsDevice", named(b"demo/con")),
        ("no skill", "NoSkill", vec![("100644", b"readme.md".to_vec(), "x")]),
        ("no frontmatter", "InvalidFrontmatter", vec![("100644", b"demo/SKILL.md".to_vec(), "x")]),
        (
            "two skills of one name",
            "DuplicateSkill",
            named(b"x")
                .into_iter()
                .take(1)
                .chain([("100644", b"other/SKILL.md".to_vec(), SKILL)])
                .collect(),
        ),
    ]
}

/// Makes a repository of objects that git itself would never make.
pub(crate) fn repository(folder: &Path, files: &Files) {
    fs::create_dir_all(folder).unwrap();
    git(folder, &["init", "--quiet", "--bare", "."], b"");
    let entries: Vec<(Vec<Vec<u8>>, &str, String)> = files
        .iter()
        .map(|(mode, path, content)| {
            let segments = path.split(|byte| *byte == b'/').map(<[u8]>::to_vec).collect();
            let object = match *mode {
                "160000" => "1".repeat(40),
                _ => git(folder, &["hash-object", "-w", "--stdin"], content.as_bytes()),
            };
            (segments, *mode, object)
        })
        .collect();
    let tree = tree(folder, &entries);
    let commit = git(folder, &["commit-tree", "-m", "x", &tree], b"");
    git(folder, &["update-ref", "HEAD", &commit], b"");
}

/// Writes a tree object byte by byte, since git refuses to name things so.
fn tree(folder: &Path, entries: &[(Vec<Vec<u8>>, &str, String)]) -> String {
    let mut names: Vec<&Vec<u8>> = entries.iter().map(|(path, ..)| &path[0]).collect();
    names.dedup();
    let mut bytes = Vec::new();
    for name in names {
        let inner: Vec<(Vec<Vec<u8>>, &str, String)> = entries
            .iter()
            .filter(|(path, ..)| path[0] == *name && path.len() > 1)
            .map(|(path, mode, object)| (path[1..].to_vec(), *mode, object.clone()))
            .collect();
        let own = entries.iter().find(|(path, ..)| path.len() == 1 && path[0] == *name);
        let (mode, object) = match own {
            Some((_, mode, object)) => (*mode, object.clone()),
            None => ("40000", tree(folder, &inner)),
        };
        bytes.extend([mode.as_bytes(), b" ", name, b"\0"].concat());
        bytes
            .extend((0..20).map(|at| u8::from_str_radix(&object[at * 2..at * 2 + 2], 16).unwrap()));
    }
    git(folder, &["hash-object", "-w", "-t", "tree", "--literally", "--stdin"], &bytes)
}

pub(crate) fn git(folder: &Path, arguments: &[&str], input: &[u8]) -> String {
    let mut command = Command::new("git");
    command
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap());
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{who}_NAME"), "x")
            .env(format!("GIT_{who}_EMAIL"), "x@example.com");
        command.env(format!("GIT_{who}_DATE"), "2026-01-01T00:00:00Z");
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "git {arguments:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
