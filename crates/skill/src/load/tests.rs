use super::*;
use crate::world::World;

fn errors() -> Vec<LoadError> {
    let (name, path) = (|| "a".to_owned(), || "x/\u{1b}[31m\u{202e}.md".to_owned());
    vec![
        LoadError::SkillNotFound { name: name() },
        LoadError::InvalidFrontmatter { name: name(), source: FrontmatterError::NoName },
        LoadError::PathTraversalBlocked { path: path(), reason: "it leads upwards" },
        LoadError::FileTooLarge { path: path(), bytes: 3, limit: 2 },
        LoadError::ChunkNotFound { id: "examples".to_owned(), name: name() },
        LoadError::NotText { path: path() },
        LoadError::BodyTooLarge {
            name: name(),
            lines: 3,
            chars: 9,
            limit_lines: 2,
            limit_chars: 8,
        },
        LoadError::Modified { path: path(), reason: "it was changed".to_owned() },
        LoadError::Changed { name: name(), gap: None },
        LoadError::Io { path: path(), source: std::io::ErrorKind::NotFound.into() },
    ]
}

#[test]
fn messages_are_the_contracts() {
    let shown: Vec<String> =
        errors().iter().map(|error| format!("{}: {error}", error.code())).collect();
    let expected = [
        "SkillNotFound: Skill 'a' not found.",
        "InvalidFrontmatter: the frontmatter of `a` is refused",
        r"PathTraversalBlocked: `x/\u{1b}[31m\u{202e}.md` is refused: it leads upwards",
        r"FileTooLarge: `x/\u{1b}[31m\u{202e}.md` has 3 bytes, the limit is 2",
        "ChunkNotFound: Chunk 'examples' not found in skill 'a'.",
        r"NotText: `x/\u{1b}[31m\u{202e}.md` is not a text file",
        "BodyTooLarge: the body of `a` has 3 lines and 9 characters, the limits are 2 and 8",
        r"SkillModified: `x/\u{1b}[31m\u{202e}.md` is refused: it was changed",
        "SkillChanged: the skill `a` has changed since you trusted it",
        r"IOError: `x/\u{1b}[31m\u{202e}.md` cannot be read",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn every_error_has_a_hint_of_its_own() {
    let hints: std::collections::BTreeSet<_> = errors().iter().map(|error| error.hint()).collect();
    assert_eq!(hints.len(), errors().len());
    let broken = &errors()[1];
    assert_eq!(broken.hint(), FrontmatterError::NoName.hint());
}

/// Loading watches every other skill for a file being so much as opened.
#[test]
fn loading_one_skill_touches_no_other() {
    use rustix::fs::inotify;
    let world = World::with_skills(["root/a", "root/b", "root/group/c"]);
    world.write("root/a/references/x.md", "text");
    world.write("root/b/references/y.md", "text");
    let entry = world.entry();
    let watch = |folders: &[&str]| {
        let flags = inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC;
        let events = inotify::init(flags).unwrap();
        let what = inotify::WatchFlags::OPEN | inotify::WatchFlags::ACCESS;
        for folder in folders {
            inotify::add_watch(&events, world.path(folder), what).unwrap();
        }
        events
    };
    let is_quiet = |events: &std::os::fd::OwnedFd| {
        let mut buffer = [std::mem::MaybeUninit::uninit(); 4_096];
        inotify::Reader::new(events, &mut buffer).next().is_err()
    };
    let own = watch(&["root/a", "root/a/references"]);
    let others = watch(&["root/b", "root/b/references", "root/group", "root/group/c"]);
    load_body(&entry, &crate::metadata::ReadOptions::default(), &Limits::default()).unwrap();
    load_resource(&entry, "references/x.md", None, &Limits::default()).unwrap();
    assert!(is_quiet(&others), "another skill was opened");
    assert!(!is_quiet(&own), "the watch sees what is opened");
}

#[test]
fn a_report_of_an_earlier_version_is_read_and_written_as_it_was() {
    let text = r#"{"path":"SKILL.md","bytes_read":1,"chars_returned":1,"truncated":false,"file_sha256":"HASH","text_sha256":"","dropped_sections":[],"storage_ref":null,"diagnostics":[]}"#;
    let text = &text.replace("HASH", &"0".repeat(64));
    let report: LoadReport = serde_json::from_str(text).unwrap();
    assert_eq!((report.trim_strategy, &report.referenced_files), (None, &None));
    assert_eq!(serde_json::to_string(&report).unwrap(), *text);
}
