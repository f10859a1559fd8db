//! Skills' texts in, steps and scripts to run out.

use super::super::file_names::file_names;
use super::super::manual::Manual;

/// A skill's text, a request, and what would be run for it.
fn check(text: &str, request: &str, expected: &[&str]) {
    let runs = Manual::read(text).runs(&file_names(request), request);
    let runs: Vec<String> =
        runs.iter().map(|run| format!("{} {}", run.path, run.args.join("|"))).collect();
    assert_eq!(runs, expected, "{request}\n{text}");
}

#[test]
fn scripts_are_found_where_people_write_them() {
    let run = ["scripts/a.py x.pdf"];
    for text in [
        "## Scripts\n- `scripts/a.py FILE` — fills a form (.pdf)",
        "## Scripts\n\n```sh\nscripts/a.py FILE\n```",
        "Run `python3 scripts/a.py <input>`.",
        "Run `python scripts/a.py input.pdf` on the form.",
        "```bash\npython ./scripts/a.py {pdf_path}\n```",
        "Use `scripts/a.py` for forms. Call it as `scripts/a.py PDF` (.pdf).",
        "* `scripts/a.py FILE [--pages N] [-v]`: forms",
        "`uv run scripts/a.py \"$FILE\"`",
        "## Scripts\nNone.\n\n## Usage\n`bash scripts/a.py INPUT_FILE`",
    ] {
        check(text, "fill in x.pdf", &run);
    }
}

#[test]
fn words_of_a_call_stay_where_they_are() {
    check(
        "`scripts/a.py extract --input FILE --quiet`",
        "fill in x.pdf",
        &["scripts/a.py extract|--input|x.pdf|--quiet"],
    );
}

#[test]
fn files_are_handed_over_as_the_script_takes_them() {
    let one = "`scripts/a.sh FILE` (.csv)";
    check(one, "a.csv b.csv", &["scripts/a.sh a.csv", "scripts/a.sh b.csv"]);
    check(one, "a.csv, a.csv", &["scripts/a.sh a.csv"]);
    let two = "`scripts/a.sh FILE FILE` (.csv)";
    check(two, "compare a.csv with b.csv", &["scripts/a.sh a.csv|b.csv"]);
    check(two, "compare a.csv", &[]);
    check(two, "compare a.csv b.csv c.csv", &[]);
    for many in ["`scripts/a.sh FILE...` (.csv)", "`scripts/a.sh FILE…` (.csv)"] {
        check(many, "a.csv b.csv c.csv", &["scripts/a.sh a.csv|b.csv|c.csv"]);
    }
}

#[test]
fn a_script_is_not_run_on_a_guess() {
    for (text, request) in [
        ("`scripts/a.sh FILE` (.csv)", "summarise it"),
        ("`scripts/a.sh FILE` (.csv)", "summarise x.pdf"),
        ("`scripts/a.sh FILE`", "for my boss, e.g. quickly, v1.2"),
        ("`scripts/a.sh FILE`", "see https://example.com/a.csv"),
        ("`scripts/a.sh FILE` (.csv)", "--delete.csv"),
        ("`scripts/a.sh FILE OUTPUT` (.csv)", "a.csv"),
        ("`scripts/a.sh FILE TITLE` (.csv)", "a.csv"),
        ("`scripts/deploy.sh`", "a.csv"),
        ("`scripts/`: helpers for FILE", "a.csv"),
        ("`rm scripts/a.sh FILE` (.csv)", "a.csv"),
        ("Write scripts/a.sh FILE (.csv)", "a.csv"),
        ("`scripts/a.sh FILE` (.csv)\n`scripts/b.sh FILE` (.csv)", "a.csv"),
    ] {
        check(text, request, &[]);
    }
}

#[test]
fn of_several_scripts_the_words_of_the_request_decide() {
    let text = "## Scripts\n- `scripts/report.sh FILE` — prints a summary (.csv)\n- `scripts/clean.sh FILE` — removes empty rows (.csv)";
    check(text, "print a summary of a.csv", &["scripts/report.sh a.csv"]);
    check(text, "remove the empty rows of a.csv", &["scripts/clean.sh a.csv"]);
    check(text, "do something with a.csv", &[]);
}

/// A skill's text, a request, and the title and the text of what is quoted.
fn check_part(text: &str, request: &str, title: Option<&str>, expected: &str) {
    let part = Manual::read(text).part_for(request);
    assert_eq!(part.title.as_deref(), title, "{request}");
    assert_eq!(part.text, expected, "{request}");
}

#[test]
fn the_section_with_the_steps_is_quoted_whole() {
    let labels = "[Skill: a | source=user]\n[Skill Path: /a]\n[Load Report: sha256=0 truncated=false bytes_read=1]\n";
    let body = "# A\n\nIntro.\n\n## Next Steps\n\nRead on.\n\n## 2. Steps:\n\n1. Do both:\n- one\n- two\n\nThen rest.\n\n## Other\n1. No\n\n[Files of this skill]\n- a.md\n";
    check_part(
        &format!("{labels}{body}"),
        "x",
        Some("2. Steps:"),
        "1. Do both:\n- one\n- two\n\nThen rest.",
    );
    check_part(
        "# A\n\n## Workflow\n\nThink.\n\n### Then\n\nWrite.\n\n## B\nx",
        "y",
        Some("Workflow"),
        "Think.\n\n### Then\n\nWrite.",
    );
}

#[test]
fn the_section_that_the_request_speaks_of_comes_before_the_steps() {
    let text = "# PDF files\n\n## Steps\n\n1. Look.\n\n## Merge PDF files\n\nUse qpdf.\n\n## Split PDF files\n\nUse pdftk.\n\n## Next Steps\n\nFor advanced usage of merge and split, see B.";
    check_part(text, "please merge these pdf files", Some("Merge PDF files"), "Use qpdf.");
    check_part(text, "how do I split a PDF?", Some("Split PDF files"), "Use pdftk.");
    check_part(text, "what about pdf files?", Some("Steps"), "1. Look.");
    check_part(text, "merge and split", Some("Steps"), "1. Look.");
    let untitled = "# A\n\n## First\n\nRotate pages with qpdf.\n\n## Second\n\nCount words.";
    check_part(untitled, "rotate the pages", Some("First"), "Rotate pages with qpdf.");
}

#[test]
fn without_such_a_section_the_text_is_quoted_from_its_beginning() {
    check_part("# A\n\nJust do it.\n\n[Files of this skill]\n- b", "x", None, "Just do it.");
    check_part("Only:\n\n- this", "x", None, "Only:\n\n- this");
    check_part("## Next Steps\n\nNone.", "x", None, "## Next Steps\n\nNone.");
    check_part("", "x", None, "");
}

#[test]
fn a_long_part_ends_with_a_paragraph_and_announces_nothing() {
    let cut = |end: &str| {
        let text = format!("# A\n\n{}{end}", "word word\n".repeat(398));
        let part = Manual::read(&text).part_for("x");
        assert!(part.is_cut);
        part.text
    };
    let long = "y".repeat(100);
    assert!(cut(&format!("\nDo this:\n\n- {long}")).ends_with("word word"));
    assert!(cut(&format!("\n## More\n\n- {long}")).ends_with("word word"));
    assert!(cut(&format!("\n```sh\nx\n\n{long}\n```")).ends_with("\n```sh\nx\n```"));
    let whole = Manual::read("# A\n\nshort").part_for("x");
    assert!(!whole.is_cut);
}

#[test]
fn file_names_are_words_with_an_extension() {
    for (request, expected) in [
        ("Summarise sales.csv", vec!["sales.csv"]),
        ("Summarise sales.csv.", vec!["sales.csv"]),
        ("(see ./data/a.b.TSV, please!)", vec!["./data/a.b.TSV"]),
        (
            "'my sales.csv' and \"it's.md\" and `a b.txt`",
            vec!["my sales.csv", "it's.md", "a b.txt"],
        ),
        ("it's about the user's x.csv", vec!["x.csv"]),
        ("“Größe 1.csv”", vec!["Größe 1.csv"]),
        ("what's in a.csv?", vec!["a.csv"]),
        ("version 1.2.3, 3.14, .gitignore, a., ..", vec![]),
        ("-rf.csv --x=a.csv ~/x.csv /etc/x.conf", vec!["~/x.csv", "/etc/x.conf"]),
        ("x.superlongextension", vec![]),
        ("", vec![]),
        ("\"", vec![]),
    ] {
        assert_eq!(file_names(request), expected, "{request}");
    }
}
