//! A program and what it is given.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

/// A program and what it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The executable's path; nothing is searched.
    pub program: PathBuf,
    /// The arguments after the program's name.
    pub arguments: Vec<OsString>,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The working folder, without symbolic links on its way.
    pub folder: PathBuf,
    /// What the program can read from standard input.
    pub stdin: Vec<u8>,
}

/// Where the whole output goes while it arrives.
pub struct Output<'a> {
    /// Standard output.
    pub stdout: &'a mut dyn Write,
    /// Standard error.
    pub stderr: &'a mut dyn Write,
}
