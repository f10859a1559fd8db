//! Skills' texts in, steps and scripts to run out.

use super::super::file_names::file_names;
use super::super::manual::Manual;

/// A skill's text, a request, and what would be run for it.
fn check(text: &str, request: &str, expected: &[&str]) {
    let runs = Manual::read(text).runs(request);
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

#[test]
fn steps_are_the_numbered_list_of_their_section() {
    let steps = |text: &str| Manual::read(text).steps;
    let labels = "[Skill: a | source=user]\n[Skill Path: /a]\n[Load Report: sha256=0 truncated=false bytes_read=1]\n";
    let body = "# A\n\nIntro.\n\n## Steps\n\nDo this:\n\n1. One,\n   more.\n2. Two.\n\nThen rest.\n\n## Other\n1. No\n\n[Files of this skill]\n- a.md\n";
    assert_eq!(steps(&format!("{labels}{body}")), "1. One,\n   more.\n2. Two.");
    assert_eq!(
        steps("# A\n\n## Workflow\n\nThink, then write.\n\n## B\nx"),
        "## Workflow\n\nThink, then write."
    );
    assert_eq!(steps("# A\n\nJust do it.\n\n[Files of this skill]\n- b"), "# A\n\nJust do it.");
    let long = steps(&format!("# A\n{}", "line\n".repeat(2_000)));
    assert_eq!((long.len(), long.ends_with("line")), (3_998, true));
    assert_eq!(steps(""), "");
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
