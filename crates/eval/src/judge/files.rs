//! Are the files what was expected?

use basics::sha256::Sha256;

use super::output::fits;
use super::{Checks, Dimension, Files};
use crate::case::{Case, ExpectedContent, ExpectedFile, Place};

pub(super) fn judge(case: &Case, files: &dyn Files, checks: &mut Checks) {
    for expected in &case.expect.files {
        let path = expected.path.display();
        let place = expected.place.unwrap_or(case.place());
        let result = checked(expected, files.read(&expected.path, place).as_deref());
        let result = result.map(|()| format!("`{path}` is as expected"));
        let place = match expected.place {
            Some(Place::Layer) => " in the layer",
            Some(Place::Workspace) => " in the workspace",
            None => "",
        };
        let result = result.map_err(|wrong| format!("`{path}`{place}: {wrong}"));
        checks.add(Dimension::Files, result, []);
    }
}

/// Holds files against those that the case keeps in `expected/`.
pub(super) fn compare(
    expected: &[ExpectedContent],
    place: Place,
    files: &dyn Files,
    checks: &mut Checks,
) {
    for ExpectedContent { path, bytes } in expected {
        let difference = match files.read(path, place) {
            None => Some("should be there, but is not".to_owned()),
            Some(found) => difference(&found, bytes),
        };
        let path = path.display();
        let result = match difference {
            None => Ok(format!("`{path}` is as in `expected/`")),
            Some(difference) => Err(format!("`{path}`: {difference}")),
        };
        checks.add(Dimension::Files, result, []);
    }
}

/// The first place where a file is not what was expected: a line of text, or else a byte.
fn difference(found: &[u8], expected: &[u8]) -> Option<String> {
    if found == expected {
        return None;
    }
    let (Ok(found_text), Ok(expected_text)) =
        (std::str::from_utf8(found), std::str::from_utf8(expected))
    else {
        let same = found.iter().zip(expected).take_while(|(a, b)| a == b).count();
        return Some(format!("differs from `expected/` at byte {}", same + 1));
    };
    // With their ends, so that a line break that is missing is a difference, too.
    let mut found = found_text.split_inclusive('\n');
    let mut expected = expected_text.split_inclusive('\n');
    (1_usize..).find_map(|number| match (found.next(), expected.next()) {
        (None, None) => Some("differs from `expected/`".to_owned()),
        (Some(found), Some(expected)) if found == expected => None,
        (found, expected) => {
            let shown = |line: Option<&str>| line.map_or("nothing".to_owned(), quoted);
            Some(format!("line {number} is {}, expected {}", shown(found), shown(expected)))
        }
    })
}

/// A line in quotes, as much of it as anyone reads.
fn quoted(line: &str) -> String {
    const CHARACTERS: usize = 120;
    match line.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{:?}…", &line[..end]),
        None => format!("{line:?}"),
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
        let found = Sha256::of(content).to_string();
        if !found.eq_ignore_ascii_case(wanted) {
            return Err(format!("its SHA-256 is {found}, not {wanted}"));
        }
    }
    expected.json_schema.as_ref().map_or(Ok(()), |schema| fits(schema, content))
}
