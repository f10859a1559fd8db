use super::*;

#[track_caller]
fn check_command(path: &str, content: &str, expected: Option<&[&str]>) {
    let command = Interpreters::default().command(Path::new(path), content.as_bytes()).ok();
    let words = command.as_ref().map(|words| words.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(words.as_deref(), expected, "{path} {content:?}");
}

#[test]
fn the_extension_names_an_interpreter() {
    check_command("scripts/a.py", "print()", Some(&["python3"]));
    check_command("scripts/a.sh", "", Some(&["sh"]));
    check_command("scripts/a.bash", "", Some(&["bash"]));
    check_command("scripts/a.js", "", Some(&["node"]));
    check_command("scripts/a.mjs", "", Some(&["node"]));
    check_command("scripts/a.ts", "", Some(&["node", "--experimental-strip-types"]));
    check_command("scripts/a.rb", "", Some(&["ruby"]));
    check_command("scripts/a.pl", "", Some(&["perl"]));
    check_command("scripts/a.lua", "", Some(&["lua"]));
    check_command("scripts/a.exe", "MZ", None);
    check_command("scripts/a", "", None);
    check_command("scripts/.py", "", None);
}

#[test]
fn the_first_line_comes_before_the_extension() {
    check_command("scripts/a.py", "#!/bin/sh\n", Some(&["/bin/sh"]));
    check_command("scripts/a", "#!/usr/bin/env python3\r\nx", Some(&["python3"]));
    check_command(
        "scripts/a",
        "#! /usr/bin/env  -S  deno run --quiet\n",
        Some(&["deno", "run", "--quiet"]),
    );
    check_command("scripts/a", "#!/usr/bin/perl -w -T", Some(&["/usr/bin/perl", "-w -T"]));
    check_command("scripts/a.py", "#!\n", None);
    check_command("scripts/a.py", "#!/usr/bin/env\n", None);
    check_command("scripts/a.py", " #!/bin/sh\n", Some(&["python3"]));
}

#[test]
fn an_extension_can_be_given_another_interpreter() {
    let interpreters = Interpreters::default().with("py", vec!["pypy3".into(), "-O".into()]);
    assert_eq!(interpreters.command(Path::new("scripts/a.py"), b"").unwrap(), ["pypy3", "-O"]);
}

#[test]
fn the_table_is_a_plain_map_in_the_configuration() {
    let read: Interpreters = serde_json::from_str(r#"{"py": ["python3.12"]}"#).unwrap();
    assert_eq!(read.command(Path::new("scripts/a.py"), b"").unwrap(), ["python3.12"]);
    assert!(read.command(Path::new("scripts/a.sh"), b"").is_err());
}

#[track_caller]
fn check_location(command: &[&str], path: &[&str], expected: Option<&str>) {
    let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
    let path: Vec<PathBuf> = path.iter().map(PathBuf::from).collect();
    let found = interpreter::locate(&command, &path).ok().map(|(program, _)| program);
    assert_eq!(found.as_deref(), expected.map(Path::new), "{command:?} in {path:?}");
}

#[test]
fn an_interpreter_is_found_on_the_path_only() {
    check_location(&["sh"], &["/nowhere", "/bin"], Some("/bin/sh"));
    check_location(&["/usr/bin/sh"], &["/bin", "/usr/bin"], Some("/usr/bin/sh"));
    check_location(&["/opt/homebrew/bin/sh"], &["/bin"], Some("/bin/sh"));
    check_location(&["/bin/sh"], &["/nowhere"], None);
    check_location(&["no-such-interpreter"], &["/bin"], None);
    check_location(&["passwd"], &["/etc"], None);
    check_location(&[], &["/bin"], None);
    check_location(&["/"], &["/bin"], None);
    check_location(&[".."], &["/bin"], None);
}

#[test]
fn only_reachable_folders_stay_on_the_path() {
    let check = |path: Option<&str>, readable: &[&str], expected: &[&str]| {
        let readable: Vec<PathBuf> = readable.iter().map(PathBuf::from).collect();
        let found = environment::reachable(&path.map(OsString::from), &readable);
        assert_eq!(found, expected.iter().map(PathBuf::from).collect::<Vec<_>>(), "{path:?}");
    };
    let system = ["/usr/local/bin", "/usr/bin", "/bin"];
    check(None, &[], &system);
    check(Some(""), &[], &system);
    check(Some("relative:.:/proc"), &[], &system);
    check(Some("/proc:/usr/bin:/no/such/folder"), &[], &["/usr/bin"]);
    check(Some("/usr/bin/../../proc:/usr/bin"), &[], &["/usr/bin"]);
    check(Some("/usr/bin:/proc"), &["/proc"], &["/usr/bin", "/proc"]);
}

#[test]
fn a_path_must_lie_in_the_skill() {
    for (path, inside) in [
        ("scripts/a.py", true),
        ("scripts/deep/a.py", true),
        ("scripts", true),
        ("scripts/", false),
        ("scripts/.", false),
        ("a.py", true),
        ("references/a.py", true),
        ("scripts/../a.py", false),
        ("scripts/x/../a.py", false),
        ("./scripts/a.py", false),
        ("/scripts/a.py", false),
        ("", false),
    ] {
        assert_eq!(check_path(Path::new(path)).is_ok(), inside, "{path}");
    }
}

#[test]
fn arguments_are_limited() {
    let limits = ArgumentLimits::default();
    let arguments = |count: usize, length: usize| vec![OsString::from("x".repeat(length)); count];
    assert!(check_arguments(&arguments(64, 4096), limits).is_ok());
    let many = check_arguments(&arguments(65, 0), limits).unwrap_err();
    assert_eq!(many.to_string(), "65 arguments, at most 64 are allowed");
    let long = check_arguments(&arguments(1, 4097), limits).unwrap_err();
    assert_eq!(long.to_string(), "argument 1 has 4097 bytes, at most 4096 are allowed");
}

#[test]
fn changed_content_names_both_hashes() {
    let error = ApprovedContent::new(b"x".to_vec(), [0; 32]).unwrap_err().to_string();
    assert!(error.contains(&"00".repeat(32)) && error.contains("2d711642b726b044"), "{error}");
}
