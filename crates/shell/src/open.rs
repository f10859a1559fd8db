//! Opens programs that start other programs, so that rules are about what really runs.

use crate::command::{Command, base_name};
use crate::grammar::Simple;
use crate::options::wrapper;
use crate::places;
use crate::programs::{self, READERS, SHELLS};
use crate::variables::{changes_what_runs, has_computed_index};
use crate::word::Word;
use crate::{DEEPEST, Line};

const UNKNOWN_OPTIONS: &str = "its options are not known, so what it starts is not, either";
const CHANGES: &str = "it changes what is run";

impl Line {
    /// One command of the grammar.
    pub(crate) fn simple(&mut self, simple: Simple, outer: &[String], depth: usize) {
        for word in &simple.assignments {
            let name = word.text.split(['=', '[']).next().unwrap_or_default();
            if changes_what_runs(name.trim_end_matches('+')) {
                self.doubt(&word.raw, CHANGES);
            }
            if has_computed_index(&word.text) {
                self.doubt(&word.raw, programs::INDEX);
            }
        }
        if !simple.words.is_empty() {
            self.open(&simple.words, outer, depth);
        }
    }

    fn open(&mut self, words: &[Word], outer: &[String], depth: usize) {
        let Some(program) = words.first() else { return };
        let command = Command::new(words, outer);
        if depth > DEEPEST {
            self.doubt(&command.text(), "commands lie too deep in commands");
            return self.commands.push(command);
        }
        if !program.is_literal() || !is_plain(&program.text) {
            self.doubt(&program.raw, "which program it is, is only known when it runs");
            return self.commands.push(command);
        }
        if program.text.contains("{}") && is_in_find(outer) {
            self.doubt(&command.text(), "it starts the files it finds");
        }
        if let Some(word) = words[1..].iter().find(|word| word.expands)
            && !programs::takes_any_value(words)
        {
            self.doubt(&word.raw, "its value is only known when it runs");
        }
        let name = base_name(&program.text);
        if let Some(why) = programs::doubt(name, words) {
            self.doubt(&command.text(), why);
        }
        if !programs::only_reads(name)
            && let Some(word) = words[1..].iter().find(|word| places::decides_what_runs(word))
        {
            self.doubt(&word.raw, places::WHY);
        }
        // Whoever is called like a wrapper and lies elsewhere may be anything: it needs a rule, too.
        let is_foreign = !programs::is_of_the_system(&program.text);
        let starts = self.starts(name, words, outer, depth, &command);
        match starts {
            Starts::Nothing => self.commands.push(command),
            Starts::Itself(position) => self.commands.insert(position, command),
            Starts::Others(position) if is_foreign => self.commands.insert(position, command),
            Starts::Others(_) => {}
        }
    }

    /// Lists what a command starts.
    fn starts(
        &mut self,
        name: &str,
        words: &[Word],
        outer: &[String],
        depth: usize,
        command: &Command,
    ) -> Starts {
        let position = self.commands.len();
        let outer: Vec<String> = outer.iter().cloned().chain([command.text()]).collect();
        if SHELLS.contains(name) {
            return match self.shell(words, &outer, depth) {
                true => Starts::Others(position),
                false => Starts::Nothing,
            };
        }
        if name == "find" || name == "fd" || name == "fdfind" {
            self.find(name, words, &outer, depth);
            return Starts::Itself(position);
        }
        if name == "eval" || name == "watch" || name == "parallel" {
            let skipped = if name == "eval" { 1 } else { first_operand(words) };
            let line: Vec<&str> = words[skipped..].iter().map(|word| &*word.text).collect();
            self.take(&line.join(" "), &outer, depth + 1);
            return Starts::Itself(position);
        }
        let Some(wrapper) = wrapper(name) else { return Starts::Nothing };
        let is_query = name == "command"
            && words.get(1).is_some_and(|word| matches!(&*word.text, "-v" | "-V" | "-pv" | "-pV"));
        if is_query {
            return Starts::Nothing;
        }
        let Some(mut at) = wrapper.options.skip(&words[1..]).map(|count| count + 1) else {
            self.doubt(&command.text(), UNKNOWN_OPTIONS);
            return Starts::Nothing;
        };
        if name == "env" && words.get(at).is_some_and(|word| word.text == "-") {
            at += 1;
        }
        while wrapper.assigns
            && let Some(name) = words.get(at).and_then(Word::assigned)
        {
            if changes_what_runs(name) {
                self.doubt(&words[at].raw, CHANGES);
            }
            at += 1;
        }
        let operands = words.iter().skip(at).take(wrapper.operands);
        if operands.filter(|word| !word.is_literal()).count() > 0 {
            self.doubt(&command.text(), UNKNOWN_OPTIONS);
        }
        at += wrapper.operands;
        let inner = words.get(at..).unwrap_or_default();
        if inner.is_empty() {
            return Starts::Nothing;
        }
        self.open(inner, &outer, depth + 1);
        if name == "xargs" && !READERS.contains(base_name(&inner[0].text)) {
            self.doubt(&command.text(), "what it reads decides what is run");
        }
        if wrapper.is_listed { Starts::Itself(position) } else { Starts::Others(position) }
    }

    /// `sh -c LINE`; whether there was a line.
    fn shell(&mut self, words: &[Word], outer: &[String], depth: usize) -> bool {
        let text = || words.iter().map(|word| &*word.raw).collect::<Vec<_>>().join(" ");
        let Some((count, has_line)) = shell_options(&words[1..]) else {
            self.doubt(&text(), UNKNOWN_OPTIONS);
            return false;
        };
        match words.get(count + 1) {
            None => {
                self.doubt(&text(), "it runs what it reads");
                false
            }
            Some(word) if has_line && !word.is_literal() => {
                self.doubt(&word.raw, "the line it runs is only known when it runs");
                false
            }
            Some(word) if has_line => {
                if word.text.contains("{}") && is_in_find(outer) {
                    self.doubt(&word.raw, "names of files become part of the line");
                }
                if word.text.starts_with(['-', '+']) {
                    self.doubt(&text(), UNKNOWN_OPTIONS);
                }
                self.take(&word.text, outer, depth + 1);
                true
            }
            Some(word) => {
                if word.text.starts_with(['-', '+'])
                    || word.text.starts_with("/dev/")
                    || word.text.starts_with("/proc/")
                {
                    self.doubt(&text(), "it runs what it reads");
                }
                false
            }
        }
    }

    /// What `find` starts, or deletes, for each file.
    fn find(&mut self, name: &str, words: &[Word], outer: &[String], depth: usize) {
        let mut at = 1;
        while let Some(word) = words.get(at) {
            at += 1;
            match (&*word.text, name) {
                ("-delete", "find") => {
                    self.open(&["rm", "{}"].map(Word::literal), outer, depth + 1)
                }
                ("-exec" | "-execdir" | "-ok" | "-okdir", "find") => {
                    let rest = &words[at..];
                    let Some(end) = end_of_exec(rest) else {
                        self.doubt(&word.raw, "what it starts has no end");
                        self.open(rest, outer, depth + 1);
                        return;
                    };
                    if rest[..end].first().is_none_or(|program| program.text.contains("{}")) {
                        self.doubt(&word.raw, "it starts the files it finds");
                    }
                    self.open(&rest[..end], outer, depth + 1);
                    at += end + 1;
                }
                (text, "fd" | "fdfind")
                    if text.starts_with("-x")
                        || text.starts_with("-X")
                        || text.starts_with("--exec") =>
                {
                    self.doubt(&word.raw, "it starts a program for each file");
                    self.open(&words[at..], outer, depth + 1);
                    return;
                }
                _ => {}
            }
        }
    }
}

/// How many words are options of a shell, and whether a line comes after them; nothing where a shell could read them in
/// another way. What shells agree on is `-eux`, `-o NAME` with the name in the next word, `-c`, and `--` at the end.
fn shell_options(words: &[Word]) -> Option<(usize, bool)> {
    let mut at = 0;
    let mut has_line = false;
    while let Some(word) = words.get(at) {
        if !word.is_literal() {
            return None;
        }
        let text = word.text.as_str();
        if text == "--" {
            return Some((at + 1, has_line));
        }
        if at == 0 && matches!(text, "--norc" | "--noprofile" | "--posix") {
            at += 1;
            continue;
        }
        let Some(letters) = text.strip_prefix('-') else {
            return (!text.starts_with('+')).then_some((at, has_line));
        };
        let (flags, has_name) =
            letters.strip_suffix('o').map_or((letters, false), |flags| (flags, true));
        if letters.is_empty() || !flags.chars().all(|letter| "ceuxvf".contains(letter)) {
            return None;
        }
        has_line |= flags.contains('c');
        at += 1;
        if has_name {
            let names =
                ["pipefail", "errexit", "nounset", "xtrace", "noglob", "verbose", "noclobber"];
            let name = words.get(at).filter(|name| name.is_literal())?;
            if !names.contains(&&*name.text) {
                return None;
            }
            at += 1;
        }
    }
    Some((at, has_line))
}

/// Where what `find` starts ends. A `+` ends it only behind `{}`.
fn end_of_exec(words: &[Word]) -> Option<usize> {
    let is = |at: usize, text: &str| words.get(at).is_some_and(|word| word.text == text);
    (0..words.len()).find(|at| is(*at, ";") || is(*at, "+") && *at > 0 && is(*at - 1, "{}"))
}

/// Whether a command lies in one of `find`, which puts names of files into it.
fn is_in_find(outer: &[String]) -> bool {
    let name = |text: &String| base_name(text.split(' ').next().unwrap_or_default()).to_owned();
    outer.iter().any(|text| matches!(&*name(text), "find" | "fd" | "fdfind"))
}

/// What a command starts, and where in the list that begins.
enum Starts {
    /// Nothing but itself.
    Nothing,
    /// Others, and it counts as well.
    Itself(usize),
    /// Others alone.
    Others(usize),
}

fn first_operand(words: &[Word]) -> usize {
    let operand = words.iter().skip(1).position(|word| !word.text.starts_with('-'));
    operand.map_or(words.len(), |at| at + 1)
}

/// A name that means one program: no letters that look like others, nothing that a terminal hides.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
}
