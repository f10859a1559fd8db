//! Secrets and the tools: none is in a result, and none is lost to what stands for it.

use std::borrow::Cow;
use std::fs::{self, Metadata};

use agent::request::Refusal;
use permission::params::{EditFile, WriteFile};
use tools::call::Call;
use tools::outcome::Outcome;

use super::Workbench;
use crate::journal::{Redactor, is_redacted};

impl Workbench<'_> {
    /// Refuses to write over a secret with the mark that the model saw in its place.
    pub(super) fn check_marks(&self, call: &Call, redactor: &Redactor) -> Result<(), Refusal> {
        if let Call::EditFile(EditFile { path, new, .. }) = call
            && is_redacted(new)
        {
            return Err(Refusal::new(
                "Redacted",
                format!("not written: a mark that stands for a secret would come into `{path}`"),
                "leave the lines with secrets as they are",
            ));
        }
        let Call::WriteFile(WriteFile { path, content }) = call else { return Ok(()) };
        if !is_redacted(content) {
            return Ok(());
        }
        let file = self.workspace.seen(path);
        let is_readable =
            |about: Metadata| about.is_file() && about.len() <= self.workspace.limits.file_bytes;
        // What cannot be read is refused, or created, where it is written.
        if !fs::metadata(&file).is_ok_and(is_readable) {
            return Ok(());
        }
        let Ok(present) = fs::read(file) else { return Ok(()) };
        match redactor.lost(&String::from_utf8_lossy(&present), content) {
            None => Ok(()),
            Some(mark) => Err(Refusal::new(
                "Redacted",
                format!(
                    "not written: `{mark}` stands for a secret in `{path}`, which would be lost"
                ),
                "the secret is not shown to you; change that file by other means, such as a script that edits the other lines, or leave it to the user",
            )),
        }
    }
}

/// The outcome without secrets; what was cut is cut after they were taken out.
pub(super) fn without_secrets(mut outcome: Outcome, redactor: &Redactor) -> Outcome {
    if let (Some(content), Some(full)) = (&mut outcome.content, &outcome.full)
        && full.starts_with(content.as_bytes())
        && let Cow::Owned(clean) = redactor.content(full)
    {
        let clean = String::from_utf8_lossy(&clean);
        *content = clean[..clean.floor_char_boundary(content.len())].to_owned();
    }
    outcome
}
