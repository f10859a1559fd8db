//! The Skills extension of MCP: skills as entries with a complete manifest.
//!
//! Invariant: an entry lists every file that is served of its skill, with the digest of the bytes that
//! `resources/read` hands over.

use std::collections::BTreeMap;

use basics::inner_path::InnerPath;
use basics::sha256::Sha256;
use rmcp::model::{CustomRequest, ErrorCode, ErrorData, Resource};
use serde::Deserialize;
use serde_json::{Value, json};
use skill::index::Entry;
use skill::load::{Files, load_frontmatter};

use super::page;
use super::resources::{files, resource, unknown};
use crate::session::read_verbatim;
use crate::shelf::Shelf;
use crate::skill_uri::SkillUri;

/// What the extension is called.
pub(super) const NAME: &str = "io.modelcontextprotocol/skills";

/// Skills on one page: all of their files are read.
const PAGE: usize = 50;
/// Files in a folder on one page.
const CHILDREN: usize = 1_000;
/// Milliseconds that an answer may be kept; skills are looked at about as often.
const FRESH: u64 = 5_000;
/// What every client must be able to take of one skill.
const MOST_FILES: usize = 512;
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Methods of the base protocol: whatever else is wrong with them, they are known.
const KNOWN: [&str; 9] = [
    "initialize",
    "tools/call",
    "tools/list",
    "resources/read",
    "resources/list",
    "resources/templates/list",
    "prompts/get",
    "prompts/list",
    "completion/complete",
];

#[derive(Deserialize)]
struct Paged {
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct Addressed {
    uri: String,
    cursor: Option<String>,
}

pub(super) fn extended(shelf: &Shelf, request: &CustomRequest) -> Result<Value, ErrorData> {
    match request.method.as_str() {
        "skills/list" => list_skills(shelf, params(request)?),
        "skills/get" => get_skill(shelf, &params::<Addressed>(request)?.uri),
        "resources/directory/read" => read_directory(shelf, params(request)?),
        method if KNOWN.contains(&method) => {
            let message = format!("the parameters of `{method}` cannot be understood");
            Err(ErrorData::invalid_params(message, None))
        }
        method => {
            let method = basics::text::for_terminal(basics::text::prefix(method, 100));
            let message = format!("there is no method `{method}`");
            Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
        }
    }
}

fn list_skills(shelf: &Shelf, Paged { cursor }: Paged) -> Result<Value, ErrorData> {
    let snapshot = shelf.current();
    let offer = shelf.offer(&snapshot);
    let (entries, next) = page(offer.skills().collect(), cursor, PAGE)?;
    // What cannot be an entry is served by the tools all the same.
    let skills: Vec<Value> =
        entries.into_iter().filter_map(|entry| manifest(shelf, entry).ok()).collect();
    Ok(cacheable(json!({"skills": skills}), next))
}

fn get_skill(shelf: &Shelf, uri: &str) -> Result<Value, ErrorData> {
    let snapshot = shelf.current();
    let offer = shelf.offer(&snapshot);
    let entry = match SkillUri::read(uri) {
        Some(SkillUri { skill, path: Some(path) }) if path == "SKILL.md" => offer.get(&skill, None),
        _ => None,
    };
    let entry = entry.ok_or_else(|| unknown(uri))?;
    let skill = manifest(shelf, entry).map_err(|reason| {
        ErrorData::invalid_params(format!("`{uri}` cannot be an entry: {reason}"), None)
    })?;
    Ok(cacheable(json!({"skill": skill}), None))
}

/// A skill as an entry, or why it cannot be one.
fn manifest(shelf: &Shelf, entry: &Entry) -> Result<Value, &'static str> {
    let config = &shelf.settings.runtime.layers.config;
    let file_bytes = config.load_limits().file_bytes;
    let frontmatter = load_frontmatter(entry, &config.read_options())
        .map_err(|_| "its frontmatter is refused")?;
    let frontmatter = frontmatter.to_json();
    if frontmatter["name"] != entry.name || !frontmatter["description"].is_string() {
        return Err("its frontmatter does not say its name and description");
    }
    let opened = Files::open(entry).map_err(|_| "it cannot be read")?;
    let (mut resources, mut total) = (Vec::new(), 0);
    for file in opened.list() {
        let read = InnerPath::new(&file.path)
            .ok()
            .and_then(|path| read_verbatim(&opened, &path, file_bytes).ok());
        // A link out of the skill, or a file over the limit: it is not served.
        let Some(bytes) = read else { continue };
        total += bytes.len() as u64;
        if resources.len() == MOST_FILES || total > MOST_BYTES {
            return Err("it has more files, or larger ones, than a client must take");
        }
        resources.push(json!({
            "uri": SkillUri::of(&entry.name, &file.path).to_string(),
            "digest": format!("sha256:{}", Sha256::of(&bytes)),
            "size": bytes.len(),
        }));
    }
    let uri = SkillUri::of(&entry.name, "SKILL.md").to_string();
    Ok(json!({"uri": uri, "frontmatter": frontmatter, "resources": resources}))
}

fn read_directory(shelf: &Shelf, Addressed { uri, cursor }: Addressed) -> Result<Value, ErrorData> {
    let snapshot = shelf.current();
    let offer = shelf.offer(&snapshot);
    let Some(SkillUri { skill, path }) = SkillUri::read(&uri) else {
        return Err(unknown(&uri));
    };
    let entry = offer.get(&skill, None).ok_or_else(|| unknown(&uri))?;
    let folder = path.map(|path| format!("{path}/")).unwrap_or_default();
    let mut children: BTreeMap<String, Resource> = BTreeMap::new();
    for file in files(entry) {
        let Some(rest) = file.path.strip_prefix(&folder) else { continue };
        match rest.split_once('/') {
            None => children.insert(rest.to_owned(), resource(entry, &file)),
            Some((name, _)) => {
                let uri = SkillUri::of(&entry.name, &format!("{folder}{name}")).to_string();
                let child = Resource::new(uri, name).with_mime_type("inode/directory");
                children.insert(name.to_owned(), child)
            }
        };
    }
    if children.is_empty() {
        return Err(unknown(&uri));
    }
    let (resources, next) = page(children.into_values().collect(), cursor, CHILDREN)?;
    let mut result = json!({"resultType": "complete", "resources": resources});
    if let Some(next) = next {
        result["nextCursor"] = next.into();
    }
    Ok(result)
}

fn params<T: for<'de> Deserialize<'de>>(request: &CustomRequest) -> Result<T, ErrorData> {
    let params = request.params.clone().unwrap_or_else(|| json!({}));
    serde_json::from_value(params)
        .map_err(|error| ErrorData::invalid_params(error.to_string(), None))
}

fn cacheable(mut result: Value, next: Option<String>) -> Value {
    result["resultType"] = "complete".into();
    result["ttlMs"] = FRESH.into();
    result["cacheScope"] = "private".into();
    if let Some(next) = next {
        result["nextCursor"] = next.into();
    }
    result
}
