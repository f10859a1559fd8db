//! Are the files what was expected?

use super::output::fits;
use super::{Checks, Dimension, Files};
use crate::case::{Case, ExpectedFile};

pub(super) fn judge(case: &Case, files: &dyn Files, checks: &mut Checks) {
    for expected in &case.expect.files {
        let path = expected.path.display();
        let result = checked(expected, files.read(&expected.path).as_deref());
        let result = result.map(|()| format!("`{path}` is as expected"));
        checks.add(Dimension::Files, result.map_err(|wrong| format!("`{path}`: {wrong}")), []);
    }
}

fn checked(expected: &ExpectedFile, content: Option<&[u8]>) -> Result<(), String> {
    let content = match (content, expected.exists) {
        (None, false) => return Ok(()),
        (None, true) => return Err("should be there, but is not".to_owned()),
        (Some(_), false) => return Err("should not be there, but is".to_owned()),
        (Some(content), true) => content,
    };
    if let Some(wanted) = &expected.sha256 {
        let found = crate::sha256(content);
        if !found.eq_ignore_ascii_case(wanted) {
            return Err(format!("its SHA-256 is {found}, not {wanted}"));
        }
    }
    expected.json_schema.as_ref().map_or(Ok(()), |schema| fits(schema, content))
}
