use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// The core content, the chunks as `id | description | content`, and the codes of the diagnostics.
#[track_caller]
fn check(body: &str, core: &str, chunks: &[&str], codes: &[&str]) {
    let parts = parse(body);
    let found: Vec<String> = parts
        .chunks
        .iter()
        .map(|chunk| format!("{} | {} | {}", chunk.id, chunk.description, chunk.content))
        .collect();
    let noted: Vec<&str> = parts.diagnostics.iter().map(|it| it.code.as_str()).collect();
    assert_eq!((parts.core.as_str(), found, noted), (core, own(chunks), codes.to_vec()), "{body}");
}

fn own(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// The body is text and nothing but text.
#[track_caller]
fn check_text(body: &str, codes: &[&str]) {
    check(body, body, &[], codes);
}

#[test]
fn a_chunk_is_taken_out_and_leaves_no_trace() {
    check(
        "Before.\n\n<chunk id=\"examples\" description=\"Few-shot examples for complex scenarios\">\nOne.\n\nTwo.\n</chunk>\n\nAfter.\n",
        "Before.\n\n\nAfter.\n",
        &["examples | Few-shot examples for complex scenarios | One.\n\nTwo."],
        &[],
    );
    check(
        "<chunk id=\"a\">\n1\n</chunk>\n<chunk id=\"b\">\n2\n</chunk>",
        "",
        &["a |  | 1", "b |  | 2"],
        &[],
    );
    check("<chunk id=\"a\">\n</chunk>\n", "", &["a |  | "], &[]);
    check_text("No chunks.\n", &[]);
    check_text("", &[]);
}

#[test]
fn the_form_of_a_tag_does_not_matter() {
    for tag in [
        r#"<chunk id="a" description="b c">"#,
        r#"<chunk description="b c" id="a">"#,
        "<chunk id='a' description='b c'>",
        "<chunk id='a' description=\"b c\"  >",
        "<chunk\n  id=\"a\"\n  description=\"b c\"\n>",
        "<chunk id = \"a\"\tdescription\n=\n\"b\nc\">",
        r#"<chunk id="a" other="x" description="b c">"#,
        r#"<CHUNK ID="a" Description="b c">"#,
        r#"  <chunk id=" a " description=" b   c ">"#,
        "   <chunk id='a\u{200B}' description='b\u{1B}\u{202E} c'>",
    ] {
        for end in ["</chunk>", "  </chunk>  ", "</CHUNK>"] {
            check(&format!("1\n{tag}\n2\n{end}\n3\n"), "1\n3\n", &["a | b c | 2"], &[]);
        }
    }
    check("<chunk id=\"a\" description=\"x > y\">\n1\n</chunk>\n", "", &["a | x > y | 1"], &[]);
}

#[test]
fn tags_may_share_a_line_with_their_content() {
    check("<chunk id=\"a\">1</chunk>\n2\n", "2\n", &["a |  | 1"], &[]);
    check("<chunk id=\"a\">1\n2</chunk>\n3\n", "3\n", &["a |  | 1\n2"], &[]);
    check(
        "<chunk id=\"a\">1</chunk> <chunk id=\"b\">2</chunk>\n3\n",
        "3\n",
        &["a |  | 1", "b |  | 2"],
        &[],
    );
    check(
        "<chunk id=\"a\">\n1\n</chunk><chunk id=\"b\">\n2\n</chunk>\n",
        "",
        &["a |  | 1", "b |  | 2"],
        &[],
    );
}

#[test]
fn a_tag_within_a_line_is_text() {
    check_text("Use <chunk id=\"a\"> and </chunk> for blocks.\n", &[]);
    check_text("Write `<chunk id=\"a\">` first.\n", &[]);
    check_text("<chunks id=\"a\">\n", &[]);
    check_text("<chunk-list>\n", &[]);
    check(
        "<chunk id=\"a\">\nEnd it with `</chunk>`.\n</chunk>\n",
        "",
        &["a |  | End it with `</chunk>`."],
        &[],
    );
}

#[test]
fn a_tag_in_fenced_code_is_text() {
    check_text("```\n<chunk id=\"a\">\n1\n</chunk>\n```\n", &[]);
    check_text("~~~md\n<chunk id=\"a\">\n```\n</chunk>\n~~~\n", &[]);
    check(
        "<chunk id=\"a\">\n````\n```\n</chunk>\n```\n````\n</chunk>\n1\n",
        "1\n",
        &["a |  | ````\n```\n</chunk>\n```\n````"],
        &[],
    );
}

#[test]
fn a_tag_in_code_within_a_list_is_text() {
    for list in ["- Like this:\n\n  ", "10. Like this:\n\n    ", "- a\n  - b\n\n    ", "*\ta\n\n\t"]
    {
        let indent = list.rsplit('\n').next().unwrap();
        let body =
            "```md\n<chunk id=\"a\">\n1\n</chunk>\n```\n".replace('\n', &format!("\n{indent}"));
        check_text(&format!("{list}{body}\n"), &[]);
        let unindented = body.replace("<chunk", "\n<chunk");
        check_text(&format!("{list}{unindented}\n"), &[]);
    }
    check_text("- ```md\n  <chunk id=\"a\">\n  </chunk>\n  ```\n", &[]);
    check(
        "- ```md\n  <chunk id=\"a\">\n  ```\n\n<chunk id=\"b\">\n1\n</chunk>\n",
        "- ```md\n  <chunk id=\"a\">\n  ```\n\n",
        &["b |  | 1"],
        &[],
    );
}

#[test]
fn a_tag_that_is_indented_like_code_is_text() {
    check_text("    <chunk id=\"a\">\n1\n", &[]);
    check_text("\t<chunk id=\"a\">\n1\n", &[]);
    check_text("    <chunk id=\"a\">\n    1\n    </chunk>\n", &["unopened-chunk"]);
}

#[test]
fn an_unclosed_chunk_stays_text() {
    check_text("<chunk id=\"a\">\n1\n", &["unclosed-chunk"]);
    check_text("<chunk id=\"a\">\n1\n</chunk> and more\n", &["unclosed-chunk"]);
    check_text("<chunk id=\"a\">\n```\n1\n</chunk>\n", &["unclosed-chunk"]);
    check_text("1\n</chunk>\n", &["unopened-chunk"]);
}

#[test]
fn nested_chunks_stay_text() {
    check_text(
        "<chunk id=\"a\">\n1\n<chunk id=\"b\">\n2\n</chunk>\n3\n</chunk>\n",
        &["nested-chunk"],
    );
    check_text("<chunk id=\"a\">\n<chunk id=\"b\">\n2\n</chunk>\n", &["unclosed-chunk"]);
    check(
        "<chunk id=\"a\">\n<chunk id=\"b\">\n</chunk>\n</chunk>\n<chunk id=\"c\">\n1\n</chunk>\n",
        "<chunk id=\"a\">\n<chunk id=\"b\">\n</chunk>\n</chunk>\n",
        &["c |  | 1"],
        &["nested-chunk"],
    );
}

#[test]
fn a_second_chunk_of_a_name_stays_text() {
    check(
        "<chunk id=\"a\">\n1\n</chunk>\n<chunk id=\"a\">\n2\n</chunk>\n",
        "<chunk id=\"a\">\n2\n</chunk>\n",
        &["a |  | 1"],
        &["duplicate-chunk"],
    );
}

#[test]
fn a_tag_that_is_not_understood_stays_text() {
    for tag in [
        "<chunk id=a>",
        "<chunk id>",
        "<chunk id=\"a>",
        "<chunk \"a\">",
        "<chunk id=\"a\" />",
        "<chunk",
        "<chunk i d=\"a\">",
    ] {
        check_text(&format!("{tag}\n1\n"), &["malformed-chunk"]);
    }
    check_text("<chunk>\n1\n</chunk>\n", &["malformed-chunk", "unopened-chunk"]);
    check_text("<chunk id=\"\" description=\"x\">\n", &["malformed-chunk"]);
    check_text("<chunk id=\"\u{200B}\">\n", &["malformed-chunk"]);
    let endless = format!("<chunk id=\"{}\">\n", "x".repeat(5_000));
    check_text(&endless, &["malformed-chunk"]);
}

#[test]
fn messages_name_the_chunk() {
    let message = |body: &str| parse(body).diagnostics[0].message.clone();
    assert_eq!(message("<chunk id=\"a\">\n"), "chunk `a` is never closed, so it stays text");
    let nested = "<chunk id=\"a\">\n<chunk id=\"b\">\n</chunk>\n</chunk>\n";
    assert_eq!(message(nested), "chunk `a` contains another chunk; both stay text");
}

/// Each took minutes, or megabytes of diagnostics, without its bound.
#[test]
fn a_hostile_body_is_answered_at_once() {
    let hostile: [fn(usize) -> String; 6] = [
        |_| "<chunk \n".to_owned(),
        |_| "<chunk a=\n".to_owned(),
        |_| "<chunk a=\"\n".to_owned(),
        |_| "</chunk>\n".to_owned(),
        |at| format!("<chunk id=\"{at}\">\n"),
        |at| format!("<chunk id=\"{at}\">\n</chunk>\n"),
    ];
    for line in hostile {
        let body: String = (0..60_000).map(line).collect();
        let parts = parse(&body);
        assert!(parts.diagnostics.len() <= NOTED, "{} diagnostics", parts.diagnostics.len());
    }
    let many = parse(&"</chunk>\n".repeat(60_000));
    assert_eq!(many.diagnostics.len(), NOTED);
    assert_eq!(many.diagnostics[NOTED - 1].code, "more-chunk-problems");
}

fn body() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        6 => Just("word".to_owned()),
        2 => "[a-c]".prop_map(|id| format!("<chunk id=\"{id}\">")),
        1 => "[a-c]".prop_map(|id| format!("  <chunk description='x'\n  id='{id}'>")),
        3 => Just("</chunk>".to_owned()),
        1 => Just("  </chunk> ".to_owned()),
        1 => Just("```".to_owned()),
        1 => select(&["", "    ", "~~~", "<chunk", "<chunk id=", "<chunk>", "</chunk", "<chunk id=\"é\"></chunk>", "x</chunk>", "漢 </CHUNK>"][..])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(line, 0..24).prop_map(|lines| {
        let numbered = |(at, line): (usize, &String)| match line.as_str() {
            "word" => format!("word {at}\n"),
            other => format!("{other}\n"),
        };
        lines.iter().enumerate().map(numbered).collect()
    })
}

fn words(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("word ")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(2_000)))]

    #[test]
    fn the_core_and_the_chunks_hold_every_line_once(body in body()) {
        let parts = parse(&body);
        let texts = std::iter::once(&parts.core).chain(parts.chunks.iter().map(|chunk| &chunk.content));
        let mut found: Vec<&str> = texts.flat_map(|text| words(text)).collect();
        let mut all = words(&body);
        found.sort_unstable();
        all.sort_unstable();
        prop_assert_eq!(found, all);
    }

    #[test]
    fn what_is_understood_leaves_no_tag_outside_code(body in body()) {
        let parts = parse(&body);
        if !parts.diagnostics.is_empty() {
            return Ok(());
        }
        for line in lines(&parts.core).filter(|line| !line.in_code) {
            prop_assert!(!starts_tag(line.text.trim_start()), "{:?}", line.text);
        }
        prop_assert_eq!(&parse(&parts.core).core, &parts.core, "the core has no chunks of its own");
    }

    #[test]
    fn nothing_makes_it_panic(body in "(<chunk|</chunk>|id=|[\"'>= \n`~é]|.){0,40}") {
        let parts = parse(&body);
        prop_assert!(parts.core.len() <= body.len());
    }
}
