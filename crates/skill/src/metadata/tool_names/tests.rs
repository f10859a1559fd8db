use super::*;

#[track_caller]
fn check(list: &str, expected: &[&str]) {
    assert_eq!(mapped(&split(list)), expected, "{list}");
}

#[test]
fn names_of_other_hosts_are_mapped() {
    let pairs = [
        ("Read", "read_file"),
        ("Grep", "grep"),
        ("Glob", "list_dir"),
        ("LS", "list_dir"),
        ("Write", "write_file"),
        ("Edit", "edit_file"),
        ("Read(./docs/**)", "read_file"),
        ("WebFetch", "network_request"),
        ("WebFetch(domain:example.com)", "network_request"),
    ];
    pairs.iter().for_each(|(theirs, ours)| check(theirs, &[ours]));
}

#[test]
fn other_names_are_kept_as_they_are() {
    check(
        "read_file mcp__server__tool Task read bash",
        &["read_file", "mcp__server__tool", "Task", "read", "bash"],
    );
    check("Custom(x y)", &["Custom(x y)"]);
}

#[test]
fn commas_and_spaces_part_names_but_not_within_parentheses() {
    check("Bash(git add:*) Read", &["run_command", "run_script", "read_file"]);
    check("Bash(git add:*, git rm:*),Read", &["run_command", "run_script", "read_file"]);
    check(" Read ,, Grep\n\tWrite ", &["read_file", "grep", "write_file"]);
    check("Bash(a (b c) d) Read", &["run_command", "run_script", "read_file"]);
    check("Read) Grep", &["Read)", "grep"]);
    check("", &[]);
    check(" , ", &[]);
}

#[test]
fn each_name_comes_once_in_the_order_written() {
    check(
        "Edit Bash(git:*) Write Bash(ls:*) Read",
        &["edit_file", "run_command", "run_script", "write_file", "read_file"],
    );
}

#[test]
fn a_parenthesis_that_is_never_closed_allows_no_further_tool() {
    check("Read Bash(git add, Write", &["read_file", "run_command", "run_script"]);
}

#[test]
fn commands_in_parentheses_narrow_the_shell() {
    let check = |list: &str, expected: Option<&[&str]>| {
        let expected: Option<Vec<String>> =
            expected.map(|patterns| patterns.iter().map(|pattern| (*pattern).to_owned()).collect());
        assert_eq!(commands(&split(list)), expected, "{list}");
    };
    check("Bash(git:*) Read", Some(&["git *"]));
    check(
        "Bash(git add:*, git rm:*), Bash(npm test)",
        Some(&["git add *", "git rm *", "npm test"]),
    );
    for list in ["Bash", "Bash(*)", "Bash(git:*) Bash", "Read", "run_command Bash(git:*)"] {
        check(list, None);
    }
}
