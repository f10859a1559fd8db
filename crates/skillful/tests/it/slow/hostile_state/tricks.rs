//! What a stranger can put in the place of a file or a folder.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, makedev, mkdirat, mknodat, openat};
use serde_json::Value;

use super::places::Kind;
use super::stage::{CANARY, Stage, WORD, change_strings, link};

/// Text that a terminal would act on, or a reader would not see.
pub(crate) const RAW: &str =
    "\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}31m\u{202e}\u{200b}x\r\nFORGED\u{8}\u{feff}";

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trick {
    LinkToFile,
    LinkToJson,
    LinkToFolder,
    /// To something that looks genuine, outside.
    LinkToTwin,
    /// To what would be a new file of the user's.
    Dangling,
    Loop,
    LinkToZero,
    LinkToNull,
    Pipe,
    Socket,
    DeviceZero,
    DeviceNull,
    /// A folder where a file belongs, a file where a folder does.
    Swapped,
    /// Nobody may read it.
    Closed,
    HardLink,
    Sparse,
    Brackets,
    Objects,
    OneLine,
    DeepJson,
    Empty,
    Cut,
    Garbage,
    Doubled,
    Escapes,
    OddNames,
    /// Every name in it is a link to the user's files.
    Infested,
    DeepTree,
    Crowd,
}

use Trick::*;

const FOR_ALL: &[Trick] = &[
    LinkToFile,
    LinkToFolder,
    LinkToTwin,
    Dangling,
    Loop,
    LinkToZero,
    Pipe,
    Socket,
    DeviceZero,
    Swapped,
    Closed,
];
const FOR_FILES: &[Trick] = &[
    LinkToJson, LinkToNull, DeviceNull, HardLink, Sparse, Brackets, Objects, OneLine, DeepJson,
    Empty, Cut, Garbage, Doubled, Escapes,
];
const FOR_FOLDERS: &[Trick] = &[OddNames, Infested, DeepTree, Crowd];
/// Those that take long to set up.
pub(crate) const USED_RARELY: &[Trick] = &[Crowd];

/// The tricks that make sense for a file or a folder.
pub(crate) fn fitting(kind: Kind) -> Vec<Trick> {
    let more = match kind {
        Kind::File => FOR_FILES,
        Kind::Folder => FOR_FOLDERS,
    };
    let is_root = rustix::process::geteuid().is_root();
    let can = |trick: &Trick| is_root || !matches!(trick, DeviceZero | DeviceNull);
    FOR_ALL.iter().chain(more).copied().filter(can).collect()
}

/// Bytes of a file that is large, and really there.
const LARGE: usize = 64 << 20;

impl Trick {
    /// Puts it in the place of whatever is there, below the project.
    pub(crate) fn play(self, stage: &Stage, kind: Kind, place: &str) {
        let path = stage.path("project").join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let found = path.symlink_metadata().is_ok();
        if matches!(self, OddNames | Infested | DeepTree | Crowd) {
            fs::create_dir_all(&path).unwrap();
            return self.fill(stage, &path);
        }
        if self == LinkToTwin {
            make_twin(stage, kind, found.then_some(&*path));
        }
        if self == Closed {
            if !found {
                make(kind, &path);
            }
            return fs::set_permissions(&path, PermissionsExt::from_mode(0o0)).unwrap();
        }
        let genuine = fs::read(&path).unwrap_or_default();
        if found {
            fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)).unwrap();
        }
        self.put(stage, kind, &path, &genuine);
    }

    fn put(self, stage: &Stage, kind: Kind, path: &Path, genuine: &[u8]) {
        let device = |number| {
            let mode = Mode::from_raw_mode(0o666);
            let made = mknodat(CWD, path, FileType::CharacterDevice, mode, makedev(1, number));
            // Some containers keep even root from making one.
            made.unwrap_or_else(|_| pipe(path));
        };
        match self {
            LinkToFile => link(path, &stage.path("home/.bashrc")),
            LinkToJson => link(path, &stage.path("beside/secret.json")),
            LinkToFolder => link(path, &stage.path("home/.ssh")),
            LinkToTwin => link(path, &stage.path("twin/it")),
            Dangling => link(path, &stage.path("home/new")),
            Loop => link(path, path),
            LinkToZero => link(path, Path::new("/dev/zero")),
            LinkToNull => link(path, Path::new("/dev/null")),
            Pipe => pipe(path),
            Socket => drop(bind(path)),
            DeviceZero => device(5),
            DeviceNull => device(3),
            Swapped => make(if kind == Kind::File { Kind::Folder } else { Kind::File }, path),
            HardLink => fs::hard_link(stage.path("home/.bashrc"), path).unwrap(),
            Sparse => File::create(path).unwrap().set_len(1 << 30).unwrap(),
            Brackets => repeat(path, b"", b"[", b""),
            Objects => repeat(path, b"{\"v\":[", b"{\"\":0},", b"0]}\n"),
            OneLine => repeat(path, b"{\"v\":\"", b"a", b"\"}\n"),
            DeepJson => {
                fs::write(path, "[".repeat(100_000) + &"]".repeat(100_000) + "\n").unwrap();
            }
            Empty => fs::write(path, "").unwrap(),
            Cut => fs::write(path, &genuine[..genuine.len() / 2]).unwrap(),
            Garbage => {
                fs::write(path, [b"\0\xff\xfe\x1b[31m", RAW.as_bytes(), genuine].concat()).unwrap()
            }
            Doubled => fs::write(path, [genuine, genuine].concat()).unwrap(),
            Escapes => fs::write(path, with_escapes(genuine)).unwrap(),
            Closed | OddNames | Infested | DeepTree | Crowd => {}
        }
    }

    fn fill(self, stage: &Stage, folder: &Path) {
        match self {
            OddNames => {
                let odd: [&[u8]; 7] = [
                    b"\x1b[31mred",
                    b"new\nFORGED",
                    b"\xff\xfe",
                    "a\u{202e}b".as_bytes(),
                    b"-rf",
                    b" ",
                    &[b'n'; 255],
                ];
                for (number, name) in odd.into_iter().enumerate() {
                    let path = folder.join(OsStr::from_bytes(name));
                    if number % 2 == 0 {
                        fs::write(&path, RAW).unwrap();
                    } else {
                        fs::create_dir_all(&path).unwrap();
                        fs::write(path.join("SKILL.md"), RAW).unwrap();
                        fs::write(path.join("events.jsonl"), RAW).unwrap();
                    }
                }
            }
            Infested => {
                let names: Vec<_> =
                    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()).collect();
                for entry in names {
                    let is_folder = entry.file_type().unwrap().is_dir();
                    let path = entry.path();
                    fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)).unwrap();
                    link(&path, &stage.path(if is_folder { "home/.ssh" } else { "home/.bashrc" }));
                }
                link(&folder.join("more"), &stage.path("home/.ssh"));
            }
            DeepTree => {
                let mut here = openat(CWD, folder, OFlags::DIRECTORY, Mode::empty()).unwrap();
                for _ in 0..3_000 {
                    mkdirat(&here, "deep", Mode::RWXU).unwrap();
                    here = openat(&here, "deep", OFlags::DIRECTORY, Mode::empty()).unwrap();
                }
            }
            _ => {
                for number in 0..50_000 {
                    let name = format!("20200101_{number:06}_{:04}", number % 10_000);
                    fs::create_dir(folder.join(name)).unwrap();
                }
            }
        }
    }
}

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
}

/// A socket that nobody listens to; its name stays.
fn bind(path: &Path) -> UnixListener {
    // A long path does not fit into the address of a socket.
    let here = path.parent().unwrap().join("s");
    let near = tempfile::TempDir::new().unwrap();
    let socket = near.path().join("s");
    let listener = UnixListener::bind(&socket).unwrap();
    fs::rename(&socket, &here).unwrap_or_else(|_| pipe(&here));
    fs::rename(&here, path).unwrap();
    listener
}

fn make(kind: Kind, path: &Path) {
    match kind {
        Kind::File => fs::write(path, RAW).unwrap(),
        Kind::Folder => fs::create_dir(path).unwrap(),
    }
}

/// A file of `begin`, as much of `part` as makes it large, and `end`.
fn repeat(path: &Path, begin: &[u8], part: &[u8], end: &[u8]) {
    let mut file = File::create(path).unwrap();
    let block = part.repeat((1 << 20) / part.len());
    file.write_all(begin).unwrap();
    for _ in 0..LARGE / block.len() {
        file.write_all(&block).unwrap();
    }
    file.write_all(end).unwrap();
}

/// What is there, or something like it, outside of the project, with words that no output may hold.
fn make_twin(stage: &Stage, kind: Kind, genuine: Option<&Path>) {
    let twin = stage.path("twin");
    fs::create_dir_all(&twin).unwrap();
    match (genuine, kind) {
        (Some(genuine), _) => {
            stage.shell(&format!("cp -a \"$1\" '{}/it'", twin.display()), genuine);
        }
        (None, Kind::File) => fs::write(twin.join("it"), CANARY).unwrap(),
        (None, Kind::Folder) => fs::create_dir(twin.join("it")).unwrap(),
    }
    // Except for skills: those may be links.
    let words = format!("s/{WORD}/{CANARY}/g");
    let files = "find \"$1\" -type f ! -name SKILL.md ! -name skills.lock";
    stage.shell(&format!("{files} -exec sed -i {words} {{}} +"), &twin);
}

/// The same with escapes in every string, whether it is one document or one in each line.
fn with_escapes(genuine: &[u8]) -> Vec<u8> {
    let raw = |text: &str| format!("{text}{RAW}");
    let change = |text: &[u8]| {
        let mut value: Value = serde_json::from_slice(text).ok()?;
        change_strings(&mut value, &raw);
        Some(value.to_string())
    };
    if let Some(changed) = change(genuine) {
        return changed.into_bytes();
    }
    let lines: Option<Vec<String>> =
        genuine.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(change).collect();
    match lines {
        Some(lines) if !lines.is_empty() => (lines.join("\n") + "\n").into_bytes(),
        _ => [RAW.as_bytes(), genuine].concat(),
    }
}
