//! Ways to hide a command, composed at random, for this crate alone and for a real bash.

use proptest::prelude::*;
use proptest::sample::select;
use skillful_shell::read;

use super::is_noticed;

/// The program that must not run unseen.
pub(crate) const MARKER: &str = "marker";

/// Spellings of one word.
fn spelling(word: &'static str) -> impl Strategy<Value = String> {
    let letters: Vec<char> = word.chars().collect();
    let way = select((0..12_usize).collect::<Vec<_>>());
    (proptest::collection::vec(way, letters.len()), select(vec![0, 1, 2, 3, 4, 5, 6, 7])).prop_map(
        move |(ways, whole)| match whole {
            0 | 1 => word.to_owned(),
            2 => format!("'{word}'"),
            3 => format!("\"{word}\""),
            4 => format!(
                "$'{}'",
                letters.iter().map(|c| format!("\\x{:02x}", *c as u32)).collect::<String>()
            ),
            _ => letters.iter().zip(&ways).map(|(letter, way)| spelled(*letter, *way)).collect(),
        },
    )
}

fn spelled(letter: char, way: usize) -> String {
    match way {
        0 => format!("\\{letter}"),
        1 => format!("'{letter}'"),
        2 => format!("\"{letter}\""),
        3 => format!("''{letter}"),
        4 => format!("{letter}\"\""),
        5 => format!("$'\\{:o}'", letter as u32),
        6 => format!("$'\\u{:04x}'", letter as u32),
        7 => format!("\\\n{letter}"),
        8 => format!("[{letter}]"),
        9 => format!("$(){letter}"),
        _ => letter.to_string(),
    }
}

fn quote(line: &str) -> String {
    format!("'{}'", line.replace('\'', r"'\''"))
}

fn double(line: &str) -> String {
    let escaped =
        line.replace('\\', r"\\").replace('"', "\\\"").replace('$', "\\$").replace('`', "\\`");
    format!("\"{escaped}\"")
}

fn backquoted(line: &str) -> String {
    line.replace('\\', r"\\").replace('`', "\\`").replace('$', "\\$")
}

/// A line that runs the line it is made of.
fn around(line: &str, way: usize) -> String {
    let quoted = quote(line);
    let doubled = double(line);
    match way {
        0 => format!("true && {line}"),
        1 => format!("false || {line}"),
        2 => format!("echo a; {line}"),
        3 => format!("echo a | {line}"),
        4 => format!("({line})"),
        5 => format!("{{ {line}\n}}"),
        6 => format!("echo $({line}\n)"),
        7 => format!("echo \"$({line}\n)\""),
        8 => format!("echo `{}`", backquoted(line)),
        9 => format!("eval {quoted}"),
        10 => format!("sh -c {quoted}"),
        11 => format!("bash -ec {doubled}"),
        12 => format!("env A=b bash -c {quoted}"),
        13 => format!("f() {{ {line}\n}}; f"),
        14 => format!("function g {{ {line}\n}}\ng"),
        15 => format!("if true; then {line}\nfi"),
        16 => format!("if {line}\nthen true; fi"),
        17 => format!("for x in 1; do {line}\ndone"),
        18 => format!("while true; do {line}\nbreak; done"),
        19 => format!("case a in b) true;; a) {line}\n;; esac"),
        20 => format!("bash <<'END'\n{line}\nEND"),
        21 => format!("cat <<END\n$({line}\n)\nEND"),
        22 => format!("find . -maxdepth 0 -exec sh -c {quoted} \\;"),
        23 => format!("echo a | xargs -I{{}} sh -c {quoted}"),
        24 => format!("timeout 5 sh -c {quoted}"),
        25 => format!("nice -n 1 nohup bash -c {quoted}"),
        26 => format!("! {line}"),
        27 => format!("x=1\n{line}"),
        28 => format!("# comment\n{line}"),
        29 => format!("echo '#' ; {line} # end"),
        30 => format!("cat <<'A' <<\"B\"\n'\nA\n\"\nB\n{line}"),
        31 => format!("cat <({line}\n)"),
        32 => format!("trap {quoted} EXIT"),
        33 => format!("echo {quoted} | sh"),
        34 => format!("bash -c 'eval \"$1\"' x {quoted}"),
        35 => format!("x={quoted}; eval \"$x\""),
        36 => format!("echo ${{x:-$({line}\n)}}"),
        37 => format!("[[ $({line}\n) ]]"),
        38 => format!("echo \\\n a && {line}"),
        39 => format!("command bash -c {quoted}"),
        40 => format!("exec bash -c {quoted}"),
        41 => format!("time {line}"),
        42 => format!(". /dev/stdin <<'E'\n{line}\nE"),
        43 => format!("git -c alias.x={} x", quote(&format!("!{line}"))),
        44 => format!("echo a | sed -n {}", quote(&format!("1e {}", line.replace('\n', " ")))),
        45 => format!(
            "awk {}",
            quote(&format!(
                "BEGIN {{ system(\"{}\") }}",
                line.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
            ))
        ),
        46 => format!("a[$({line}\n)0]=1"),
        47 => format!("echo $(( $({line}\n)1 ))"),
        48 => format!("PS4={}; set -x; true", quote(&format!("$({line})"))),
        49 => format!("coproc {{ {line}\n}}; wait"),
        50 => format!("RANDOM={}", quote(&format!("a[$({line}\n)]"))),
        51 => format!("x=1 OPTIND={}", quote(&format!("a[$({line}\n)]"))),
        52 => format!("export SECONDS={}", quote(&format!("a[$({line}\n)]"))),
        53 => format!("for LINENO in {}; do :; done", quote(&format!("a[$({line}\n)]"))),
        54 => format!("true & wait -np {}", quote(&format!("a[$({line}\n)]"))),
        55 => format!("echo > ./-v; [ -[v] {} ]", quote(&format!("a[$({line}\n)]"))),
        56 => format!("echo > ./-v; printf -[v] {} x", quote(&format!("a[$({line}\n)]"))),
        57 => format!("bash -c - {quoted}"),
        58 => format!("sh -c +e {quoted}"),
        59 => format!("bash -oc errexit {quoted}"),
        60 => format!("bash -eoc errexit {quoted}"),
        61 => format!("dash -c -e - {quoted}"),
        62 => format!("env =x sh -c {quoted}"),
        63 => format!("find /bin/sh -exec env {{}} -c {quoted} \\;"),
        64 => format!("git ls-remote --u={quoted} ."),
        _ => line.to_owned(),
    }
}

const WAYS: usize = 67;

/// A line that runs the marker, as far as shells agree.
pub(crate) fn hidden() -> impl Strategy<Value = String> {
    let call = (
        spelling(MARKER),
        select(vec!["", " a", " 'b c'", " $x", " \"$x\"", " *", " > out", " &"]),
        0..14_usize,
    )
        .prop_map(|(marker, arguments, prefix)| {
            let prefix = match prefix {
                0 => "env ",
                1 => "env -i A=b ",
                2 => "timeout 3 ",
                3 => "nohup ",
                4 => "A=b ",
                5 => "command ",
                6 => "> out ",
                7 => "2>&1 ",
                8 => "stdbuf -o0 ",
                9 => "echo a | xargs ",
                10 => "find . -maxdepth 0 -exec ",
                11 => "time ",
                _ => "",
            };
            let end = if prefix.starts_with("find") { " {} +" } else { "" };
            let arguments = if end.is_empty() { arguments } else { "" };
            format!("{prefix}{marker}{arguments}{end}")
        });
    (call, proptest::collection::vec(0..WAYS, 0..4))
        .prop_map(|(call, ways)| ways.into_iter().fold(call, |line, way| around(&line, way)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_hidden_command_is_found_or_somebody_must_look(line in hidden()) {
        let read = read(&line);
        prop_assert!(is_noticed(&read, MARKER), "{line}\n{read:#?}");
    }

    #[test]
    fn any_text_is_read_to_the_same_end(line in prop_oneof!["\\PC{0,40}", "[a-c \\t\n|&;<>(){}'\"$`\\\\=#*?!~é,.-]{0,24}"]) {
        let found = read(&line);
        for command in &found.commands {
            prop_assert!(!command.words.is_empty());
            let text = command.text();
            prop_assert!(!command.shadows().contains(&text));
            if let Some(pattern) = command.always() {
                prop_assert!(text.starts_with(pattern.trim_end_matches('*').trim_end()), "{pattern}: {text}");
            }
        }
        let behind = read(&format!("true; {line}"));
        if found.is_clear() && behind.is_clear() {
            prop_assert!(behind.commands.len() > found.commands.len());
        }
    }
}
