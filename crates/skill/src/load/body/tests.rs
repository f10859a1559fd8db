use basics::failure::Explain;
use basics::skill::LoadReport;

use super::*;
use crate::world::World;

const START: &str = "---\nname: a\ndescription: b\n---\n";

fn load(content: &[u8], limits: &Limits) -> Result<Body, LoadError> {
    let world = World::with_skills(["root/a"]);
    let entry = world.entry();
    world.write("root/a/SKILL.md", content);
    load_body(&entry, &ReadOptions::default(), limits)
}

fn load_default(body: &str) -> Body {
    load(format!("{START}{body}").as_bytes(), &Limits::default()).unwrap()
}

/// The text handed over, and the codes of the diagnostics.
#[track_caller]
fn check(body: &str, text: &str, codes: &[&str]) {
    let body = load_default(body);
    assert_eq!(body.core.text, text);
    let found: Vec<&str> =
        body.core.report.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
    assert_eq!(found, codes);
}

#[track_caller]
fn check_error(content: impl AsRef<[u8]>, expected: &str) {
    let error = load(content.as_ref(), &Limits::default()).unwrap_err();
    let reason = std::error::Error::source(&error).map_or(String::new(), |why| format!(": {why}"));
    assert_eq!(format!("{error}{reason}"), expected);
}

#[test]
fn a_body_comes_without_its_frontmatter() {
    check("# Title\n\nText.\n", "# Title\n\nText.\n", &[]);
    check("\n\n# Title", "# Title", &[]);
    check("", "", &[]);
    check("---\nnot: frontmatter\n---\n", "---\nnot: frontmatter\n---\n", &[]);
}

#[test]
fn newlines_are_made_uniform() {
    check("a\r\nb\rc\nd", "a\nb\nc\nd", &[]);
    let body = load(b"---\r\nname: a\r\ndescription: b\r\n---\r\nc\r\n", &Limits::default());
    assert_eq!(body.unwrap().core.text, "c\n");
}

#[test]
fn hidden_characters_are_removed_and_reported() {
    check("a\u{200B}b\u{202E}c\u{1B}[31m\u{E0041}\n", "abc[31m\n", &["hidden-characters"]);
    check("tab\tstays\n", "tab\tstays\n", &[]);
}

#[test]
fn the_report_tells_what_was_read() {
    let content = format!("{START}Ünïcode\n");
    let body = load(content.as_bytes(), &Limits::default()).unwrap();
    let expected = LoadReport {
        path: "SKILL.md".to_owned(),
        bytes_read: content.len() as u64,
        chars_returned: 8,
        truncated: false,
        file_sha256: Sha256::of(content),
        text_sha256: Some(Sha256::of("Ünïcode\n")),
        trim_strategy: Some(TrimStrategy::None),
        referenced_files: Some(Vec::new()),
        dropped_sections: Vec::new(),
        storage_ref: None,
        diagnostics: Vec::new(),
    };
    assert_eq!((body.core.report, body.core.full), (expected, None));
}

#[test]
fn what_changed_since_the_index_was_built_is_checked_again() {
    check_error(
        "no frontmatter",
        "the frontmatter of `a` is refused: no frontmatter: the file does not begin with a `---` line",
    );
    check_error("---\nname: a\n---\n", "the frontmatter of `a` is refused: no `description`");
    check_error(
        "---\nname: a\ndescription: <b>\n---\n",
        "the frontmatter of `a` is refused: the value of `description` contains `<` or `>`",
    );
    check_error(
        b"---\nname: a\ndescription: \xFF\n---\n",
        "the frontmatter of `a` is refused: the frontmatter is not UTF-8",
    );
    check_error([START.as_bytes(), b"\xFF"].concat(), "the body of `a` is not UTF-8");
}

#[test]
fn a_skill_that_is_gone_is_not_found() {
    let world = World::with_skills(["root/a"]);
    let entry = world.entry();
    let not_found =
        || load_body(&entry, &ReadOptions::default(), &Limits::default()).unwrap_err().to_string();
    world.remove("root/a/SKILL.md");
    assert_eq!(not_found(), "Skill 'a' not found.");
    world.remove("root/a");
    assert_eq!(not_found(), "Skill 'a' not found.");
}

#[test]
fn a_manifest_over_the_file_limit_is_refused() {
    let limits = Limits { file_bytes: 100, ..Limits::default() };
    let content = |size: usize| START.to_owned() + &"x".repeat(size - START.len());
    assert!(load(content(100).as_bytes(), &limits).is_ok());
    assert_eq!(load(content(101).as_bytes(), &limits).unwrap_err().code(), "FileTooLarge");
}

/// A body of `lines` lines of ten characters, their newlines included.
fn of_lines(lines: usize) -> String {
    format!("{START}{}", "123456789\n".repeat(lines))
}

#[test]
fn a_body_at_the_limit_is_whole_and_one_over_it_is_not() {
    for (lines, is_whole) in [(500, true), (501, false)] {
        let body = load(of_lines(lines).as_bytes(), &Limits::default()).unwrap();
        assert_eq!((body.core.report.truncated, body.core.full.is_none()), (!is_whole, is_whole));
    }
    let by_chars = Limits { body_chars: 100, ..Limits::default() };
    assert!(!load(of_lines(10).as_bytes(), &by_chars).unwrap().core.report.truncated);
    assert!(load(of_lines(11).as_bytes(), &by_chars).unwrap().core.report.truncated);
}

#[test]
fn an_oversized_body_is_rejected_where_it_may_not_be_cut() {
    let limits = Limits { oversize: Oversize::Reject, ..Limits::default() };
    assert!(load(of_lines(500).as_bytes(), &limits).is_ok());
    let error = load(of_lines(501).as_bytes(), &limits).unwrap_err();
    let message = "the body of `a` has 501 lines and 5010 characters, the limits are 500 and 40000";
    assert_eq!((error.code(), error.to_string().as_str()), ("BodyTooLarge", message));
    assert!(error.hint().contains("references/"));
}

#[test]
fn an_oversized_body_keeps_its_essentials_and_names_the_rest() {
    let filler = "Filler.\n".repeat(30);
    let document = format!(
        "{START}# Title\n\nOpening.\n\n## History\n\n{filler}\n## Steps\n\nDo it.\n\n## Credits\n\n{filler}"
    );
    let limits = Limits { body_lines: 20, ..Limits::default() };
    let body = load(document.as_bytes(), &limits).unwrap();
    let expected = "# Title\n\nOpening.\n\n## Steps\n\nDo it.\n\n\
        [Left out. Read a section with load_resource, relative_path SKILL.md and its heading as section_hint:]\n\
        - ## History\n- ## Credits\n";
    assert_eq!(body.core.text, expected);
    assert_eq!(body.core.report.dropped_sections, ["## History", "## Credits"]);
    assert_eq!(body.core.report.chars_returned, expected.chars().count());
    assert_eq!(body.core.report.text_sha256, Some(Sha256::of(expected)));
    assert_eq!(body.core.full.as_deref(), Some(&document[START.len()..]));
}

#[test]
fn every_dropped_section_can_be_read_by_its_name() {
    let world = World::with_skills(["root/a"]);
    let sections: String =
        (0..NAMED + 30).map(|at| format!("## Part {at}\n\nText {at}.\n\n")).collect();
    world.write("root/a/SKILL.md", format!("{START}{sections}"));
    let limits = Limits { body_lines: 10, ..Limits::default() };
    let entry = world.entry();
    let body = load_body(&entry, &ReadOptions::default(), &limits).unwrap();
    assert!(body.core.report.dropped_sections.len() > NAMED);
    assert!(
        body.core.text.ends_with(&format!(
            "- and {} more\n",
            body.core.report.dropped_sections.len() - NAMED
        ))
    );
    for dropped in &body.core.report.dropped_sections {
        let section = super::super::load_resource(&entry, "SKILL.md", Some(dropped), &limits);
        assert!(section.unwrap().text.starts_with(&format!("{dropped}\n")));
    }
}

#[test]
fn of_sections_with_one_title_each_can_be_read() {
    let world = World::with_skills(["root/a"]);
    let part = |at: usize| format!("## Part {at}\n\nText.\n\n### Example\n\nExample {at}.\n\n");
    let parts: String = (0..20).map(part).collect();
    world.write("root/a/SKILL.md", format!("{START}{parts}"));
    let limits = Limits { body_lines: 10, ..Limits::default() };
    let entry = world.entry();
    let body = load_body(&entry, &ReadOptions::default(), &limits).unwrap();
    let dropped = &body.core.report.dropped_sections;
    assert!(dropped.contains(&"Part 7 > Example".to_owned()), "{dropped:?}");
    let section =
        super::super::load_resource(&entry, "SKILL.md", Some("Part 7 > Example"), &limits);
    assert_eq!(section.unwrap().text.trim_end(), "### Example\n\nExample 7.");
}

#[test]
fn a_body_without_headings_is_cut_with_a_note() {
    let limits = Limits { body_lines: 3, ..Limits::default() };
    let body = load(of_lines(10).as_bytes(), &limits).unwrap();
    let expected = "123456789\n123456789\n123456789\n\n\
        [The rest is left out; it has no headings by which it could be read.]\n";
    assert_eq!(body.core.text, expected);
}

const WITH_CHUNKS: &str = "Core.\n\n\
    <chunk id=\"examples\" description=\"Few-shot examples for complex scenarios\">\nAn example.\n</chunk>\n\n\
    More core.\n\n<chunk id=\"errors\" description=\"What may go wrong\">\nAn error.\n</chunk>\n";

#[test]
fn a_rendering_ends_with_the_chunks_that_are_not_loaded() {
    let body = load_default(WITH_CHUNKS);
    let core = "Core.\n\n\nMore core.\n\n[Available Chunks for a]\n\
        (You can load these using load_skill_chunk tool)\n\
        - id: examples | description: Few-shot examples for complex scenarios\n\
        - id: errors | description: What may go wrong\n";
    assert_eq!(body.render(&[]), core);
    let one = "Core.\n\n\nMore core.\n\nAn error.\n\n[Available Chunks for a]\n\
        (You can load these using load_skill_chunk tool)\n\
        - id: examples | description: Few-shot examples for complex scenarios\n";
    assert_eq!(body.render(&["errors"]), one);
    let all = "Core.\n\n\nMore core.\n\nAn example.\n\nAn error.\n";
    assert_eq!(body.render(&["errors", "examples", "unknown"]), all);
    assert_eq!(load_default("Core.\n").render(&[]), "Core.\n");
}

#[test]
fn chunks_count_as_not_loaded() {
    let chunk = format!("<chunk id=\"x\">\n{}</chunk>\n", "line\n".repeat(600));
    let body = load_default(&format!("Core.\n{chunk}"));
    assert_eq!((body.core.text.as_str(), body.core.report.truncated), ("Core.\n", false));
    assert_eq!(body.chunk("x").unwrap().content.lines().count(), 600);
}

#[test]
fn a_chunk_that_is_not_there_is_an_error_with_the_contracts_words() {
    let body = load_default(WITH_CHUNKS);
    assert_eq!(body.chunk("examples").unwrap().content, "An example.");
    let error = body.chunk("none").unwrap_err();
    assert_eq!(error.to_string(), "Chunk 'none' not found in skill 'a'.");
}

#[test]
fn chunk_tags_that_are_left_as_text_are_reported() {
    check("<chunk id=\"x\">\nText.\n", "<chunk id=\"x\">\nText.\n", &["unclosed-chunk"]);
}
