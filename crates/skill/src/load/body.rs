//! The body of a selected skill.

#[cfg(test)]
mod tests;

use basics::sha256::Sha256;
use basics::skill::{Diagnostic, LoadReport, TrimStrategy};
use basics::text;

use super::references::referenced;
use super::{Files, Limits, LoadError, Loaded, Oversize};
use crate::chunks::{self, Chunk, Parts};
use crate::entry::Entry;
use crate::frontmatter::{self, FrontmatterError};
use crate::metadata::{Metadata, ReadOptions};
use crate::sections::{self, Trimmed};
use crate::value::Map;

const MANIFEST: &str = "SKILL.md";
/// Dropped headings that are named in the text; the report has them all.
const NAMED: usize = 200;

/// A skill's body, taken apart.
#[derive(Debug, Clone)]
pub struct Body {
    /// The name of the skill.
    pub name: String,
    /// The core content.
    pub core: Loaded,
    /// What can be loaded in addition.
    pub chunks: Vec<Chunk>,
}

/// Reads the body of a skill and nothing else of it.
pub fn load_body(entry: &Entry, read: &ReadOptions, limits: &Limits) -> Result<Body, LoadError> {
    let files = Files::open(entry)?;
    let bytes = files.manifest(limits.file_bytes)?;
    let modified = files.verify(MANIFEST, &bytes, limits.verify)?;
    let body = body_of(entry, &bytes, read)?;
    let (visible, diagnostics) = cleaned(&body);
    let Parts { core, chunks, diagnostics: tags } = chunks::parse(&visible);
    let referenced_files = Some(referenced(&visible, MANIFEST, &files.list()));
    let fitted = fit(&entry.name, core, limits)?;
    let report = LoadReport {
        path: MANIFEST.to_owned(),
        bytes_read: bytes.len() as u64,
        chars_returned: fitted.text.chars().count(),
        truncated: fitted.full.is_some(),
        file_sha256: Sha256::of(&bytes),
        text_sha256: Some(Sha256::of(&fitted.text)),
        trim_strategy: Some(fitted.strategy),
        referenced_files,
        dropped_sections: fitted.dropped,
        storage_ref: None,
        diagnostics: modified.into_iter().chain(diagnostics).chain(tags).collect(),
    };
    let core = Loaded { text: fitted.text, report, full: fitted.full };
    Ok(Body { name: entry.name.clone(), core, chunks })
}

/// Reads the fields of a skill's frontmatter as they were written.
pub fn load_frontmatter(entry: &Entry, read: &ReadOptions) -> Result<Map, LoadError> {
    let bytes = Files::open(entry)?.manifest(Limits::default().file_bytes)?;
    let refused = |source| LoadError::InvalidFrontmatter { name: entry.name.clone(), source };
    let (yaml, _) = frontmatter::split_whole(&bytes, &read.limits).map_err(refused)?;
    let yaml = std::str::from_utf8(&bytes[yaml]).map_err(|_| refused(FrontmatterError::NotUtf8))?;
    Ok(frontmatter::parse(yaml, &read.limits).map_err(refused)?.fields)
}

impl Body {
    /// The chunk called `id`.
    pub fn chunk(&self, id: &str) -> Result<&Chunk, LoadError> {
        let missing = || LoadError::ChunkNotFound { id: id.to_owned(), name: self.name.clone() };
        self.chunks.iter().find(|chunk| chunk.id == id).ok_or_else(missing)
    }

    /// The core content, then the chunks in `loaded`, then a list of those that are not.
    pub fn render(&self, loaded: &[&str]) -> String {
        let is_loaded = |chunk: &&Chunk| loaded.contains(&chunk.id.as_str());
        let mut rendered = self.core.text.trim_end().to_owned();
        for chunk in self.chunks.iter().filter(is_loaded) {
            rendered.push_str("\n\n");
            rendered.push_str(chunk.content.trim_end());
        }
        let mut waiting = self.chunks.iter().filter(|chunk| !is_loaded(chunk)).peekable();
        if waiting.peek().is_some() {
            rendered.push_str(&format!(
                "\n\n[Available Chunks for {}]\n(You can load these using load_skill_chunk tool)",
                self.name
            ));
        }
        for chunk in waiting {
            rendered
                .push_str(&format!("\n- id: {} | description: {}", chunk.id, chunk.description));
        }
        rendered.push('\n');
        rendered
    }
}

/// The text behind the frontmatter, which is checked again: the file may have changed since the index
/// was built, and what it says about itself decides what may be done with it.
fn body_of(entry: &Entry, bytes: &[u8], read: &ReadOptions) -> Result<String, LoadError> {
    let refused = |source| LoadError::InvalidFrontmatter { name: entry.name.clone(), source };
    let (_, body) = frontmatter::split_whole(bytes, &read.limits).map_err(refused)?;
    let folder = entry.path.file_name().unwrap_or_default().to_string_lossy();
    Metadata::of_file(bytes, &folder, read).map_err(refused)?;
    let not_text = |_| LoadError::BodyNotUtf8 { name: entry.name.clone() };
    Ok(std::str::from_utf8(&bytes[body..]).map_err(not_text)?.to_owned())
}

/// Newlines made uniform and hidden characters removed.
fn cleaned(body: &str) -> (String, Vec<Diagnostic>) {
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    let (visible, removed) = text::strip_hidden(&body);
    let note = |removed| {
        Diagnostic::new(
            "hidden-characters",
            format!("{removed} hidden characters removed from the body"),
        )
    };
    let diagnostics = (removed > 0).then(|| note(removed)).into_iter().collect();
    (visible.trim_start_matches('\n').to_owned(), diagnostics)
}

struct Fitted {
    text: String,
    strategy: TrimStrategy,
    dropped: Vec<String>,
    full: Option<String>,
}

fn fit(name: &str, core: String, limits: &Limits) -> Result<Fitted, LoadError> {
    let (lines, chars) = (core.lines().count(), core.chars().count());
    if lines <= limits.body_lines && chars <= limits.body_chars {
        let strategy = TrimStrategy::None;
        return Ok(Fitted { text: core, strategy, dropped: Vec::new(), full: None });
    }
    if limits.oversize == Oversize::Reject {
        return Err(LoadError::BodyTooLarge {
            name: name.to_owned(),
            lines,
            chars,
            limit_lines: limits.body_lines,
            limit_chars: limits.body_chars,
        });
    }
    let trimmed = sections::trim(&core, limits.body_lines, limits.body_chars);
    let text = format!("{}\n\n{}", trimmed.text.trim_end(), note_of(&trimmed));
    let strategy = match trimmed.has_sections {
        true => TrimStrategy::Sections,
        false => TrimStrategy::Beginning,
    };
    Ok(Fitted { text, strategy, dropped: trimmed.dropped, full: Some(core) })
}

fn note_of(Trimmed { dropped, opening_is_cut, .. }: &Trimmed) -> String {
    let mut note = match (opening_is_cut, dropped.is_empty()) {
        (true, _) => {
            "[The opening is cut. Read more of it with load_resource and relative_path SKILL.md.]\n"
        }
        (false, true) => "[The rest is left out; it has no headings by which it could be read.]\n",
        (false, false) => "",
    }
    .to_owned();
    if dropped.is_empty() {
        return note;
    }
    note.push_str("[Left out. Read a section with load_resource, relative_path SKILL.md and its heading as section_hint:]\n");
    for heading in dropped.iter().take(NAMED) {
        note.push_str(&format!("- {}\n", text::prefix(heading, 120)));
    }
    if dropped.len() > NAMED {
        note.push_str(&format!("- and {} more\n", dropped.len() - NAMED));
    }
    note
}
