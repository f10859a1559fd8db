//! The list of skills that a model chooses from.
//!
//! Invariant: the list never takes more than its budget. What does not fit is counted in one line and
//! can be found by searching; where not even that line fits, the list is empty.

use std::borrow::Cow;

use basics::skill::CatalogFormat;
use basics::text::one_line;
use serde::Serialize;
use serde_json::json;

use super::Offer;
use crate::entry::Entry;

/// How the list is written, and how long it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogLimits {
    /// How it is written.
    pub format: CatalogFormat,
    /// Characters it may take.
    pub max_chars: usize,
}

impl Default for CatalogLimits {
    fn default() -> Self {
        Self { format: CatalogFormat::Lines, max_chars: 8_000 }
    }
}

/// The list, and what it left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Catalog {
    /// For the model; empty when there is no skill, or no room for a list.
    pub text: String,
    /// Names of the skills in it.
    pub shown: Vec<String>,
    /// How many more can be found by searching.
    pub not_shown: usize,
}

impl Offer<'_> {
    /// The list for a model that is about to work on `request`. Everything is shown where it fits;
    /// otherwise the skills most relevant to the request, and room that is left stays empty.
    pub fn catalog(&self, limits: CatalogLimits, request: &str) -> Catalog {
        let format = limits.format;
        let all: Vec<&Entry> = self.skills().collect();
        let with_others: Vec<&Entry> =
            all.iter().flat_map(|entry| self.with_others(entry)).collect();
        let room = limits.max_chars.checked_sub(frame(format, 0).chars().count());
        if let Some(whole) = room.and_then(|room| whole(&with_others, format, room)) {
            return Catalog {
                text: if all.is_empty() { String::new() } else { write(format, &whole, 0) },
                shown: all.iter().map(|entry| entry.name.clone()).collect(),
                not_shown: 0,
            };
        }
        let (mut shown, mut items) = (Vec::new(), Vec::new());
        let room = limits.max_chars.checked_sub(frame(format, all.len()).chars().count());
        let Some(mut left) = room else {
            return Catalog { text: String::new(), shown, not_shown: all.len() };
        };
        for entry in self.by_relevance(request) {
            // With thousands of skills, writing those that cannot fit would take most of the time.
            let fits = least(entry) <= left;
            let item = if fits { catalog_item(format, entry) } else { String::new() };
            let length = item.chars().count();
            if fits && length <= left {
                left -= length;
                shown.push(entry.name.clone());
                items.push(item);
                for other in self.others(entry) {
                    let item = catalog_item(format, other);
                    if let Some(rest) = left.checked_sub(item.chars().count()) {
                        left = rest;
                        items.push(item);
                    }
                }
            } else if request.trim().is_empty() {
                // Nothing says that a short one further down is worth more than this one.
                break;
            }
        }
        let not_shown = all.len() - shown.len();
        Catalog { text: write(format, &items, not_shown), shown, not_shown }
    }

    fn with_others<'s>(&'s self, entry: &'s Entry) -> impl Iterator<Item = &'s Entry> {
        std::iter::once(entry).chain(self.others(entry))
    }

    /// The skills that the user pinned, then those that fit the request, the best first. Without a request all
    /// of them may.
    fn by_relevance(&self, request: &str) -> Vec<&Entry> {
        let is_pinned = |entry: &&Entry| self.index.is_pinned(entry);
        let fitting: Vec<&Entry> = match request.trim().is_empty() {
            true => self.skills().collect(),
            false => self.ranked(request).map(|(entry, _)| entry).collect(),
        };
        let others = fitting.into_iter().filter(|entry| !is_pinned(entry));
        self.skills().filter(is_pinned).chain(others).collect()
    }
}

/// Characters that a skill takes in any format, at the very least.
fn least(entry: &Entry) -> usize {
    one_line(&entry.name).chars().count() + one_line(&entry.description).chars().count()
}

/// Every item, if all of them fit; with thousands of skills that is known after a few.
fn whole(all: &[&Entry], format: CatalogFormat, mut room: usize) -> Option<Vec<String>> {
    let fitting = |entry: &&Entry| {
        let item = catalog_item(format, entry);
        room = room.checked_sub(item.chars().count())?;
        Some(item)
    };
    all.iter().map(fitting).collect()
}

/// Characters that one skill takes.
pub fn catalog_cost(format: CatalogFormat, entry: &Entry) -> usize {
    catalog_item(format, entry).chars().count()
}

/// One skill, the separator behind it included.
pub fn catalog_item(format: CatalogFormat, entry: &Entry) -> String {
    let (name, source, description) =
        (one_line(&entry.name), entry.source, one_line(&entry.description));
    match format {
        CatalogFormat::Lines => {
            // A bar inside a value must not look like the one between values.
            let value = |text: Cow<'_, str>| text.replace('|', "\\|");
            format!(
                "- name={} | source={source} | description={}\n",
                value(name),
                value(description)
            )
        }
        CatalogFormat::Xml => format!(
            "<skill>\n<name>{}</name>\n<source>{source}</source>\n<description>{}</description>\n</skill>\n",
            xml(&name),
            xml(&description)
        ),
        CatalogFormat::Json => {
            format!("{},\n", json!({"name": name, "source": source, "description": description}))
        }
    }
}

fn write(format: CatalogFormat, items: &[String], not_shown: usize) -> String {
    let (head, tail) = ends(format, not_shown);
    let items = items.concat();
    // JSON allows no comma behind the last item.
    let items = if format == CatalogFormat::Json {
        items.strip_suffix(",\n").map_or(String::new(), |i| format!("{i}\n"))
    } else {
        items
    };
    format!("{head}{items}{tail}")
}

/// Everything but the items.
pub(super) fn frame(format: CatalogFormat, not_shown: usize) -> String {
    let (head, tail) = ends(format, not_shown);
    head + &tail
}

fn ends(format: CatalogFormat, not_shown: usize) -> (String, String) {
    let more = match not_shown {
        0 => String::new(),
        1 => "1 more skill is not shown; find it with search_skills".to_owned(),
        n => format!("{n} more skills are not shown; find them with search_skills"),
    };
    let (head, tail) = match (format, not_shown) {
        (CatalogFormat::Lines, 0) => ("Available Skills:\n", String::new()),
        (CatalogFormat::Lines, _) => ("Available Skills:\n", format!("({more})\n")),
        (CatalogFormat::Xml, 0) => ("<available_skills>\n", "</available_skills>\n".to_owned()),
        (CatalogFormat::Xml, _) => {
            ("<available_skills>\n", format!("<note>{more}</note>\n</available_skills>\n"))
        }
        (CatalogFormat::Json, 0) => ("{\"available_skills\": [\n", "]}\n".to_owned()),
        (CatalogFormat::Json, _) => {
            ("{\"available_skills\": [\n", format!("], \"note\": \"{more}\"}}\n"))
        }
    };
    (head.to_owned(), tail)
}

/// `text` as the content of an XML element. Angle brackets that were escaped when the skill was read
/// stay as they are.
fn xml(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
