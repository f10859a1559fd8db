//! Hostile zip files, each with the reason that it must be refused for.

use crate::forge::hash;
use crate::zip::{Item, end, item, zip};

pub(crate) const SKILL: &str =
    "---\nname: demo\ndescription: A demo.\nversion: 1.0.0\n---\n# Demo\n";

pub(crate) fn skill() -> Item {
    item("demo/SKILL.md", SKILL)
}

/// A zip file with one good skill and one more entry.
fn with(item: Item) -> Vec<u8> {
    zip(&[skill(), item])
}

fn named(name: impl AsRef<[u8]>) -> Vec<u8> {
    with(item(name, "x"))
}

fn manifest() -> String {
    format!(
        r#"{{"format_version": "1", "skills": [{{"name": "demo", "version": "1.0.0", "dir": "demo"}}], "files": [{{"path": "demo/SKILL.md", "sha256": "{}", "size": {}, "mode": "0644"}}]}}"#,
        hash(SKILL.as_bytes()),
        SKILL.len()
    )
}

/// A pack whose manifest has `to` in place of `from`.
fn manifest_with(from: &str, to: &str) -> Vec<u8> {
    let text = manifest();
    assert!(text.contains(from), "{from}");
    with(item("manifest.json", text.replacen(from, to, 1)))
}

fn mode(mode: u32) -> Vec<u8> {
    with(item("demo/x", "target").with(|item| item.mode = mode))
}

/// What it is, why it is refused, and the bytes.
pub(crate) type Case = (&'static str, &'static str, Vec<u8>);

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = names();
    cases.extend(types());
    cases.extend(structure());
    cases.extend(content());
    cases
}

fn names() -> Vec<Case> {
    let twice = |one: &str, other: &str| zip(&[skill(), item(one, "x"), item(other, "y")]);
    vec![
        ("an absolute path", "AbsolutePath", named("/etc/cron.d/x")),
        ("a drive", "DrivePath", named("C:/Windows/x")),
        ("a drive without a slash", "DrivePath", named("c:x")),
        ("a share", "UncPath", named("\\\\host\\share\\x")),
        ("a share with slashes", "UncPath", named("//host/share/x")),
        ("a path upwards", "ParentSegment", named("../x")),
        ("a path upwards in the middle", "ParentSegment", named("demo/../../x")),
        ("a path upwards at the end", "ParentSegment", named("demo/..")),
        ("a dot", "DotSegment", named("demo/./x")),
        ("an empty segment", "EmptySegment", named("demo//x")),
        ("an empty name", "EmptySegment", named("")),
        ("a backslash", "Backslash", named("demo\\x")),
        ("a backslash upwards", "Backslash", named("..\\x")),
        ("a NUL", "NulCharacter", named("demo/x.md\0.sh")),
        ("an escape", "ControlCharacter", named("demo/\x1b[2J")),
        ("a newline", "ControlCharacter", named("demo/a\nb")),
        ("a right-to-left mark", "ControlCharacter", named("demo/\u{202e}fdp.sh")),
        ("not UTF-8", "NotUtf8", named(b"demo/\xff\xfe")),
        ("an overlong dot", "NotUtf8", named(b"demo/\xc0\xae\xc0\xae/x")),
        ("a duplicate", "DuplicateName", twice("demo/x", "demo/x")),
        ("a duplicate of the skill", "DuplicateName", named("demo/SKILL.md")),
        ("a twin in case", "CaseTwin", named("demo/skill.md")),
        ("a twin folder in case", "CaseTwin", named("Demo/x")),
        ("a twin in normalization", "UnicodeTwin", twice("demo/\u{e9}", "demo/e\u{301}")),
        ("a file and a folder", "FileAndFolder", twice("demo/x", "demo/x/y")),
        ("a folder and a file", "FileAndFolder", twice("demo/x/y", "demo/x")),
        ("a Windows device", "WindowsDevice", named("demo/NUL")),
        ("a Windows device with an extension", "WindowsDevice", named("demo/com1.txt")),
        ("a trailing dot", "TrailingDotOrSpace", named("demo/x.")),
        ("a trailing space", "TrailingDotOrSpace", named("demo/x /y")),
        ("a long name", "NameTooLong", named(format!("demo/{}", "x".repeat(300)))),
        ("a deep name", "TooDeep", named("demo/".to_owned() + &"a/".repeat(20) + "x")),
        ("a git folder", "StateFolder", named("demo/.git/hooks/post-checkout")),
        ("a git folder in capitals", "StateFolder", named("demo/.GIT/config")),
        ("an agent folder", "StateFolder", named("demo/.agent/config.json")),
        ("an agent folder at the top", "StateFolder", named(".agent/config.json")),
        ("a staging folder", "StateFolder", named(".staging/x/intent.json")),
        ("a trash folder", "StateFolder", named("demo/.trash/x")),
        (
            "a long comment instead of a name",
            "OddExtraField",
            with(
                item("demo/x", "x")
                    .with(|item| item.extra = [&[0x75, 0x70, 6, 0][..], b"\x01abcd/"].concat()),
            ),
        ),
    ]
}

fn types() -> Vec<Case> {
    vec![
        ("a symbolic link", "Symlink", mode(0o120_777)),
        (
            "a link that says it was made elsewhere",
            "Symlink",
            with(
                item("demo/x", "/etc/passwd")
                    .with(|item| (item.mode, item.made_by) = (0o120_777, 20)),
            ),
        ),
        ("a character device", "Device", mode(0o020_666)),
        ("a block device", "Device", mode(0o060_666)),
        ("a pipe", "Fifo", mode(0o010_644)),
        ("a socket", "Socket", mode(0o140_644)),
        ("an unknown type", "OddType", mode(0o150_644)),
        ("setuid", "Setuid", mode(0o104_755)),
        ("setgid", "Setuid", mode(0o102_755)),
        ("sticky", "Setuid", mode(0o101_755)),
        ("a folder by its mode", "FileAndFolder", mode(0o040_755)),
        (
            "a file by its mode",
            "FileAndFolder",
            with(item("demo/x/", "").with(|item| item.mode = 0o100_644)),
        ),
    ]
}

fn structure() -> Vec<Case> {
    let good = || zip(&[skill()]);
    let x = |change: fn(&mut Item)| with(item("demo/x", "content").with(change));
    let packed =
        |change: fn(&mut Item)| with(item("demo/x", "content ".repeat(10)).deflated().with(change));
    let changed = |from_end: usize, value: u8| {
        let mut bytes = good();
        let at = bytes.len() - from_end;
        bytes[at] = value;
        bytes
    };
    let zeros = |size: usize| item("demo/zeros", vec![0; size]).deflated();
    let bomb = zeros(20 << 20);
    // One entry within the content of another: the same bytes twice.
    let inner = item("demo/inner", "content");
    let whole = zip(std::slice::from_ref(&inner));
    let outer = item("demo/outer", &whole[..30 + inner.name.len() + inner.data.len()]);
    let start = zip(&[skill()]).len() - 22 - 46 - skill().name.len() + 30 + outer.name.len();
    let overlapping = [skill(), outer, inner.with(|item| item.start = Some(start as u32))];
    vec![
        ("nothing", "NotAZip", Vec::new()),
        ("text", "NotAZip", b"hello".to_vec()),
        ("zeros", "NotAZip", vec![0; 100_000]),
        ("only the beginning", "Truncated", good()[..60].to_vec()),
        ("without the last byte", "Truncated", good()[..good().len() - 1].to_vec()),
        ("a damaged directory", "Truncated", {
            let mut bytes = good();
            let at = bytes.len() - 22 - 13 - 46;
            bytes[at] = b'X';
            bytes
        }),
        ("data in front", "LeadingData", [&b"#!/bin/sh\n"[..], &good()].concat()),
        (
            "data in front with right offsets",
            "LeadingData",
            zip(&[skill().with(|item| item.before = b"#!/bin/sh\n".to_vec())]),
        ),
        ("data behind", "TrailingData", [&good()[..], b"more"].concat()),
        ("two end records", "SeveralEndRecords", {
            let mut bytes = good();
            let end = bytes.split_off(bytes.len() - 22);
            [&bytes[..], &end, &end].concat()
        }),
        ("an end record in a comment", "LeadingData", end_in_comment()),
        ("a comment", "OddComment", {
            let mut bytes = good();
            let at = bytes.len() - 2;
            bytes[at] = 4;
            [&bytes[..], b"rm *"].concat()
        }),
        ("another archive behind", "SeveralEndRecords", [good(), good()].concat()),
        (
            "data between entries",
            "HiddenData",
            with(item("demo/x", "x").with(|item| item.before = b"hidden".to_vec())),
        ),
        (
            "data before the directory",
            "HiddenData",
            with(item("demo/x", "x").with(|item| item.after = b"hidden".to_vec())),
        ),
        ("an entry less than there is", "HiddenData", {
            let mut bytes = with(item("demo/x", "x"));
            let at = bytes.len() - 14;
            bytes[at] = 1;
            bytes[at + 2] = 1;
            bytes
        }),
        ("several disks", "SplitArchive", changed(18, 1)),
        ("zip64", "Zip64", x(|item| item.size = u32::MAX)),
        ("a zip64 field", "Zip64", x(|item| item.extra = [&[1, 0, 8, 0][..], &[0; 8]].concat())),
        (
            "another local name",
            "HeaderMismatch",
            x(|item| item.local_name = Some(b"demo/y".to_vec())),
        ),
        ("another local size", "HeaderMismatch", x(|item| item.local_size = Some(3))),
        ("another local method", "HeaderMismatch", x(|item| item.local_method = Some(8))),
        ("other local flags", "HeaderMismatch", x(|item| item.local_flags = Some(1 << 11))),
        (
            "a wrong data descriptor",
            "HeaderMismatch",
            x(|item| (item.flags, item.after) = (1 << 3, b"PK\x07\x08123456789012".to_vec())),
        ),
        ("overlapping entries", "OverlappingEntries", zip(&overlapping)),
        ("an entry within another", "HeaderMismatch", x(|item| item.start = Some(3))),
        ("an entry beyond the end", "OverlappingEntries", x(|item| item.start = Some(1_000_000))),
        (
            "content beyond the end",
            "OverlappingEntries",
            x(|item| (item.compressed, item.size) = (Some(1_000_000), 1_000_000)),
        ),
        ("encrypted", "Encrypted", x(|item| item.flags = 1)),
        ("strongly encrypted", "Encrypted", x(|item| item.flags = 1 << 6)),
        ("an encrypted directory", "Encrypted", x(|item| item.flags = 1 << 13)),
        ("AES", "Encrypted", x(|item| item.method = 99)),
        ("bzip2", "OddMethod", x(|item| item.method = 12)),
        ("LZMA", "OddMethod", x(|item| item.method = 14)),
        ("zstd", "OddMethod", x(|item| item.method = 93)),
        ("a wrong checksum", "WrongCrc", x(|item| item.crc ^= 1)),
        ("a wrong checksum of compressed data", "WrongCrc", packed(|item| item.crc ^= 1)),
        ("damaged compressed data", "BadData", packed(|item| item.data[0] = 0xff)),
        ("more than it says", "SizeLie", packed(|item| item.size -= 1)),
        ("less than it says", "SizeLie", packed(|item| item.size += 1)),
        ("two streams in one", "SizeLie", packed(|item| item.data.extend(b"tail"))),
        ("a stored size that differs", "SizeLie", x(|item| item.size = 3)),
        (
            "a folder with content",
            "FolderWithContent",
            with(item("demo/x/", "content").with(|item| item.mode = 0o040_755)),
        ),
        ("a bomb", "RatioTooHigh", with(bomb.clone())),
        (
            "a bomb that lies",
            "RatioTooHigh",
            with(bomb.with(|item| item.size = 100 * item.data.len() as u32)),
        ),
        (
            "one file too large",
            "TooLarge",
            with(item("demo/x", "x").deflated().with(|item| item.size = (100 << 20) + 1)),
        ),
        ("all files too large", "TooLarge", {
            let one = item("", noise(2 << 20)).deflated();
            let many: Vec<Item> = (0..60)
                .map(|number| {
                    one.clone().with(|item| item.name = format!("demo/{number}").into_bytes())
                })
                .collect();
            zip(&[vec![skill()], many].concat())
        }),
        (
            "too many entries",
            "TooManyEntries",
            zip(&[
                vec![skill()],
                (0..10_000).map(|number| item(format!("demo/{number}"), "")).collect(),
            ]
            .concat()),
        ),
        (
            "an extra field without an end",
            "OddExtraField",
            x(|item| item.extra = vec![0x55, 0x54, 200, 0, 1]),
        ),
    ]
}

/// Text that can be compressed, but not too well.
fn noise(size: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..size).map(|at| if at % 32 == 0 { next() } else { b' ' }).collect()
}

fn content() -> Vec<Case> {
    let only = |name: &str, text: &str| zip(&[item(name, text)]);
    let size = format!("\"size\": {}", SKILL.len());
    let digits = &hash(SKILL.as_bytes())[..4];
    vec![
        ("no entries", "NoSkill", zip(&[])),
        ("only a manifest", "NoSkill", only("manifest.json", &manifest())),
        ("no SKILL.md", "NoSkillFile", only("demo/readme.md", "x")),
        ("a second folder without SKILL.md", "NoSkillFile", named("other/x")),
        ("SKILL.md at the top", "StrayFile", only("SKILL.md", SKILL)),
        ("a file beside the skill", "StrayFile", named("install.sh")),
        ("a manifest in disguise", "StrayFile", named("manifest.JSON")),
        ("no frontmatter", "InvalidFrontmatter", only("demo/SKILL.md", "# Demo\n")),
        ("no description", "InvalidFrontmatter", only("demo/SKILL.md", "---\nname: demo\n---\n")),
        (
            "an anchor",
            "InvalidFrontmatter",
            only("demo/SKILL.md", "---\nname: &a demo\ndescription: *a\n---\n"),
        ),
        (
            "not UTF-8 frontmatter",
            "InvalidFrontmatter",
            zip(&[item("demo/SKILL.md", b"---\nname: demo\ndescription: \xff\n---\n")]),
        ),
        (
            "a huge SKILL.md",
            "TooLarge",
            only("demo/SKILL.md", &format!("{SKILL}{}", "x".repeat(2_100_000))),
        ),
        (
            "a name that is a path",
            "BadSkillName",
            only("demo/SKILL.md", "---\nname: ../../x\ndescription: x\n---\n"),
        ),
        (
            "an absolute name",
            "BadSkillName",
            only("demo/SKILL.md", "---\nname: /tmp/x\ndescription: x\n---\n"),
        ),
        (
            "a hidden name",
            "BadSkillName",
            only("demo/SKILL.md", "---\nname: .staging\ndescription: x\n---\n"),
        ),
        (
            "a device's name",
            "BadSkillName",
            only("demo/SKILL.md", "---\nname: con\ndescription: x\n---\n"),
        ),
        (
            "a name with two namespaces",
            "BadSkillName",
            only("demo/SKILL.md", "---\nname: a/b/c\ndescription: x\n---\n"),
        ),
        (
            "two skills of one name",
            "DuplicateSkill",
            zip(&[skill(), item("other/SKILL.md", SKILL)]),
        ),
        ("a manifest that is not JSON", "InvalidManifest", manifest_with("{", "")),
        ("an unknown format", "InvalidManifest", manifest_with("\"1\"", "\"2\"")),
        (
            "an unknown key",
            "InvalidManifest",
            manifest_with("\"skills\"", "\"more\": 1, \"skills\""),
        ),
        ("an unknown mode", "InvalidManifest", manifest_with("0644", "0777")),
        ("a deep manifest", "InvalidManifest", with(item("manifest.json", "[".repeat(100_000)))),
        (
            "a repeated key",
            "DuplicateKey",
            manifest_with("\"skills\"", "\"skills\": [], \"skills\""),
        ),
        ("a repeated inner key", "DuplicateKey", manifest_with(&size, &format!("{size}, {size}"))),
        (
            "another skill in the manifest",
            "ManifestSkills",
            manifest_with("\"name\": \"demo\"", "\"name\": \"other\""),
        ),
        ("another version in the manifest", "ManifestSkills", manifest_with("1.0.0", "2.0.0")),
        (
            "listed but absent",
            "ListedButAbsent",
            manifest_with(
                "\"files\": [",
                &format!(
                    r#""files": [{{"path": "demo/more", "sha256": "{}", "size": 1, "mode": "0644"}}, "#,
                    hash(b"x")
                ),
            ),
        ),
        (
            "present but unlisted",
            "PresentButUnlisted",
            zip(&[skill(), item("demo/more", "x"), item("manifest.json", manifest())]),
        ),
        (
            "a wrong hash",
            "WrongHash",
            manifest_with(digits, if digits == "0000" { "1111" } else { "0000" }),
        ),
        ("a wrong size", "WrongSize", manifest_with(&size, "\"size\": 1")),
        ("a wrong mode", "WrongMode", manifest_with("0644", "0755")),
        (
            "a path upwards in the manifest",
            "ParentSegment",
            manifest_with("demo/SKILL.md", "../SKILL.md"),
        ),
        (
            "a signature without a manifest",
            "SignatureWithoutManifest",
            with(item("manifest.json.minisig", "untrusted comment: x\n")),
        ),
        (
            "a signature that is none",
            "InvalidSignature",
            zip(&[
                skill(),
                item("manifest.json", manifest()),
                item("manifest.json.minisig", "hello"),
            ]),
        ),
        (
            "a signature that is not text",
            "InvalidSignature",
            zip(&[
                skill(),
                item("manifest.json", manifest()),
                item("manifest.json.minisig", b"\xff"),
            ]),
        ),
    ]
}

/// An end record that hides in a comment.
fn end_in_comment() -> Vec<u8> {
    let mut bytes = zip(&[skill()]);
    let hidden = end(0, 0, bytes.len() as u32);
    let at = bytes.len() - 2;
    bytes[at..].copy_from_slice(&(hidden.len() as u16).to_le_bytes());
    bytes.extend(hidden);
    bytes
}
