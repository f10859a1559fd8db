//! Files that a request names with an `@`.

use std::path::{Component, Path};

use basics::text::for_terminal;

/// Lines of a request that are shown again.
const LINES: usize = 5;

/// The request, with a line about the files of the workspace that it names as `@path`, so that the model reads them.
pub(super) fn named_files(request: &str, workspace: &Path) -> String {
    let mut files: Vec<&str> = Vec::new();
    for word in request.split_whitespace() {
        let path = word
            .strip_prefix('@')
            .map(|path| path.trim_end_matches([',', ';', ':', '?', '!', ')']));
        let path = path.map(|path| match workspace.join(path).exists() {
            true => path,
            false => path.trim_end_matches('.'),
        });
        let is_inside = |path: &&str| {
            let mut parts = Path::new(path).components();
            !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
        };
        let path = path.filter(is_inside).filter(|path| workspace.join(path).exists());
        files.extend(path.filter(|path| !files.contains(path)));
    }
    match files.is_empty() {
        true => request.to_owned(),
        false => format!("{request}\n\nAttached files, to be read first: {}", files.join(", ")),
    }
}

/// The request for the eye: of a long one, the beginning.
pub(super) fn shortened(request: &str) -> String {
    let total = request.lines().count();
    let shown = if total > LINES { LINES - 1 } else { LINES };
    let lines: Vec<_> =
        request.lines().take(shown).map(|line| for_terminal(line).into_owned()).collect();
    let mut text = lines.join("\n  ");
    if total > LINES {
        text += &format!("\n  … {} more lines", total - shown);
    }
    text
}
