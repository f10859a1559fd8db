//! The text of a PDF, where there is a program for it: it runs in the sandbox like any other.

use agent::request::Refusal;
use permission::params::ReadFile;
use permission::shell_quoted;
use tools::command::{self, Command, CommandFolder};
use tools::error::ToolError;
use tools::sandbox::{Ending, Output, Stdin};

use super::Workbench;
use crate::driver::Means;

/// The program that reads a PDF.
const READER: &str = "pdftotext";
/// Bytes of text that are taken.
const MOST: u64 = 4 << 20;

impl Workbench<'_> {
    /// The text of a PDF in the workspace; nothing where it is none, or nothing here can read it.
    pub(super) fn pdf_text(
        &mut self,
        call: &ReadFile,
        failure: &ToolError,
        means: &Means<'_>,
    ) -> Result<Option<String>, Refusal> {
        let is_pdf = call.path.to_ascii_lowercase().ends_with(".pdf");
        if !is_pdf || !matches!(failure, ToolError::NotText { .. }) || call.path.contains("://") {
            return Ok(None);
        }
        let mut surroundings = self.surroundings()?;
        surroundings.confinement.limits.output = MOST;
        let line = format!("{READER} -layout -- {} -", shell_quoted(call.path.as_ref()));
        let command = Command {
            text: line.into(),
            folder: CommandFolder::Workspace(Default::default()),
            skill: None,
            stdin: Stdin::default(),
        };
        let (mut text, mut ignored) = (Vec::new(), std::io::sink());
        let output = Output { stdout: &mut text, stderr: &mut ignored };
        let kernel = &self.scripts.kernel;
        let exit = command::run(kernel, &command, &surroundings, output, means.cancel.flag())?;
        Ok((exit.ending == Ending::Exited(0)).then(|| String::from_utf8_lossy(&text).into_owned()))
    }
}
