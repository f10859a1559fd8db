//! One file of a skill, or a section of it.

#[cfg(test)]
mod tests;

use basics::inner_path::InnerPath;
use basics::sha256::Sha256;
use basics::skill::{Diagnostic, LoadReport, TrimStrategy};
use basics::text;

use super::references::referenced;
use super::{Files, Limits, LoadError, Loaded};
use crate::entry::Entry;
use crate::sections;

/// Reads one file of a skill: the section that `section_hint` names, or its beginning.
pub fn load_resource(
    entry: &Entry,
    relative_path: &str,
    section_hint: Option<&str>,
    limits: &Limits,
) -> Result<Loaded, LoadError> {
    let path = InnerPath::new(relative_path)?;
    let files = Files::open(entry)?;
    let bytes = match path.as_str() {
        "SKILL.md" => files.manifest(limits.file_bytes)?,
        _ => files.read(&path, limits.file_bytes)?,
    };
    let modified = files.verify(path.as_str(), &bytes, limits.verify)?;
    let not_text = || LoadError::NotText { path: path.as_str().to_owned() };
    if bytes.contains(&0) {
        return Err(not_text());
    }
    let content = std::str::from_utf8(&bytes).map_err(|_| not_text())?;
    let content = content.trim_start_matches('\u{FEFF}').replace("\r\n", "\n").replace('\r', "\n");
    let (visible, removed) = text::strip_hidden(&content);
    let mut diagnostics: Vec<Diagnostic> = modified.into_iter().collect();
    if removed > 0 {
        let message = format!("{removed} hidden characters removed");
        diagnostics.push(Diagnostic::new("hidden-characters", message));
    }
    let (excerpt, strategy) =
        excerpt(&visible, path.as_str(), section_hint, limits.excerpt_chars, &mut diagnostics);
    let truncated = !excerpt.starts_with(visible.trim_end());
    Ok(Loaded {
        report: LoadReport {
            path: path.as_str().to_owned(),
            bytes_read: bytes.len() as u64,
            chars_returned: excerpt.chars().count(),
            truncated,
            file_sha256: Sha256::of(&bytes),
            text_sha256: Some(Sha256::of(&excerpt)),
            trim_strategy: Some(if truncated { strategy } else { TrimStrategy::None }),
            referenced_files: Some(referenced(&visible, path.as_str(), &files.list())),
            dropped_sections: Vec::new(),
            storage_ref: None,
            diagnostics,
        },
        full: truncated.then(|| visible.into_owned()),
        text: excerpt,
    })
}

fn excerpt(
    content: &str,
    path: &str,
    section_hint: Option<&str>,
    limit: usize,
    diagnostics: &mut Vec<Diagnostic>,
) -> (String, TrimStrategy) {
    let Some(hint) = section_hint.filter(|hint| !hint.trim().is_empty()) else {
        return beginning(content, path, limit);
    };
    match sections::find(content, hint) {
        Some(range) => (cut(&content[range], limit), TrimStrategy::Section),
        None => {
            let shown = text::for_terminal(hint);
            let message = format!(
                "no heading matches `{}`; this is the beginning",
                text::prefix(&shown, 120)
            );
            diagnostics.push(Diagnostic::new("SectionNotFound", message));
            beginning_with_outline(content, limit)
        }
    }
}

/// The whole file where it fits; of a longer Markdown file its overview and outline.
fn beginning(content: &str, path: &str, limit: usize) -> (String, TrimStrategy) {
    let is_markdown = path.ends_with(".md") || path.ends_with(".markdown");
    match content.chars().count() <= limit || !is_markdown {
        true => (cut(content, limit), TrimStrategy::Beginning),
        false => beginning_with_outline(content, limit),
    }
}

fn beginning_with_outline(content: &str, limit: usize) -> (String, TrimStrategy) {
    let outline = sections::outline(content);
    if outline.is_empty() {
        return (cut(content, limit), TrimStrategy::Beginning);
    }
    // The outline is what makes the rest reachable, but it must leave room for the text.
    let outline = cut(&format!("[Sections of this file]\n{outline}"), limit / 2);
    let overview = ["Contents", "Table of contents", "Overview", "目录", "概览", "概述"];
    let start = overview.iter().find_map(|title| sections::find_exactly(content, title));
    let start = start.map_or(content, |range| &content[range]);
    let room = limit.saturating_sub(outline.chars().count() + 2);
    let excerpt = format!("{}\n\n{outline}", cut(start, room).trim_end());
    (text::prefix(&excerpt, limit).to_owned(), TrimStrategy::Outline)
}

/// As many whole lines as fit, with a note where something is missing.
fn cut(content: &str, limit: usize) -> String {
    const NOTE: &str = "\n[… cut here …]\n";
    if content.chars().count() <= limit {
        return content.to_owned();
    }
    let kept = text::prefix(content, limit.saturating_sub(NOTE.chars().count()));
    // A long line is cut in its middle rather than left out.
    let kept = match kept.rfind('\n') {
        Some(end) if end >= kept.len() / 2 => &kept[..end],
        _ => kept,
    };
    text::prefix(&format!("{kept}{NOTE}"), limit).to_owned()
}
