//! Secrets are in no file of a run, and what the model wants done is done word for word.

use super::*;

/// Nothing below the runs has these words in it, but for the files themselves that a run changed.
fn assert_nowhere(world: &World, words: &str) {
    assert_eq!(world.run(&format!("grep -rlaF '{words}' .agent/runs || echo none")), "none\n");
}

#[test]
fn a_file_is_written_word_for_word_and_recorded_without_secrets() {
    let text = format!("key = \"{TOKEN}\"\nurl = \"postgres://me:s3cr3t@db\"\n");
    let world = scripted(json!([write("settings.py", &text), answer("done")]));
    run(&world, "--approve write_file --apply");
    assert_eq!(world.read("project/settings.py"), text);
    assert_nowhere(&world, TOKEN);
    assert_nowhere(&world, "s3cr3t");
    assert_sound(&world);
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_script_gets_its_arguments_word_for_word() {
    let turns = json!([select(&["s"]), script("s", &["password=hunter42x"]), answer("done")]);
    let world = scripted(turns);
    skill(&world, "s", "test \"$1\" = 'password=hunter42x'\n");
    run(&world, "--yes");
    assert_eq!(codes(&world), [Value::Null, Value::Null]);
    assert_nowhere(&world, "hunter42x");
    assert_sound(&world);
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_script_cannot_read_what_the_file_tools_hide() {
    let code = "cd \"$WORKSPACE_DIR\"; cat .env deploy/server.key notes.md; ls -A\n";
    let world = scripted(json!([select(&["s"]), script("s", &[]), answer("done")]));
    skill(&world, "s", code);
    world
        .write("project/.env", "mauve zebra")
        .write("project/deploy/server.key", "mauve zebra")
        .write("project/notes.md", "plain notes");
    run(&world, "--yes");
    assert_nowhere(&world, "mauve zebra");
    let seen = world.run("cat .agent/runs/*/observations/*");
    assert!(seen.contains("plain notes") && seen.contains("Permission denied"), "{seen}");
    // By another name it is a file like any other, so nothing else kept it back.
    let world = scripted(json!([select(&["s"]), script("s", &[]), answer("done")]));
    skill(&world, "s", "cat \"$WORKSPACE_DIR/colours\"\n");
    world.write("project/colours", "mauve zebra");
    run(&world, "--yes");
    assert!(world.run("cat .agent/runs/*/observations/*").contains("mauve zebra"));
}

#[test]
fn what_is_called_and_where_one_is_are_no_secrets() {
    let text = "token = make_token2(user)\nOLDPWD=/home/user1/project\n";
    let world = scripted(json!([
        call("read_file", json!({"path": "a.py"})),
        write("b.py", text),
        answer("done")
    ]));
    world.write("project/a.py", text);
    run(&world, "--approve write_file --apply");
    assert_eq!(world.read("project/b.py"), text);
    assert_nowhere(&world, "[redacted");
}

#[test]
fn what_the_model_saw_in_place_of_a_secret_does_not_replace_it() {
    let compose = "image: db:1\nurl: postgres://me:s3cr3t@db\n";
    let seen = "image: db:2\nurl: postgres://me:[redacted:url_password]@db\n";
    let world = scripted(json!([
        call("read_file", json!({"path": "compose.yml"})),
        write("compose.yml", seen),
        write("copy.yml", seen),
        write("copy.yml", &format!("{seen}# once more\n")),
        answer("done")
    ]));
    world.write("project/compose.yml", compose);
    run(&world, "--approve write_file --apply");
    assert_eq!(world.read("project/compose.yml"), compose);
    // Where there is no secret to lose, the words are words.
    assert_eq!(world.read("project/copy.yml"), format!("{seen}# once more\n"));
    assert_eq!(
        codes(&world),
        [Value::Null, "Redacted".into(), Value::Null, Value::Null, Value::Null]
    );
    assert_sound(&world);
}

#[test]
fn an_action_that_the_record_has_only_in_part_is_not_done_after_an_interruption() {
    let text = format!("key = {TOKEN}\n");
    let world = scripted(json!([write("a", &text), write("a", &text), answer("done")]));
    let asked = run(&world, "");
    assert!(asked.ends_with("[exit 3]\n"), "{asked}");
    let resumed = resume(&world, "--approve write_file --apply");
    assert!(!resumed.contains("[exit"), "{resumed}");
    assert_eq!(codes(&world), ["Redacted".into(), Value::Null, Value::Null]);
    assert_eq!(world.read("project/a"), text);
    assert_nowhere(&world, TOKEN);
    assert_sound(&world);
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn what_a_script_writes_is_kept_without_secrets() {
    let quoted = "correct \"horse\" 42";
    let fill = "head -c 90000 /dev/zero | tr '\\0' x";
    let flood = "head -c 9000000 /dev/zero | tr '\\0' '\\n'";
    for (name, lines) in [
        ("not UTF-8", format!("printf '\\377'; echo {TOKEN}")),
        ("at the beginning of a line", format!("echo; echo {TOKEN}")),
        ("long", format!("{flood}; echo {TOKEN}")),
        // Cut for the model in the middle of it, at the beginning and at the end.
        ("cut", format!("head -c 5980 /dev/zero | tr '\\0' ' '; echo {TOKEN}; {fill}")),
        (
            "cut from the end",
            format!("{fill}; echo; echo {TOKEN}; head -c 2980 /dev/zero | tr '\\0' ' '"),
        ),
        ("quoted", format!("echo 'it is {quoted}'")),
    ] {
        let world = scripted(json!([select(&["s"]), script("s", &[]), answer("done")]))
            .with("THE_PASSWORD", quoted);
        skill(&world, "s", &lines);
        run(&world, "--yes");
        assert_eq!(codes(&world), [Value::Null, Value::Null], "{name}");
        assert_nowhere(&world, &TOKEN[..20]);
        assert_nowhere(&world, &TOKEN[20..]);
        assert_nowhere(&world, "horse");
        assert_sound(&world);
    }
}

#[test]
fn a_file_that_is_read_shows_no_secret() {
    let quoted = "correct \"horse\" 42\nand\nmore";
    let text = format!("first\n{TOKEN}\n{quoted}\n");
    let world = scripted(json!([call("read_file", json!({"path": "a.txt"})), answer("done")]))
        .with("THE_PASSWORD", quoted);
    world.write("project/a.txt", text);
    run(&world, "");
    assert_nowhere(&world, TOKEN);
    assert_nowhere(&world, "horse");
}
