//! What is in the folders of the workspace, as far as the planner has looked.

use serde_json::Value;

use super::MAX_RUNS;
use super::conversation::Observed;
use super::file_names::extension;
use super::usage::ScriptRun;

/// The folders that matter for a request, with what is in those it has looked into.
pub(super) struct Folders {
    folders: Vec<String>,
    /// For each folder that was looked into its files; nothing where they are not known.
    seen: Vec<Option<Vec<String>>>,
    /// Whether a file is looked for that the request does not name.
    seeks: bool,
}

/// Files that could be meant.
pub(super) enum Found {
    Nothing,
    One(String),
    Several(Vec<String>),
}

/// A file that is not there.
pub(super) struct Missing {
    pub(super) name: String,
    /// The one that is most like it.
    pub(super) nearest: Option<String>,
}

impl Folders {
    /// The folders of the named files; that of the workspace itself where one is sought.
    pub(super) fn of(named: &[ScriptRun], seeks: bool, observed: &[Observed<'_>]) -> Self {
        let mut folders: Vec<String> = Vec::new();
        let files = named.iter().flat_map(|run| &run.files);
        for folder in files.map(|file| split(file).0).chain(seeks.then_some(".")) {
            if folders.len() < MAX_RUNS && !folders.iter().any(|known| known == folder) {
                folders.push(folder.to_owned());
            }
        }
        let looks = observed.iter().filter(|observed| observed.is_look());
        Self { folders, seen: looks.map(files_in).collect(), seeks }
    }

    /// The next folder to look into.
    pub(super) fn next(&self) -> Option<&str> {
        self.folders.get(self.seen.len()).map(String::as_str)
    }

    /// The files of one folder, if they are known.
    fn files(&self, folder: &str) -> Option<&[String]> {
        let place = self.folders.iter().position(|known| known == folder)?;
        self.seen.get(place)?.as_deref()
    }

    /// Named files that are certainly not there.
    pub(super) fn missing(&self, named: &[ScriptRun]) -> Vec<Missing> {
        let files = named.iter().flat_map(|run| &run.files);
        files.filter_map(|file| self.missed(file)).collect()
    }

    fn missed(&self, path: &str) -> Option<Missing> {
        let (folder, name) = split(path);
        let files = self.files(folder)?;
        if files.iter().any(|file| file == name) {
            return None;
        }
        let alike = |file: &&String| {
            extension(file).map(str::to_lowercase) == extension(name).map(str::to_lowercase)
        };
        let candidates: Vec<&String> = files.iter().filter(alike).collect();
        let likeness = |file: &str| strsim::jaro_winkler(file, name);
        let nearest = match candidates.as_slice() {
            [only] => Some(*only),
            several => several
                .iter()
                .copied()
                .filter(|file| likeness(file) > 0.8)
                .max_by(|a, b| likeness(a).total_cmp(&likeness(b))),
        };
        let nearest = nearest.map(|file| path[..path.len() - name.len()].to_owned() + file);
        Some(Missing { name: path.to_owned(), nearest })
    }

    /// The files of the workspace that could be meant, where the request names none.
    pub(super) fn found(&self, fits: impl Fn(&str) -> bool) -> Found {
        let files = self.files(".").filter(|_| self.seeks).unwrap_or_default();
        let mut fitting: Vec<String> = files.iter().filter(|file| fits(file)).cloned().collect();
        match fitting.len() {
            0 => Found::Nothing,
            1 => Found::One(fitting.remove(0)),
            _ => Found::Several(fitting),
        }
    }
}

/// The folder and the name of a file.
fn split(path: &str) -> (&str, &str) {
    match path.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some((folder, name)) => (folder, name),
        None => (".", path),
    }
}

/// The files that a look into a folder showed; nothing if it may have more.
fn files_in(look: &Observed<'_>) -> Option<Vec<String>> {
    let text = look.text?;
    if !look.is_ok() {
        // What is in a folder that is not there is not there either.
        return text.contains("No such file or directory").then(Vec::new);
    }
    let result: Value = serde_json::from_str(text).ok()?;
    let is_whole = result["truncated"] != Value::Bool(true);
    let entries = result["content"].as_str().filter(|_| is_whole)?;
    let files = entries.lines().filter_map(|line| {
        let file = line.rsplit_once("  ").filter(|(_, size)| size.ends_with(" bytes"));
        file.map(|(file, _)| file).or_else(|| line.strip_suffix('@')).map(str::to_owned)
    });
    Some(files.collect())
}
