//! The options of programs that start others, so that the one they start is found.

use crate::word::Word;

/// The options of a program, as `getopt` knows them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    /// Letters without a value.
    pub(crate) flags: &'static str,
    /// Letters with a value, in the same word or the next.
    pub(crate) valued: &'static str,
    /// Letters with a value that can only stand in the same word.
    pub(crate) attached: &'static str,
    /// Names without a value, and with one that can only come after `=`.
    pub(crate) long: &'static [&'static str],
    /// Names with a value, after `=` or in the next word.
    pub(crate) long_valued: &'static [&'static str],
}

impl Options {
    /// How many words are options; nothing where one of them is not known, or not known to be one.
    pub(crate) fn skip(&self, words: &[Word]) -> Option<usize> {
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            if !text.starts_with('-') || text == "-" {
                return word.is_literal().then_some(at);
            }
            if !word.is_literal() {
                return None;
            }
            if text == "--" {
                return Some(at + 1);
            }
            at += match text.strip_prefix("--") {
                Some(long) => self.long(long)?,
                None => self.short(&text[1..])?,
            };
        }
        Some(at.min(words.len()))
    }

    fn long(&self, option: &str) -> Option<usize> {
        let (name, value) = option.split_once('=').map_or((option, None), |(n, v)| (n, Some(v)));
        if self.long.contains(&name) {
            return Some(1);
        }
        self.long_valued.contains(&name).then_some(if value.is_some() { 1 } else { 2 })
    }

    fn short(&self, cluster: &str) -> Option<usize> {
        for (index, letter) in cluster.char_indices() {
            let is_last = index + letter.len_utf8() == cluster.len();
            if self.attached.contains(letter) {
                return Some(1);
            }
            if self.valued.contains(letter) {
                return Some(if is_last { 2 } else { 1 });
            }
            if !self.flags.contains(letter) {
                return None;
            }
        }
        Some(1)
    }
}

/// A program that starts the one named in its arguments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wrapper {
    pub(crate) options: Options,
    /// Words between the options and the program: the time of `timeout`.
    pub(crate) operands: usize,
    /// Whether `NAME=VALUE` can stand there too.
    pub(crate) assigns: bool,
    /// Whether it needs a rule of its own.
    pub(crate) is_listed: bool,
}

/// The wrapper of this name.
pub(crate) fn wrapper(name: &str) -> Option<Wrapper> {
    let none = Options::default();
    let wrapper = Wrapper::default();
    Some(match name {
        "env" => Wrapper {
            options: Options {
                flags: "i0v",
                valued: "uC",
                long: &["ignore-environment", "null", "debug"],
                long_valued: &["unset", "chdir"],
                ..none
            },
            assigns: true,
            ..wrapper
        },
        "sudo" => Wrapper {
            options: Options {
                flags: "bEHknPSA",
                valued: "ughpCcrtTUDR",
                long: &["non-interactive", "preserve-env", "set-home", "background", "stdin"],
                long_valued: &["user", "group", "host", "prompt", "chdir", "chroot"],
                ..none
            },
            assigns: true,
            is_listed: true,
            ..wrapper
        },
        "doas" => Wrapper {
            options: Options { flags: "n", valued: "uCa", ..none },
            is_listed: true,
            ..wrapper
        },
        "nice" => Wrapper {
            options: Options {
                flags: "0123456789",
                valued: "n",
                long_valued: &["adjustment"],
                ..none
            },
            ..wrapper
        },
        "timeout" => Wrapper {
            options: Options {
                flags: "vfp",
                valued: "ks",
                long: &["foreground", "preserve-status", "verbose"],
                long_valued: &["kill-after", "signal"],
                ..none
            },
            operands: 1,
            ..wrapper
        },
        "time" => Wrapper {
            options: Options {
                flags: "pvaq",
                valued: "fo",
                long: &["portability", "verbose", "append", "quiet"],
                long_valued: &["format", "output"],
                ..none
            },
            ..wrapper
        },
        "stdbuf" => Wrapper {
            options: Options { valued: "ioe", long_valued: &["input", "output", "error"], ..none },
            ..wrapper
        },
        "setsid" => Wrapper {
            options: Options { flags: "cfw", long: &["ctty", "fork", "wait"], ..none },
            ..wrapper
        },
        "ionice" => Wrapper {
            options: Options {
                flags: "t",
                valued: "cn",
                long: &["ignore"],
                long_valued: &["class", "classdata"],
                ..none
            },
            ..wrapper
        },
        "command" | "exec" => {
            Wrapper { options: Options { flags: "pcl", valued: "a", ..none }, ..wrapper }
        }
        "nohup" | "builtin" | "busybox" | "toybox" => wrapper,
        "xargs" => Wrapper {
            options: Options {
                flags: "0rtpx",
                valued: "adEILnPs",
                attached: "iel",
                long: &[
                    "null",
                    "no-run-if-empty",
                    "verbose",
                    "interactive",
                    "exit",
                    "open-tty",
                    "eof",
                    "replace",
                    "max-lines",
                ],
                long_valued: &[
                    "arg-file",
                    "delimiter",
                    "max-args",
                    "max-procs",
                    "max-chars",
                    "process-slot-var",
                ],
            },
            is_listed: true,
            ..wrapper
        },
        _ => return None,
    })
}
