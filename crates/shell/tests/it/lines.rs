//! Lines with what they run, as data.

use skillful_shell::{Command, Line, read};

const LINES: &str = include_str!("lines.txt");

/// The text that an entry of the table stands for.
fn unescaped(entry: &str) -> String {
    let mut text = String::new();
    let mut rest = entry.chars();
    while let Some(character) = rest.next() {
        let character = match character {
            '\\' => match rest.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('x') => {
                    let digits: String = rest.by_ref().take(2).collect();
                    char::from(u8::from_str_radix(&digits, 16).unwrap())
                }
                Some('\\') => '\\',
                Some(other) => {
                    text.push('\\');
                    other
                }
                None => '\\',
            },
            other => other,
        };
        text.push(character);
    }
    text
}

#[test]
fn every_line_of_the_table_is_read_as_it_says() {
    let entries = LINES.lines().filter(|line| !line.starts_with('#'));
    let mut wrong = String::new();
    for entry in entries {
        let [verdict, line, expected] = entry.split('\t').collect::<Vec<_>>()[..] else {
            panic!("not three columns: {entry}")
        };
        let read = read(&unescaped(line));
        let found = if read.is_clear() { "clear" } else { "unclear" };
        let escaped = |text: String| text.replace('\n', "\\n").replace('\t', "\\t");
        let commands: Vec<String> =
            read.commands.iter().map(|command| escaped(command.text())).collect();
        let commands = commands.join(" ¦ ");
        if (found, &*commands) != (verdict, expected) {
            wrong += &format!("{line}\n  {found}, {commands:?}: {:?}\n", read.unclear);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn whatever_runs_rm_in_the_table_lists_it_or_is_unclear() {
    for entry in LINES.lines().filter(|line| line.starts_with("clear")) {
        let [_, line, commands] = entry.split('\t').collect::<Vec<_>>()[..] else { continue };
        let names = ["rm", "/bin/rm", "npx rm", "uv run rm", "./rm", "../../bin/rm"];
        let runs = |command: &str| {
            names.iter().any(|name| command == *name || command.starts_with(&format!("{name} ")))
        };
        if commands.split(" ¦ ").any(runs) {
            assert!(super::is_listed(&read(&unescaped(line)), "rm"), "{line}");
        }
    }
}

fn only(line: &str) -> Command {
    let Line { commands, unclear, .. } = read(line);
    assert!(unclear.is_empty(), "{line}: {unclear:?}");
    commands.into_iter().next_back().unwrap()
}

#[test]
fn always_is_the_narrowest_useful_pattern() {
    for (line, expected) in [
        ("git log --oneline -5", Some("git log *")),
        ("git status", Some("git status *")),
        ("git push origin main", None),
        ("git reset --hard", None),
        ("git -C x log", None),
        ("npm test", Some("npm test")),
        ("npm test -- --watch", Some("npm test *")),
        ("npm run build", Some("npm run build")),
        ("npm run", None),
        ("make check", Some("make check")),
        ("cargo test -p x", Some("cargo test *")),
        ("ls -la", Some("ls *")),
        ("/usr/bin/ls", Some("/usr/bin/ls *")),
        ("./build.sh --fast", Some("./build.sh *")),
        ("python3 scripts/x.py a", Some("python3 scripts/x.py *")),
        ("python3 -m pytest -q", Some("python3 -m pytest *")),
        ("python3 'a b.py'", None),
        ("python3 -c 1", None),
        ("python3", None),
        ("perl -e 1", None),
        ("node x.js", Some("node x.js *")),
        ("bash x.sh", None),
        ("sudo ls", Some("ls *")),
        ("rm -rf x", None),
        ("rm x", None),
        ("find . -name x", None),
        ("curl https://x", None),
        ("npx eslint .", None),
        ("uv run pytest", None),
        ("cd x", None),
        ("sed -n 1p x", Some("sed *")),
        ("pdftotext a b", Some("pdftotext *")),
        ("'a b' c", None),
    ] {
        assert_eq!(only(line).always().as_deref(), expected, "{line}");
    }
    for line in ["env", "xargs cat", "sudo ls", "timeout", "python3 *.py"] {
        assert_eq!(read(line).commands[0].always(), None, "{line}");
    }
}

#[test]
fn shadows_are_the_other_names_of_a_command() {
    for (line, expected) in [
        ("/bin/rm x", "rm x"),
        ("/usr/bin/git push", "git push"),
        ("git -C x push", "git push"),
        ("git --no-pager -C x push", "git push"),
        ("git --no-pager push y", "git push y"),
        ("python3.12 x.py", "python3 x.py"),
        ("python3.12 x.py", "python x.py"),
        ("rm -r --force x", "rm -rf x"),
        ("rm x -fr", "rm -rf x"),
        ("timeout 5 rm x", "timeout 5 rm x"),
        ("sudo -u root rm x", "sudo -u root rm x"),
        ("git commit -m 'a b'", "git commit -m a b"),
        ("npx -y rm x", "rm x"),
        ("uv run -- /bin/rm x", "rm x"),
        ("sh -c 'rm x'", "sh -c 'rm x'"),
    ] {
        let shadows = only(line).shadows();
        assert!(shadows.iter().any(|shadow| shadow == expected), "{line}: {shadows:?}");
    }
    assert!(read("f() { rm -rf x; }; f").shadows().contains(&"rm -rf x".to_owned()));
}

#[test]
fn harmless_builtins_need_no_rule() {
    let ruled = |line: &str| read(line).ruled().map(Command::text).collect::<Vec<_>>();
    assert_eq!(
        ruled("cd x && [ -f y ] && echo \"$z\"; set -e; export A=b; true"),
        Vec::<String>::new()
    );
    assert_eq!(ruled("cd x && make; printf a"), ["make"]);
    assert_eq!(ruled("printf -v x y"), ["printf -v x y"]);
    assert!(read("echo hi").shadows().contains(&"echo hi".to_owned()), "a rule can still deny it");
}

#[test]
fn an_unclear_line_is_itself_a_pattern_and_has_none_for_always() {
    let line = "git log && ls; git log && echo x";
    assert_eq!(read(line).patterns(line), ["git log", "ls"]);
    assert_eq!(read(line).always().unwrap(), ["git log *", "ls *"]);
    let line = "echo $(date)";
    assert_eq!(
        (read(line).patterns(line), read(line).always()),
        (vec![line.to_owned(), "date".to_owned()], None)
    );
    assert_eq!(read("ls && rm x").always(), None);
    assert_eq!(read("echo x").patterns("echo x"), Vec::<String>::new());
}

#[test]
fn a_doubt_says_what_and_why() {
    let doubts = read("echo $(date) && ls").doubts().unwrap();
    assert_eq!(doubts, "`$(date)`: its output becomes part of the line");
    assert_eq!(read("ls").doubts(), None);
}

#[test]
fn whatever_is_not_known_to_run_nothing_else_hides_it() {
    let programs = "make|make --eval=x|python3 -c 1|python3 x.py|perl -e 1|ruby -e 1|node -e 1|php -r 1|\
        sqlite3 x '.shell rm'|ssh-agent rm|gpg-agent --daemon rm|dpkg-architecture -c rm|sh x|bash x|./x|\
        /tmp/rm|choom -n 1 -- rm|uclampset rm|systemd-cat rm|pipesz rm|enosys rm|sg x -c rm|dbus-launch rm|\
        dbus-run-session rm|debconf rm|rpm --eval x|gs x|dc x|m4 x|cmake -E rm x|script -c rm|unshare rm|\
        nsenter rm|chroot x rm|setpriv rm|runuser rm|su -c rm|flock x rm|strace rm|ltrace rm|gdb rm|\
        valgrind rm|perf rm|expect x|tclsh x|lua -e x|yash -c x|posh -c x|nu -c x|xonsh -c x|fish -c x|\
        ksh -c x|mksh -c x|zsh -c x|vim -c x|ed x|less x|man x|rsync a b|scp a b|ssh a|zip -T x|parallel rm|\
        entr rm|watch rm|npx rm|npm exec rm|npm test|docker run rm|cargo test|unknown|./git log|git commit -m x|\
        git push|git checkout x|install -s a b|wget x|patch -p1|php x|R x|bash -c 'make'|timeout 5 make|env make|\
        find . -exec make {} +|busybox make|sudo make|uv run x|pytest|go test|git stash";
    for line in programs.split('|') {
        assert!(!read(line).hides().is_empty(), "{line}");
    }
    let alone = "ls|ls -la | head|git log -p|git status|git diff|grep -r x .|cat x|sed -n 1p x|find . -name x|\
        rm x|cp a b|mkdir -p x|git branch -a|git stash list|git remote -v|cd x && ls|echo x|timeout 5 ls|\
        sh -c 'ls; pwd'|jq . x|/usr/bin/ls|install -m 644 a b";
    for line in alone.split('|') {
        assert_eq!(read(line).hides(), Vec::<String>::new(), "{line}");
    }
}
