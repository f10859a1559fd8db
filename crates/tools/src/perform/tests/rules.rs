//! An approval for a directory does not reach what the rules keep back in it.

use serde_json::json;

use super::{World, engine};

fn check(user: &str, searched: &str, listed: &str) {
    let mut world = World::new(&[("d/open.txt", "x"), ("d/private/a.txt", "x")]);
    world.engine = engine(user);
    assert_eq!(world.shown("grep", json!({"pattern": "x", "path": "d"})), searched, "{user}");
    assert_eq!(world.shown("list_dir", json!({"path": "d", "depth": 2})), listed, "{user}");
}

#[test]
fn denied_files_are_neither_searched_nor_listed() {
    let all = "d/open.txt:1:x\nd/private/a.txt:1:x\n";
    let open = "d/open.txt:1:x\n";
    let everything = "open.txt  1 bytes\nprivate/\nprivate/a.txt  1 bytes\n";
    check("{}", all, everything);
    check(r#"{"read_file": {"d/private*": "deny"}}"#, open, "open.txt  1 bytes\n");
    check(r#"{"grep": {"d/private/*": "deny"}}"#, open, everything);
    check(r#"{"grep": {"d/private/*": "ask"}}"#, open, everything);
    check(r#"{"list_dir": {"d/private": "deny"}}"#, all, "open.txt  1 bytes\n");
}
