//! Thousands of real `SKILL.md` files, where they are at hand: `shared/corpus` beside the repository
//! or further up. Tests over them say so and pass where it is absent.

mod tests;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// What the open standard's reference validator said about one file.
#[derive(Debug, Deserialize)]
pub(crate) struct Expected {
    pub(crate) path: String,
    pub(crate) yaml_ok: bool,
    pub(crate) name: Option<serde_json::Value>,
    pub(crate) has_description: bool,
    pub(crate) reference_valid: bool,
    pub(crate) reference_rejects_flow_style: bool,
    pub(crate) reference_errors: Vec<String>,
}

fn folder() -> Option<PathBuf> {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let folder = above.map(|folder| folder.join("shared/corpus")).find(|folder| folder.is_dir());
    if folder.is_none() {
        println!("skipped: there is no shared/corpus beside the repository");
    }
    folder
}

/// Every file by its path below the corpus, as `00001/feishu-setup/SKILL.md`.
pub(crate) fn files() -> BTreeMap<String, Vec<u8>> {
    let Some(folder) = folder() else { return BTreeMap::new() };
    let archive = File::open(folder.join("skills.tar.gz")).unwrap();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(archive));
    let mut files = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        if entry.header().entry_type().is_file() {
            let path = entry.path().unwrap().to_string_lossy().into_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            files.insert(path.trim_start_matches("skills/").to_owned(), bytes);
        }
    }
    files
}

pub(crate) fn expected() -> Vec<Expected> {
    let Some(folder) = folder() else { return Vec::new() };
    let lines = BufReader::new(File::open(folder.join("expected.jsonl")).unwrap()).lines();
    lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
}

/// Real requests, each with the skills that serve it.
pub(crate) fn queries() -> Option<Vec<(String, Vec<String>)>> {
    #[derive(Deserialize)]
    struct Query {
        query: String,
        relevant: Vec<String>,
    }
    let file = folder()?.join("../routing/queries.jsonl");
    let lines = BufReader::new(File::open(file).ok()?).lines();
    let parse = |line: String| serde_json::from_str::<Query>(&line).unwrap();
    Some(
        lines.map(|line| parse(line.unwrap())).map(|query| (query.query, query.relevant)).collect(),
    )
}
