use super::*;

#[track_caller]
fn check(text: &str, path: &str, expected: &[&str]) {
    let names = ["SKILL.md", "assets/logo.png", "references/a.md", "references/b.md"];
    let files = names.map(|path| SkillFile { path: path.to_owned(), size: 0 });
    assert_eq!(referenced(text, path, &files), expected, "{text}");
}

#[test]
fn files_are_found_however_they_are_written() {
    for text in [
        "See references/a.md.",
        "[a](references/a.md)",
        "[a](./references/a.md#part)",
        "`cat references/a.md`",
        "参见：references/a.md（甲）",
        "<references/a.md>",
    ] {
        check(text, "SKILL.md", &["references/a.md"]);
    }
    check("references/b.md, assets/logo.png", "SKILL.md", &["assets/logo.png", "references/b.md"]);
}

#[test]
fn what_is_no_file_of_the_skill_is_none() {
    for text in [
        "references/c.md",
        "https://x.org/references/a.md",
        "../references/a.md",
        "a.md",
        "SKILL.md",
    ] {
        check(text, "SKILL.md", &[]);
    }
}

#[test]
fn a_name_may_be_relative_to_its_text() {
    check("b.md and SKILL.md", "references/a.md", &["SKILL.md", "references/b.md"]);
}
