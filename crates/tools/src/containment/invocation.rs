//! A program and what it is given.

use std::ffi::OsString;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

/// A program and what it is given.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The executable's path; nothing is searched.
    pub program: PathBuf,
    /// The arguments after the program's name.
    pub arguments: Vec<OsString>,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The working folder, without symbolic links on its way; in a view, as it is seen there.
    pub folder: PathBuf,
    /// What the program can read from standard input.
    pub stdin: Stdin,
}

/// What a program can read from standard input.
#[derive(Debug, Clone)]
pub enum Stdin {
    /// These bytes, and then nothing.
    Bytes(Vec<u8>),
    /// Whatever somebody writes into this pipe while the program runs.
    Pipe(Arc<OwnedFd>),
}

impl Default for Stdin {
    fn default() -> Self {
        Self::Bytes(Vec::new())
    }
}

impl From<Vec<u8>> for Stdin {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

/// Where the whole output goes while it arrives.
pub struct Output<'a> {
    /// Standard output.
    pub stdout: &'a mut dyn Write,
    /// Standard error.
    pub stderr: &'a mut dyn Write,
}
