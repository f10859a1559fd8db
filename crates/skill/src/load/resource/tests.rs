use basics::failure::Explain;
use proptest::prelude::*;

use super::*;
use crate::world::World;

fn load(
    path: &str,
    content: impl AsRef<[u8]>,
    hint: Option<&str>,
    limits: &Limits,
) -> Result<Loaded, LoadError> {
    let world = World::with_skills(["root/a"]);
    world.write(&format!("root/a/{path}"), content);
    load_resource(&world.entry(), path, hint, limits)
}

/// What is handed over of a Markdown file, and the codes of the diagnostics.
#[track_caller]
fn check(content: &str, hint: Option<&str>, limit: usize, text: &str, codes: &[&str]) {
    let limits = Limits { excerpt_chars: limit, ..Limits::default() };
    let loaded = load("references/x.md", content, hint, &limits).unwrap();
    assert_eq!(loaded.text, text);
    let found: Vec<&str> =
        loaded.report.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
    assert_eq!(found, codes);
    assert_eq!(loaded.report.chars_returned, text.chars().count());
    assert_eq!(loaded.report.text_sha256, Some(Sha256::of(text)));
    assert_eq!(loaded.report.truncated, loaded.full.is_some());
}

const GUIDE: &str = "# Guide\n\nIntro.\n\n## Metric definitions\n\nA metric.\n\n### Details\n\nMore.\n\n## 步骤\n\n第一步。\n";

#[test]
fn a_file_that_fits_comes_whole() {
    check(GUIDE, None, 12_000, GUIDE, &[]);
    check(GUIDE, Some("  "), 12_000, GUIDE, &[]);
    check("", None, 12_000, "", &[]);
    check("\u{FEFF}a\r\nb\rc", None, 12_000, "a\nb\nc", &[]);
    check("a\u{200B}\u{202E}\u{1B}b", None, 12_000, "ab", &["hidden-characters"]);
}

#[test]
fn a_hint_selects_a_section() {
    let metrics = "## Metric definitions\n\nA metric.\n\n### Details\n\nMore.\n\n";
    check(GUIDE, Some("## Metric definitions"), 12_000, metrics, &[]);
    check(GUIDE, Some("metric definitions"), 12_000, metrics, &[]);
    check(GUIDE, Some("步骤"), 12_000, "## 步骤\n\n第一步。\n", &[]);
    check(GUIDE, Some("### Details"), 12_000, "### Details\n\nMore.\n\n", &[]);
    check(GUIDE, Some("# Guide"), 12_000, GUIDE, &[]);
}

#[test]
fn a_section_that_is_not_there_is_noted_and_the_outline_given() {
    let text = format!(
        "{}\n\n[Sections of this file]\n# Guide\n## Metric definitions\n### Details\n## 步骤\n",
        GUIDE.trim_end()
    );
    check(GUIDE, Some("Unknown"), 12_000, &text, &["SectionNotFound"]);
    check("No headings.\n", Some("Unknown"), 12_000, "No headings.\n", &["SectionNotFound"]);
}

#[test]
fn a_note_about_a_hint_does_not_carry_its_escapes() {
    let loaded = load("x.md", GUIDE, Some("\u{1B}[31m\u{202E}"), &Limits::default()).unwrap();
    let message = r"no heading matches `\u{1b}[31m\u{202e}`; this is the beginning";
    assert_eq!(loaded.report.diagnostics[0].message, message);
    let long = "x".repeat(10_000);
    let loaded = load("x.md", GUIDE, Some(&long), &Limits::default()).unwrap();
    assert!(loaded.report.diagnostics[0].message.len() < 200);
}

#[test]
fn nothing_is_left_out_where_the_whole_text_is_given_with_an_outline() {
    let loaded = load("x.md", GUIDE, Some("Unknown"), &Limits::default()).unwrap();
    assert_eq!((loaded.report.truncated, loaded.full), (false, None));
    let loaded = load("x.md", GUIDE, Some("Details"), &Limits::default()).unwrap();
    assert_eq!((loaded.report.truncated, loaded.full.as_deref()), (true, Some(GUIDE)));
}

#[test]
fn a_long_markdown_file_begins_with_its_overview_and_outline() {
    let filler = "Some words.\n".repeat(50);
    let overview = format!("# Guide\n\n{filler}\n## Overview\n\nIn short.\n\n## Rest\n\n{filler}");
    let outline = "[Sections of this file]\n# Guide\n## Overview\n## Rest\n";
    check(&overview, None, 300, &format!("## Overview\n\nIn short.\n\n{outline}"), &[]);
    let plain = format!("# Guide\n\n{filler}");
    let start = "# Guide\n\nSome words.\nSome words.\nSome words.\n[… cut here …]\n\n[Sections of this file]\n# Guide\n";
    check(&plain, None, 103, start, &[]);
}

#[test]
fn a_long_file_of_another_kind_is_cut_between_lines() {
    let content = "# a comment\n".repeat(100);
    let limits = Limits { excerpt_chars: 45, ..Limits::default() };
    let loaded = load("scripts/x.py", &content, None, &limits).unwrap();
    assert_eq!(loaded.text, "# a comment\n# a comment\n[… cut here …]\n");
    assert_eq!((loaded.report.truncated, loaded.full), (true, Some(content)));
}

#[test]
fn text_files_of_any_extension_are_read_and_others_refused() {
    for path in ["x.json", "x.yaml", "x.txt", "x", "x.rs", ".hidden", "with space/ö.md"] {
        assert!(load(path, "text", None, &Limits::default()).is_ok(), "{path}");
    }
    let refused: [&[u8]; 4] = [b"a\0b", b"\x89PNG\r\n\x1A\n\xFF", b"\xFF\xFEa\0", b"caf\xE9"];
    for content in refused {
        let error = load("x.md", content, None, &Limits::default()).unwrap_err();
        assert_eq!(error.code(), "NotText", "{content:?}");
    }
}

#[test]
fn the_report_is_of_the_file_that_was_read() {
    let loaded = load("x.md", "a\r\nb", None, &Limits::default()).unwrap();
    let report = &loaded.report;
    assert_eq!((report.path.as_str(), report.bytes_read), ("x.md", 4));
    assert_eq!(report.file_sha256, Sha256::of(b"a\r\nb"));
}

#[test]
fn the_manifest_is_a_resource_like_others() {
    let world = World::with_skills(["root/a"]);
    let loaded = load_resource(&world.entry(), "./SKILL.md", None, &Limits::default()).unwrap();
    assert!(loaded.text.starts_with("---\nname: a\n"));
}

proptest! {
    #[test]
    fn an_excerpt_never_exceeds_its_limit(
        content in "([#a漢 ]{0,12}\n|```\n|## Overview\n){0,20}",
        hint in prop::option::of("[#a漢 ]{0,3}"),
        limit in 0_usize..120,
        path in prop_oneof![Just("x.md"), Just("x.txt")],
    ) {
        let (text, _) = excerpt(&content, path, hint.as_deref(), limit, &mut Vec::new());
        prop_assert!(text.chars().count() <= limit, "{text:?} has more than {limit}");
    }
}

#[test]
fn a_long_line_is_cut_in_its_middle() {
    let world = World::with_skills(["root/a"]);
    world.write("root/a/data.json", format!("[\n{}\n]\n", "x".repeat(500)));
    let limits = Limits { excerpt_chars: 100, ..Limits::default() };
    let loaded = load_resource(&world.entry(), "data.json", None, &limits).unwrap();
    assert_eq!(loaded.text.chars().count(), 100, "{}", loaded.text);
}
