//! What a result rests on, as one hash: a result counts again only where all of it is as it was.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use basics::sha256::Sha256;
use serde_json::json;

use crate::case::{Case, Located, Setup};
use crate::folder::{Folder, FolderError, Quota};
use crate::runner::Options;

/// Makes fingerprints; what several cases share is read once.
#[derive(Debug)]
pub struct Fingerprints<'o> {
    options: &'o Options,
    quota: Quota,
    sums: HashMap<PathBuf, Option<String>>,
}

impl<'o> Fingerprints<'o> {
    /// For runs with these options.
    pub fn new(options: &'o Options) -> Self {
        Self { options, quota: Quota::default(), sums: HashMap::new() }
    }

    /// The same for the same run of the same case, with the same files, skills, settings, model and program, and for
    /// no other. Nothing where a part cannot be read.
    pub fn of(&mut self, located: &Located, number: u32, without: Option<&str>) -> Option<String> {
        let Located { case, suite, should_trigger, .. } = located;
        let Options { model, grader, arguments, config, program_id, .. } = self.options;
        let brought = self.brought(located)?;
        let models = [model.as_deref(), grader.as_ref().map(|grader| grader.model.as_str())];
        let models: Option<Vec<_>> = models
            .iter()
            .map(|name| Some((name, self.script(name.unwrap_or_default())?)))
            .collect();
        let arguments: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
        let judged_with = grader.as_ref().map(|grader| &grader.config);
        let job = (suite, named_by_content(case), should_trigger, number, without, brought);
        let whole = json!([job, models?, arguments, config, judged_with, program_id]);
        Some(Sha256::of(whole.to_string()).to_string())
    }

    /// The contents that a case brings along, by their names.
    fn brought(&mut self, located: &Located) -> Option<BTreeMap<String, String>> {
        let own = ["inputs", "expected"].iter().filter(|_| located.has_folder()).map(Path::new);
        let files = own.chain(located.case.setup.files.iter().map(PathBuf::as_path));
        let files =
            files.map(|path| (format!("file {}", path.display()), located.folder.join(path)));
        let named = located.references().enumerate().map(|(place, path)| {
            let path = located.resolve(path, &self.options.elsewhere);
            // Where a folder lies says nothing; its name may be that of the skill.
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            (format!("reference {place} {name}"), path.clone())
        });
        let parts: Vec<(String, PathBuf)> = files.chain(named).collect();
        parts.into_iter().map(|(name, path)| Some((name, self.sum(&path)?))).collect()
    }

    /// The content of a scripted model.
    fn script(&mut self, model: &str) -> Option<String> {
        model
            .strip_prefix("scripted:")
            .map_or_else(|| Some(String::new()), |file| self.sum(Path::new(file)))
    }

    /// A file or a folder with everything in it; empty where there is none.
    fn sum(&mut self, path: &Path) -> Option<String> {
        if !self.sums.contains_key(path) {
            let sum = sum(path, &mut self.quota).ok();
            self.sums.insert(path.to_owned(), sum);
        }
        self.sums.get(path).cloned().flatten()
    }
}

/// The case without the paths whose contents are compared.
fn named_by_content(case: &Case) -> Case {
    let setup = Setup {
        skill_roots: Vec::new(),
        preinstall_skills: Vec::new(),
        refused_skills: Vec::new(),
        ..case.setup.clone()
    };
    Case { setup, ..case.clone() }
}

fn sum(path: &Path, quota: &mut Quota) -> Result<String, FolderError> {
    let Ok(real) = path.canonicalize() else { return Ok(String::new()) };
    match (real.is_dir(), real.parent(), real.file_name()) {
        (false, Some(parent), Some(name)) => Folder::open(parent)?.sum(Path::new(name), quota),
        _ => Folder::open(&real)?.sum(Path::new("."), quota),
    }
}
