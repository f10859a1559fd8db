//! How a skill's scripts are called, as its text shows it.

use super::file_names::extension;

/// How a script is called, as in `scripts/report.sh FILE`.
pub(super) struct Usage {
    /// As it is written.
    pub(super) written: String,
    /// Extensions of the files it takes, where they are said.
    pub(super) extensions: Vec<String>,
    path: String,
    words: Vec<Word>,
    /// The line it stands in.
    about: String,
}

/// A word behind the script's path.
#[derive(PartialEq)]
enum Word {
    Itself(String),
    File,
    Files,
    /// Something that the request would have to say, in a way that takes understanding.
    Unknown,
}

/// A script to run.
pub(super) struct ScriptRun {
    pub(super) path: String,
    pub(super) args: Vec<String>,
    /// The files among its arguments.
    pub(super) files: Vec<String>,
    /// What it reads from standard input.
    pub(super) stdin: Option<String>,
}

/// Words before a script's path that only say what runs it.
const INTERPRETERS: [&str; 9] =
    ["bash", "sh", "python", "python3", "node", "ruby", "perl", "uv", "run"];

impl Usage {
    /// What to run for these files; nothing if they are not what the script takes.
    pub(super) fn runs(&self, names: &[&str]) -> Vec<ScriptRun> {
        let fits = |name: &&&str| {
            // Without a word on extensions, `e.g` should not pass for a file.
            self.takes(name)
                || self.extensions.is_empty() && extension(name).is_some_and(|kind| kind.len() > 1)
        };
        let names: Vec<&str> = names.iter().filter(fits).copied().collect();
        let places = self.places();
        if places == 0 || names.len() < places || self.words.contains(&Word::Unknown) {
            return Vec::new();
        }
        let takes_any_number = self.words.contains(&Word::Files);
        if places == 1 && !takes_any_number {
            return names.chunks(1).map(|name| self.run(name)).collect();
        }
        if names.len() == places || takes_any_number { vec![self.run(&names)] } else { Vec::new() }
    }

    /// Whether a file has an extension that the script is said to take.
    pub(super) fn takes(&self, name: &str) -> bool {
        extension(name).is_some_and(|kind| self.extensions.contains(&kind.to_lowercase()))
    }

    /// Whether one file of a known kind is all that it needs.
    pub(super) fn takes_one_known_file(&self) -> bool {
        self.places() == 1 && !self.extensions.is_empty() && !self.words.contains(&Word::Unknown)
    }

    /// What to run for a text that was piped in; the script reads it in place of its only file.
    pub(super) fn reading(&self, text: &str) -> ScriptRun {
        let run = self.run(&["-"]);
        ScriptRun { files: Vec::new(), stdin: Some(text.to_owned()), ..run }
    }

    fn places(&self) -> usize {
        self.words.iter().filter(|word| matches!(word, Word::File | Word::Files)).count()
    }

    fn run(&self, names: &[&str]) -> ScriptRun {
        let files = names.iter().map(|name| (*name).to_owned()).collect();
        let mut names = names.iter().map(|name| (*name).to_owned());
        let mut args = Vec::new();
        for word in &self.words {
            match word {
                Word::Itself(text) => args.push(text.clone()),
                Word::File => args.extend(names.next()),
                Word::Files => args.extend(names.by_ref()),
                Word::Unknown => {}
            }
        }
        ScriptRun { path: self.path.clone(), args, files, stdin: None }
    }

    /// How many words of the request are in the line about the script.
    pub(super) fn likeness(&self, request: &str) -> usize {
        let request = request.to_lowercase();
        let words = request.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
        words.filter(|word| self.about.contains(word)).count()
    }

    fn takes_files(&self) -> bool {
        self.places() > 0
    }
}

/// The scripts that a text shows how to call, in code of a line or in a block of code.
pub(super) fn usages(text: &str) -> Vec<Usage> {
    let mut found: Vec<Usage> = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        let spans: Vec<&str> =
            if in_code { vec![line] } else { line.split('`').skip(1).step_by(2).collect() };
        for usage in spans.into_iter().filter_map(|span| usage(span, line)) {
            match found.iter_mut().find(|known| known.path == usage.path) {
                Some(known) if !known.takes_files() && usage.takes_files() => *known = usage,
                Some(_) => {}
                None => found.push(usage),
            }
        }
    }
    found
}

fn usage(span: &str, line: &str) -> Option<Usage> {
    let mut words = span.split_whitespace().skip_while(|word| INTERPRETERS.contains(word));
    let path = words.next()?;
    let path = path.strip_prefix("./").unwrap_or(path);
    path.strip_prefix("scripts/").filter(|name| !name.is_empty() && !name.ends_with('/'))?;
    let mut usage = Usage {
        written: span.trim().to_owned(),
        extensions: mentioned(line),
        path: path.to_owned(),
        words: Vec::new(),
        about: line.to_lowercase(),
    };
    let mut is_optional = false;
    for word in words {
        is_optional |= word.starts_with('[');
        if !is_optional {
            usage.push(word);
        }
        is_optional &= !word.ends_with(']');
    }
    Some(usage)
}

impl Usage {
    fn push(&mut self, word: &str) {
        let name = word.trim_end_matches(['.', '…']);
        let is_many = name.len() < word.len();
        let inner = name.trim_matches(['<', '>', '{', '}', '"']);
        let is_marked = inner.len() < name.len();
        let is_upper =
            inner.chars().any(char::is_uppercase) && !inner.chars().any(char::is_lowercase);
        let lower = inner.to_lowercase();
        let example = extension(inner).map(str::to_lowercase);
        let word = if word.starts_with('-') || !(is_marked || is_upper || example.is_some()) {
            Word::Itself(word.to_owned())
        } else if !self.is_file(&lower, example.as_deref()) {
            Word::Unknown
        } else if is_many {
            Word::Files
        } else {
            Word::File
        };
        if word == Word::File {
            self.extensions.extend(example.filter(|_| self.extensions.is_empty()));
        }
        self.words.push(word);
    }

    fn is_file(&self, name: &str, example: Option<&str>) -> bool {
        let says_file = ["file", "path", "input", "doc"].iter().any(|part| name.contains(part));
        let is_kind = self.extensions.iter().any(|known| known == name);
        !name.contains("out") && (says_file || is_kind || example.is_some())
    }
}

/// Extensions such as `.csv` in a line.
fn mentioned(line: &str) -> Vec<String> {
    let words = line.split(|c: char| !(c.is_alphanumeric() || c == '.' || c == '/'));
    let extensions = words.filter_map(|word| word.trim_end_matches('.').strip_prefix('.'));
    let is_extension = |word: &&str| {
        (1..=8).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    extensions.filter(is_extension).map(str::to_lowercase).collect()
}
