//! Answers as providers send them, read however the bytes were split: files under `fixtures/`, and what each comes to.

use std::fs;
use std::path::Path;

use agent::action::Action;
use basics::failure::Explain;
use skillful_model::decision::Understood;
use skillful_model::decoder::Decoder;
use skillful_model::dialect::{Dialect, Form, Protocol, TokenLimit};
use skillful_model::remote::Wire;

const OPENAI: &[(&str, Form, &str)] = &[
    (
        "schema.sse",
        Form::Schema,
        "select_skills csv-report + plan | 812 in, 768 cached, 0 written, 41 out",
    ),
    (
        "schema.json",
        Form::Schema,
        "select_skills csv-report + plan | 812 in, 768 cached, 0 written, 41 out",
    ),
    (
        "text.sse",
        Form::Text,
        "final_answer Zwölf Zeilen – 3 × 4 😀 ✓ | 812 in, 768 cached, 0 written, 41 out",
    ),
    (
        "tools.sse",
        Form::Tools,
        "call: run_script csv-report/scripts/report.sh sales.csv | 812 in, 768 cached, 0 written, 41 out",
    ),
    (
        "tools.json",
        Form::Tools,
        "call: run_script csv-report/scripts/report.sh sales.csv | 812 in, 768 cached, 0 written, 41 out",
    ),
    ("parts.json", Form::Text, "final_answer Zwölf Zeilen – 3 × 4 😀 ✓ | not counted"),
    (
        "llama-cpp-reasoning.sse",
        Form::Schema,
        "final_answer Zwölf Zeilen – 3 × 4 😀 ✓ | 640 in, 0 cached, 0 written, 33 out",
    ),
    (
        "tools-as-fenced-text.sse",
        Form::Tools,
        "select_skills csv-report | 640 in, 0 cached, 0 written, 33 out",
    ),
    ("tools-as-tagged-text.sse", Form::Tools, "call_tool grep | not counted"),
    ("ollama-tools.sse", Form::Tools, "call: call_tool grep | 120 in, 0 cached, 0 written, 20 out"),
    (
        "gateway.sse",
        Form::Schema,
        "final_answer Zwölf Zeilen – 3 × 4 😀 ✓ | 812 in, 768 cached, 0 written, 41 out",
    ),
    ("name-last.sse", Form::Tools, "call: call_tool grep | not counted"),
    ("no-done.sse", Form::Schema, "final_answer Zwölf Zeilen – 3 × 4 😀 ✓ | not counted"),
    (
        "length.sse",
        Form::Schema,
        "cut: the JSON object at byte 0 is never closed | 812 in, 768 cached, 0 written, 41 out",
    ),
    (
        "two-calls.sse",
        Form::Tools,
        "call: 2 tools are called at once | 812 in, 768 cached, 0 written, 41 out",
    ),
    (
        "truncated.sse",
        Form::Schema,
        "StreamBroken: broke the connection: the answer ends in the middle, after 637 bytes",
    ),
    (
        "refusal.sse",
        Form::Schema,
        "ModelDeclined: has a model that refuses: I'm sorry, I can't help with that.",
    ),
    (
        "error.sse",
        Form::Schema,
        "ServerError: has a problem (500): The server had an error while processing your request.",
    ),
    ("error.json", Form::Schema, "ServerError: has a problem (503): The model is overloaded."),
    (
        "garbage.sse",
        Form::Schema,
        "MalformedAnswer: sent something that is not a model's answer: an event that is not JSON: }{ nonsense",
    ),
    (
        "../page.html",
        Form::Schema,
        "MalformedAnswer: sent something that is not a model's answer: a web page, \"502 Bad Gateway\"",
    ),
];

const ANTHROPIC: &[(&str, Form, &str)] = &[
    (
        "schema.sse",
        Form::Schema,
        "select_skills csv-report + plan | 932 in, 768 cached, 120 written, 41 out",
    ),
    (
        "schema.json",
        Form::Schema,
        "select_skills csv-report + plan | 932 in, 768 cached, 120 written, 41 out",
    ),
    (
        "text.sse",
        Form::Text,
        "final_answer Zwölf Zeilen – 3 × 4 😀 ✓ | 932 in, 768 cached, 120 written, 41 out",
    ),
    (
        "tools.sse",
        Form::Tools,
        "call: run_script csv-report/scripts/report.sh sales.csv | 932 in, 768 cached, 120 written, 41 out",
    ),
    (
        "tools.json",
        Form::Tools,
        "call: run_script csv-report/scripts/report.sh sales.csv | 932 in, 768 cached, 120 written, 41 out",
    ),
    (
        "tool-call-only.sse",
        Form::Tools,
        "call: call_tool grep | 932 in, 768 cached, 120 written, 41 out",
    ),
    (
        "thinking.sse",
        Form::Tools,
        "call: final_answer Zwölf Zeilen – 3 × 4 😀 ✓ | 932 in, 768 cached, 120 written, 41 out",
    ),
    (
        "crlf-duplicates.sse",
        Form::Text,
        "final_answer Zwölf Zeilen – 3 × 4 😀 ✓ | 932 in, 768 cached, 120 written, 41 out",
    ),
    (
        "length.sse",
        Form::Text,
        "cut: the JSON object at byte 0 is never closed | 932 in, 768 cached, 120 written, 41 out",
    ),
    (
        "two-calls.sse",
        Form::Tools,
        "call: 2 tools are called at once | 932 in, 768 cached, 120 written, 41 out",
    ),
    (
        "truncated.sse",
        Form::Tools,
        "StreamBroken: broke the connection: the answer ends in the middle, after 724 bytes",
    ),
    ("refusal.sse", Form::Tools, "ModelDeclined: has a model that refuses: it gives no reason"),
    ("error.sse", Form::Text, "ServerError: has a problem (529): Overloaded"),
    (
        "error.json",
        Form::Text,
        "RateLimited: says that there are too many requests (429): Number of requests has exceeded your per-minute rate limit",
    ),
    (
        "garbage.sse",
        Form::Text,
        "MalformedAnswer: sent something that is not a model's answer: an event that is not JSON: <<<",
    ),
    (
        "../page.html",
        Form::Text,
        "MalformedAnswer: sent something that is not a model's answer: a web page, \"502 Bad Gateway\"",
    ),
];

/// What an answer comes to, and the text that was shown meanwhile.
fn read<'b>(mut decoder: Decoder, pieces: impl Iterator<Item = &'b [u8]>) -> (String, String) {
    let mut shown = String::new();
    for piece in pieces {
        if let Err(error) = decoder.push(piece, &mut |text| shown.push_str(text)) {
            return (format!("{}: {error}", error.code()), shown);
        }
    }
    let answered = match decoder.finish(&mut |text| shown.push_str(text)) {
        Ok(answered) => answered,
        Err(error) => return (format!("{}: {error}", error.code()), shown),
    };
    let how = match (answered.called, answered.cut) {
        (true, _) => "call: ",
        (_, true) => "cut: ",
        _ => "",
    };
    let tokens = answered.tokens.map_or("not counted".to_owned(), |tokens| {
        let skillful_model::answer::Tokens { input, cached, cache_written, output } = tokens;
        format!("{input} in, {cached} cached, {cache_written} written, {output} out")
    });
    let what = match &answered.decision {
        Ok(Understood { decision, .. }) => {
            // What was shown early is the text that the decision was read from.
            assert_eq!(shown, answered.text);
            let plan = decision.plan_update.as_ref().map_or("", |_| " + plan");
            match &decision.action {
                Action::FinalAnswer { content } => format!("final_answer {content}{plan}"),
                action => format!("{}{plan}", action.summary()),
            }
        }
        Err(problem) => problem.to_string(),
    };
    (format!("{how}{what} | {tokens}"), shown)
}

fn check(wire: Wire, folder: &str, (name, form, expected): &(&str, Form, &str)) {
    let file = Path::new("tests/fixtures").join(folder).join(name);
    let bytes = fs::read(&file).unwrap();
    let decoder = || {
        let first = Dialect::first(Protocol::Auto, true, TokenLimit::MaxTokens);
        wire.decoder(Dialect { form: *form, ..first })
    };
    let whole = read(decoder(), std::iter::once(&bytes[..]));
    assert_eq!(whole.0, *expected, "{}", file.display());
    assert_eq!(read(decoder(), bytes.chunks(1)), whole, "{} byte by byte", file.display());
    for split in 0..bytes.len() {
        let (first, second) = bytes.split_at(split);
        let seen = read(decoder(), [first, second].into_iter());
        assert_eq!(seen, whole, "{} split at {split}", file.display());
    }
}

#[test]
fn chat_completions_are_read_however_they_are_split() {
    OPENAI.iter().for_each(|case| check(Wire::OpenAi, "openai", case));
}

#[test]
fn messages_are_read_however_they_are_split() {
    ANTHROPIC.iter().for_each(|case| check(Wire::Anthropic, "anthropic", case));
}

#[test]
fn every_recorded_answer_is_in_a_table() {
    for (folder, table) in [("openai", OPENAI), ("anthropic", ANTHROPIC)] {
        let mut files: Vec<String> = fs::read_dir(Path::new("tests/fixtures").join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let mut listed: Vec<&str> =
            table.iter().map(|(name, ..)| *name).filter(|name| !name.starts_with("..")).collect();
        listed.sort_unstable();
        assert_eq!(files, listed);
    }
}

#[test]
fn an_answer_cut_anywhere_is_a_decision_or_a_broken_stream() {
    for (wire, name, form) in [
        (Wire::OpenAi, "openai/tools.sse", Form::Tools),
        (Wire::OpenAi, "openai/schema.sse", Form::Schema),
        (Wire::OpenAi, "openai/schema.json", Form::Schema),
        (Wire::Anthropic, "anthropic/tools.sse", Form::Tools),
        (Wire::Anthropic, "anthropic/schema.json", Form::Schema),
    ] {
        let bytes = fs::read(Path::new("tests/fixtures").join(name)).unwrap();
        let first = Dialect::first(Protocol::Auto, true, TokenLimit::MaxTokens);
        let dialect = Dialect { form, ..first };
        let whole = read(wire.decoder(dialect), std::iter::once(&bytes[..])).0;
        let said = whole.split(" | ").next().unwrap();
        for end in 0..bytes.len() {
            let (seen, _) = read(wire.decoder(dialect), std::iter::once(&bytes[..end]));
            let is_broken = seen.starts_with("StreamBroken") || seen.starts_with("Malformed");
            assert!(is_broken || seen.starts_with(said), "{name} cut at {end}: {seen}");
        }
    }
}
