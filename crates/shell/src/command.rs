//! One command, and the texts under which rules know it.

use crate::always;
use crate::programs::{hides, is_harmless, unversioned};
use crate::word::Word;

/// A simple command that would run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments, without quotes. Where a value is only known when it runs, what was written.
    pub words: Vec<String>,
    shown: Vec<String>,
    /// The commands that it lies in, the outermost first.
    outer: Vec<String>,
}

impl Command {
    pub(crate) fn new(words: &[Word], outer: &[String]) -> Self {
        Self {
            words: words.iter().map(|word| word.text.clone()).collect(),
            shown: words.iter().map(Word::shown).collect(),
            outer: outer.to_vec(),
        }
    }

    /// The command for rules: its words with a blank between them, in quotes where they need them.
    pub fn text(&self) -> String {
        self.shown.join(" ")
    }

    /// Other texts under which a rule that denies must find it: without the folder of the program or the number of its
    /// version, without quotes, without what stands before a subcommand, and the commands that it lies in.
    pub fn shadows(&self) -> Vec<String> {
        let mut texts = vec![self.words.join(" ")];
        let rest = self.shown.get(1..).unwrap_or_default();
        let program = self.words.first().map(String::as_str).unwrap_or_default();
        let base = base_name(program);
        let is_number =
            |version: &str| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let major = base
            .split_once('.')
            .filter(|(_, minor)| is_number(minor))
            .map_or(base, |(name, _)| name);
        let mut names = vec![base];
        names.extend(
            [major, unversioned(base)].into_iter().filter(|name| *name != base && !name.is_empty()),
        );
        for name in names {
            texts.push(join(name, rest));
            texts.push(join(name, self.words.get(1..).unwrap_or_default()));
            texts.extend(without_options(rest).into_iter().map(|rest| join(name, &rest)));
        }
        if base == "rm" {
            texts.extend(self.removing());
        }
        if let Some(at) = self.inner_program() {
            texts.push(self.words[at..].join(" "));
            texts.push(join(base_name(&self.words[at]), &self.words[at + 1..]));
        }
        texts.extend(self.outer.iter().cloned());
        let own = self.text();
        let mut seen = Vec::new();
        for text in texts {
            if text != own && !seen.contains(&text) {
                seen.push(text);
            }
        }
        seen
    }

    /// Whether it needs no rule: a builtin that touches nothing but the shell that runs the line.
    pub fn is_harmless(&self) -> bool {
        is_harmless(&self.words)
    }

    /// Whether it can run other programs that no rule sees: code of its own, a file, what it is told.
    pub fn hides(&self) -> bool {
        hides(&self.words)
    }

    /// The narrowest pattern that is useful for the next time; nothing where none is safe.
    pub fn always(&self) -> Option<String> {
        let starts_another = self.inner_program().is_some();
        if starts_another { None } else { always::pattern(&self.words, &self.shown) }
    }

    /// `rm` by what it does, in whatever way the options were written.
    fn removing(&self) -> Vec<String> {
        let (options, paths): (Vec<&String>, Vec<&String>) =
            self.words[1..].iter().partition(|word| word.starts_with('-') && word.len() > 1);
        let letter = |letters: [char; 2], long: &str| {
            options.iter().any(|option| {
                let is_long = option.starts_with("--");
                is_long && option.len() > 3 && long.starts_with(option.as_str())
                    || !is_long && option.contains(letters)
            })
        };
        let paths: Vec<String> = paths.into_iter().cloned().collect();
        let forms: &[&str] =
            match (letter(['r', 'R'], "--recursive"), letter(['f', 'f'], "--force")) {
                (true, true) => &["rm -rf", "rm -fr", "rm -r -f", "rm -r", "rm -f"],
                (true, false) => &["rm -r", "rm -R"],
                (false, true) => &["rm -f"],
                (false, false) => &[],
            };
        forms.iter().map(|form| join(form, &paths)).collect()
    }

    /// Where the program of `npx PROGRAM`, `uv run PROGRAM` and the like stands.
    fn inner_program(&self) -> Option<usize> {
        let word = |at: usize| self.words.get(at).map(String::as_str).unwrap_or_default();
        let start = match (base_name(word(0)), word(1)) {
            ("npx" | "bunx" | "pnpx" | "uvx", _) => 1,
            ("npm" | "pnpm" | "yarn" | "bundle" | "bun", "exec" | "x" | "dlx") => 2,
            (
                "uv" | "poetry" | "pipenv" | "pdm" | "hatch" | "rye" | "conda" | "pixi" | "pipx",
                "run",
            ) => 2,
            _ => return None,
        };
        (start..self.words.len()).find(|at| !self.words[*at].starts_with('-'))
    }
}

/// The last part of a program's path.
pub(crate) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn join(first: &str, rest: &[String]) -> String {
    let mut text = first.to_owned();
    for word in rest {
        text.push(' ');
        text.push_str(word);
    }
    text
}

/// The arguments without options before the first other word: with the words after them taken for values, and not.
fn without_options(words: &[String]) -> Vec<Vec<String>> {
    if !words.first().is_some_and(|word| word.starts_with('-')) {
        return Vec::new();
    }
    let skip = |takes_values: bool| {
        let mut at = 0;
        while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
            let has_value = takes_values && !word.contains('=');
            at += if has_value { 2 } else { 1 };
        }
        words.get(at..).unwrap_or_default().to_vec()
    };
    // One option has a value and the next has none: the subcommand is among the first few words.
    let mut all = vec![skip(false), skip(true)];
    let options = words.iter().take(8).take_while(|word| word.starts_with('-')).count();
    all.extend((1..=options + 1).map(|at| words.get(at..).unwrap_or_default().to_vec()));
    all
}
