use super::*;

fn check(path: &str, expected: &str) {
    let shown = match steps(path) {
        Ok(steps) => format!("{steps:?}"),
        Err(error) => error.to_string(),
    };
    assert_eq!(shown, expected, "{path}");
}

#[test]
fn a_path_is_a_root_and_steps() {
    check("$", "[]");
    check("$.action.type", r#"[Key("action"), Key("type")]"#);
    check("$.skills[*].name", r#"[Key("skills"), Any, Key("name")]"#);
    check("$.a.*[17]", r#"[Key("a"), Any, Index(17)]"#);
    check("$.clé d'or", r#"[Key("clé d'or")]"#);
}

#[test]
fn a_misspelt_path_says_where() {
    check("", "path `` makes no sense at byte 0");
    check("action", "path `action` makes no sense at byte 0");
    check("$action", "path `$action` makes no sense at byte 1");
    check("$.a..b", "path `$.a..b` makes no sense at byte 3");
    check("$.a.", "path `$.a.` makes no sense at byte 3");
    check("$.a[", "path `$.a[` makes no sense at byte 3");
    check("$.a[x]", "path `$.a[x]` makes no sense at byte 3");
    check("$.a[+1]", "path `$.a[+1]` makes no sense at byte 3");
    check("$[99999999999999999999]", "path `$[99999999999999999999]` makes no sense at byte 1");
}
