//! What is known about programs: which only read, which run what they are told, and which arguments make them do so.

use crate::command::base_name;
use crate::git;
use crate::names::Names;
use crate::scripts;
use crate::variables::{changes_what_runs, has_computed_index};
use crate::word::Word;

/// Shells whose `-c` is read as this crate reads lines.
pub(crate) const SHELLS: Names = Names(
    "\
    sh bash dash ash rbash",
);

/// Programs that run code which is given to them.
pub(crate) const INTERPRETERS: Names = Names(
    "\
    python perl ruby node nodejs php lua luajit deno bun Rscript tclsh osascript guile julia groovy
    scala ghci irb erl elixir sbcl racket pwsh ts-node tsx ocaml swift java",
);

/// Programs that only read what they are given, whatever that is.
pub(crate) const READERS: Names = Names(
    "\
    basename cat cksum cmp cut diff dirname du echo egrep fgrep file grep head ls md5sum nl od readlink
    realpath sha1sum sha256sum sha512sum stat tac tail wc",
);

/// Programs that run no other ones, unless an option says so that [`doubt`] knows, or only those that are listed as well.
const ALONE: Names = Names(
    "\
    [ b2sum base32 base64 basename basenc bc break bzip2 cal cat cd chgrp chmod chown cksum cmp column
    comm command continue cp csplit curl cut date dd declare df diff dig dir dircolors dirname dirs disown
    doas dos2unix du echo egrep env exit expand export expr factor false fd fdfind fgrep file find fmt fold
    free getconf getent grep groups gunzip gzip head hexdump host hostid hostname iconv id install ionice
    join jq kill killall ldconfig link ln logname look ls lsblk lscpu lsof lz4 md5sum mkdir mkfifo mknod
    mktemp mv nice nl nohup nproc nslookup numfmt od paste pathchk pdffonts pdfimages pdfinfo
    pdfseparate pdftoppm pdftotext pdfunite pgrep pidof ping pinky pkill popd pr printenv printf ps ptx
    pushd pwd readelf readlink readonly realpath return rev rg rm rmdir sed seq set setsid sha1sum
    sha224sum sha256sum sha384sum sha512sum shift shred shuf sleep sort split ss stat stdbuf strings
    sudo sum sync tac tail tar tee test time timeout times touch tr tree true truncate tsort tty type
    typeset ulimit umask uname unexpand uniq unix2dos unlink unxz unzip uptime users vdir vmstat w wait wc
    whereis which who whoami xargs xxd xz yes zstd : awk gawk mawk nawk gsed original-awk",
);

/// Programs that run others in ways that are not looked into.
const STARTERS: Names = Names(
    "\
    aa-exec asdf at batch bwrap capsh chpst chroot chrt coreutils cpulimit crontab csh daemonize
    dbus-run-session direnv distrobox dtach ed emacs entr ex expect fakeroot firejail fish flatpak flock
    gdb gosu i386 ksh less linux32 linux64 lldb ltrace man mise mksh more most nano nix nix-shell nq
    nsenter numactl nvim parallel perf pkexec prlimit proot proxychains proxychains4 rlwrap run-parts
    runuser scp screen script scriptreplay setarch setpriv sftp softlimit ssh sshpass start-stop-daemon
    strace su su-exec systemd-nspawn systemd-run taskset tcsh tini tmux toolbox torsocks unbuffer
    unshare uname26 valgrind vi view vim vimdiff watch watchexec x86_64 xvfb-run zsh dumb-init catchsegv
    pkttyagent rbenv pyenv nodenv ld.so ifne chronic dsh pssh pdsh mosh telnet socat nc ncat netcat",
);

/// Builtins that change what later words mean, or run text.
const CHANGERS: Names = Names(
    "\
    . alias bind builtin caller compgen complete compopt coproc enable eval exec fc fg getopts hash
    history jobs let local logout mapfile read readarray shopt source suspend trap unalias unset",
);

/// Builtins that run in the shell itself, where the index of an array runs commands.
const BUILTINS: Names = Names(
    "\
    [ : break cd continue declare dirs disown echo exit export false kill popd printf pushd pwd
    readonly return set shift test times true type typeset ulimit umask wait",
);

/// Those of them that do nothing with what they are given but show it.
const SHOWING: Names = Names("echo true false :");

pub(crate) const INDEX: &str = "the index of an array can run commands";

/// Long options that name a program to run, by the program that takes them. Shortened ones count as well.
const STARTING_OPTIONS: &[(&str, &[&str])] = &[
    (
        "tar",
        &[
            "to-command",
            "checkpoint-action",
            "use-compress-program",
            "rsh-command",
            "rmt-command",
            "info-script",
            "new-volume-script",
        ],
    ),
    ("bsdtar", &["use-compress-program"]),
    ("curl", &["config", "engine"]),
    ("rsync", &["rsh", "rsync-path"]),
    ("sort", &["compress-program"]),
    ("split", &["filter"]),
    ("install", &["strip-program"]),
    ("wget", &["use-askpass"]),
    ("zip", &["unzip-command"]),
    ("cpio", &["rsh-command"]),
    ("rg", &["pre", "hostname-bin"]),
    ("env", &["split-string"]),
    ("bat", &["pager"]),
    ("delta", &["pager"]),
];

/// Options of one letter that do the same.
const STARTING_LETTERS: &[(&str, &str)] =
    &[("tar", "IF"), ("bsdtar", "I"), ("curl", "K"), ("rsync", "e"), ("zip", "T"), ("env", "S")];

/// Whether a program does nothing to the files it is given but read or remove them, or is one that has rules of its own.
pub(crate) fn only_reads(name: &str) -> bool {
    READERS.contains(name)
        || SHOWING.contains(name)
        || SHELLS.contains(name)
        || Names("[ test printf git rg find fd fdfind rm rmdir jq command type which tree")
            .contains(name)
}

/// Why a command cannot be vouched for, whatever rules say about it.
pub(crate) fn doubt(name: &str, words: &[Word]) -> Option<&'static str> {
    let arguments = &words[1..];
    let texts = || arguments.iter().map(|word| word.text.as_str());
    if CHANGERS.contains(name) && name != "builtin" {
        return Some("it runs text, or changes what later words mean");
    }
    if BUILTINS.contains(name) && !SHOWING.contains(name) {
        if arguments.iter().any(|word| word.is_glob) {
            return Some("a file with the name of an option would be taken for one");
        }
        if texts().any(has_computed_index) {
            return Some(INDEX);
        }
    }
    if STARTERS.contains(name) || name.starts_with("ld-linux") || name.starts_with("ld-musl") {
        return Some("it can run any other program");
    }
    let takes_options = STARTING_OPTIONS.iter().any(|(program, _)| *program == name);
    let is_risky = |word: &Word| {
        word.is_glob && (runs_text(name, arguments) || takes_options && !word.is_anchored())
    };
    if arguments.iter().any(is_risky) {
        return Some("a file with the name of an option would be taken for one");
    }
    if starts_by_option(name, arguments) {
        return Some("one of its options runs another program");
    }
    match name {
        "git" => git::doubt(arguments),
        "sed" | "gsed" => scripts::sed(arguments),
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => scripts::awk(arguments),
        "ip" if texts().any(|text| text.starts_with("exec")) => {
            Some("it can run any other program")
        }
        "set" if !harmless_set(arguments) => Some("it changes what later words mean"),
        "printf" if !prints(texts()) => Some("it sets a variable"),
        "wait" if !texts().all(is_waited_for) => Some("it sets a variable"),
        "test" | "[" if texts().any(|text| matches!(text, "-v" | "-R")) => Some(INDEX),
        "declare" | "typeset" | "export" | "readonly" if !declares_harmlessly(arguments) => {
            Some("it changes what later words mean")
        }
        _ => None,
    }
}

/// Programs to which the name of a file can be a program, or text that is run.
fn runs_text(name: &str, arguments: &[Word]) -> bool {
    let is_told =
        |word: &Word| !word.is_literal() || word.text.starts_with(['-', '+']) || word.text == "run";
    // What follows the name of a script is for that script.
    let is_script_unknown = arguments.first().is_some_and(is_told);
    let takes_script = SHELLS.contains(name) || INTERPRETERS.contains(unversioned(name));
    takes_script && is_script_unknown
        || Names("xargs find fd fdfind sed gsed awk gawk mawk nawk original-awk").contains(name)
}

fn starts_by_option(name: &str, arguments: &[Word]) -> bool {
    let long =
        STARTING_OPTIONS.iter().filter(|(program, _)| *program == name).flat_map(|(_, long)| *long);
    let long: Vec<&str> = long.copied().collect();
    let letters = STARTING_LETTERS
        .iter()
        .find(|(program, _)| *program == name)
        .map_or("", |(_, letters)| letters);
    arguments.iter().enumerate().any(|(index, word)| match word.text.strip_prefix("--") {
        Some(option) => {
            let given = option.split('=').next().unwrap_or_default();
            !given.is_empty() && long.iter().any(|known| known.starts_with(given))
        }
        None => {
            // `tar` takes its first word for options even without a dash.
            let is_cluster = word.text.starts_with('-') || index == 0 && name == "tar";
            is_cluster && word.text.contains(|letter| letters.contains(letter))
        }
    })
}

/// `set -e`, `set -euo pipefail` and the like.
fn harmless_set(arguments: &[Word]) -> bool {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(letters) =
            word.text.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty())
        else {
            return false;
        };
        if !letters.chars().all(|letter| "euxo".contains(letter)) {
            return false;
        }
        for _ in letters.matches('o') {
            let known = ["pipefail", "errexit", "nounset", "xtrace"];
            if !words.next().is_some_and(|word| known.contains(&&*word.text)) {
                return false;
            }
        }
    }
    !arguments.is_empty()
}

/// Whether `printf` only prints: no option, and no `%n` in its format, which sets a variable.
fn prints<'a>(mut arguments: impl Iterator<Item = &'a str>) -> bool {
    let format = match arguments.next() {
        Some("--") => arguments.next(),
        Some(option) if option.starts_with('-') && option != "-" => return false,
        first => first,
    };
    let mut rest = format.unwrap_or_default();
    while let Some((_, after)) = rest.split_once('%') {
        rest = match after.strip_prefix('%') {
            Some(after) => after,
            None => {
                let kind = after
                    .trim_start_matches(|c: char| !c.is_ascii_alphabetic() && c != '%')
                    .trim_start_matches(['h', 'j', 'l', 'q', 't', 'z', 'L']);
                if kind.starts_with('n') {
                    return false;
                }
                kind
            }
        };
    }
    true
}

/// What `wait` can be given that sets nothing: jobs, and options without a value.
fn is_waited_for(word: &str) -> bool {
    let is_job = word.strip_prefix('%').unwrap_or(word).bytes().all(|b| b.is_ascii_alphanumeric());
    is_job || matches!(word, "-n" | "-f" | "-nf" | "-fn")
}

fn declares_harmlessly(arguments: &[Word]) -> bool {
    arguments.iter().all(|word| {
        let name = word.text.split('=').next().unwrap_or_default();
        !word.is_glob && !changes_what_runs(name)
    })
}

/// Whether a command does no harm with any arguments, known or not.
pub(crate) fn takes_any_value(words: &[Word]) -> bool {
    let arguments = &words[1..];
    match &*words[0].text {
        "echo" | "cd" | "pwd" | "true" | "false" | ":" | "exit" | "return" => true,
        "printf" => arguments.first().is_some_and(Word::is_literal),
        "export" => {
            arguments.iter().all(|word| !word.splits && !word.raw.starts_with(['$', '"', '\'']))
        }
        "test" | "[" => {
            let arguments = match arguments {
                [rest @ .., last] if last.text == "]" => rest,
                all => all,
            };
            let arguments = match arguments {
                [first, rest @ ..] if first.text == "!" => rest,
                all => all,
            };
            let is_whole = arguments.iter().all(|word| !word.splits);
            is_whole
                && match arguments {
                    [operator, _] => operator.is_literal(),
                    [_, operator, _] => operator.is_literal() && !operator.text.ends_with("-v"),
                    _ => false,
                }
        }
        _ => false,
    }
}

/// Whether a builtin needs no rule: it touches nothing but the shell that runs the line.
pub(crate) fn is_harmless(words: &[String]) -> bool {
    let Some(program) = words.first() else { return true };
    let has = |option: &str| words[1..].iter().any(|word| word == option);
    let arguments = || words[1..].iter().map(|word| Word::literal(word)).collect::<Vec<_>>();
    match program.as_str() {
        "cd" | "pwd" | "echo" | "true" | "false" | ":" | "exit" | "return" | "umask" | "break"
        | "continue" => true,
        "printf" => prints(words[1..].iter().map(String::as_str)),
        "test" | "[" => !has("-v") && !has("-R"),
        "wait" => words[1..].iter().all(|word| is_waited_for(word)),
        "set" => harmless_set(&arguments()),
        "export" => declares_harmlessly(&arguments()),
        "command" => matches!(words.get(1).map(String::as_str), Some("-v" | "-V")),
        _ => false,
    }
}

/// Whether a program can run others that no rule sees: whatever is not known to run none.
pub(crate) fn hides(words: &[String]) -> bool {
    let Some(program) = words.first() else { return false };
    let name = base_name(program);
    if !is_of_the_system(program) {
        return true;
    }
    match name {
        "git" => !git::only_looks(&words[1..]),
        // `-s` runs `strip`, wherever that is found.
        "install" => words[1..].iter().any(|word| word.starts_with("-") && word.contains('s')),
        _ => !ALONE.contains(name),
    }
}

/// Whether a program is found by its name alone, or lies where the system's programs are.
pub(crate) fn is_of_the_system(program: &str) -> bool {
    let Some((folder, _)) = program.rsplit_once('/') else { return true };
    matches!(folder, "/bin" | "/usr/bin" | "/usr/local/bin" | "/sbin" | "/usr/sbin")
}

/// The program without the number of its version: `python3.12` is `python`.
pub(crate) fn unversioned(program: &str) -> &str {
    let name = base_name(program).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if name.is_empty() { base_name(program) } else { name }
}
