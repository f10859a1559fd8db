//! Skills handed over: bodies, files, chunks, search results.

use agent::action::{Action, SkillRef};
use agent::observation::{Details, Facts, Loaded, LoadedFile, Observation, SelectedSkill};
use agent::request::{Refusal, Request};
use agent::run::ChunkRef;
use basics::sha256::Sha256;
use basics::skill::{CatalogFormat, LoadReport, Source};
use permission::{Engine, SkillHash, Tool};
use serde_json::json;
use skill::index::Entry;
use skill::load::{FileList, Files, Limits, injection, load_body, load_resource};
use skill::metadata::ReadOptions;

use super::{Workbench, keep, request};
use crate::driver::Means;
use crate::journal::{Journal, Redactor};
use crate::open::Runtime;

/// Hits shown when the model does not say how many, and at most.
const HITS: (usize, usize) = (10, 50);

impl Workbench<'_> {
    pub(super) fn prepare_selection(
        &self,
        action: &Action,
        skills: &[SkillRef],
        engine: &Engine,
    ) -> Result<Request, Refusal> {
        let entries: Vec<&Entry> =
            skills.iter().map(|skill| self.entry(skill)).collect::<Result<_, _>>()?;
        Ok(request::of_skills(action, &entries, engine))
    }

    pub(super) fn select(
        &mut self,
        skills: &[SkillRef],
        means: &Means<'_>,
        journal: &mut Journal,
    ) -> Result<Observation, Refusal> {
        let (mut texts, mut loaded) = (Vec::new(), Vec::new());
        for skill in skills {
            let (text, selected) =
                self.load(skill, means.chunks, means.engine, means.redactor, journal)?;
            texts.push(text);
            loaded.push(Loaded::Skill(selected));
        }
        Ok(Observation { loaded, ..Observation::of(texts.join("\n\n")) })
    }

    /// A skill's text as it enters the context, with those of its chunks that were loaded before, and what the run must
    /// know of it. What does not fit is kept beside the record.
    pub fn load(
        &mut self,
        skill: &SkillRef,
        chunks: &[ChunkRef],
        engine: &Engine,
        redactor: &Redactor,
        journal: &mut Journal,
    ) -> Result<(String, SelectedSkill), Refusal> {
        let entry = self.entry(skill)?;
        let keep = |full: &str| keep(full.as_bytes(), redactor, journal).map(Some);
        let loaded = activate(entry, chunks, engine, (&self.read, &self.limits), keep)?;
        self.open_to_tools(entry);
        Ok(loaded)
    }

    /// Lets tools read the folders of skills that were selected before.
    pub fn reopen(&mut self, skills: &[SkillRef]) {
        for skill in skills {
            if let Ok(entry) = self.entry(skill) {
                self.open_to_tools(entry);
            }
        }
    }

    fn open_to_tools(&mut self, entry: &Entry) {
        if entry.source != Source::Builtin {
            // A folder that cannot be opened any more fails when it is used.
            let _ = self.workspace.select_skill(&entry.name, &entry.path);
        }
    }

    pub(super) fn search(&self, query: &str, limit: Option<usize>) -> Observation {
        let hits = self.offer.search(query, limit.unwrap_or(HITS.0).clamp(1, HITS.1));
        if hits.is_empty() {
            return Observation::of("No skill matches. Try other words, or work without a skill.");
        }
        let found = hits.iter().filter_map(|hit| self.offer.get(&hit.name, Some(hit.source)));
        let found = found.flat_map(|entry| std::iter::once(entry).chain(self.offer.others(entry)));
        let lines: String =
            found.map(|entry| skill::offer::catalog_item(CatalogFormat::Lines, entry)).collect();
        let more = Details::of(&json!({"hits": hits.len()}));
        let facts = Facts { more, ..Facts::default() };
        Observation { facts, ..Observation::of(lines.trim_end()) }
    }

    pub(super) fn load_resource(
        &self,
        skill: &SkillRef,
        path: &str,
        section_hint: Option<&str>,
        redactor: &Redactor,
        journal: &mut Journal,
    ) -> Result<Observation, Refusal> {
        let entry = self.entry(skill)?;
        let mut loaded = load_resource(entry, path, section_hint, &self.limits)?;
        if let Some(full) = &loaded.full {
            loaded.report.storage_ref = Some(keep(full.as_bytes(), redactor, journal)?);
        }
        let report = loaded.report;
        let storage_ref = report.storage_ref.clone();
        let text = injection(entry, &report, &loaded.text, FileList(&[]), None);
        let (skill, path) = (entry.name.clone(), report.path.clone());
        let resource = Loaded::Resource(LoadedFile { skill, path, report });
        Ok(Observation { storage_ref, loaded: vec![resource], ..Observation::of(text) })
    }

    /// A chunk that is too long is cut, and the whole is kept.
    pub(super) fn load_chunk(
        &self,
        skill: &SkillRef,
        id: &str,
        redactor: &Redactor,
        journal: &mut Journal,
    ) -> Result<Observation, Refusal> {
        let entry = self.entry(skill)?;
        let body = load_body(entry, &self.read, &self.limits)?;
        let content = &body.chunk(id)?.content;
        let shown = basics::text::prefix(content, self.limits.excerpt_chars);
        let mut report = LoadReport {
            chars_returned: shown.chars().count(),
            truncated: shown.len() < content.len(),
            text_sha256: Some(Sha256::of(shown)),
            ..LoadReport::of_file("SKILL.md", content.as_bytes())
        };
        if report.truncated {
            report.storage_ref = Some(keep(content.as_bytes(), redactor, journal)?);
        }
        let storage_ref = report.storage_ref.clone();
        let text = injection(entry, &report, shown, FileList(&[]), None);
        let (skill, id) = (entry.name.clone(), id.to_owned());
        let loaded = vec![Loaded::Chunk { skill, id, report: Some(Box::new(report)) }];
        Ok(Observation { loaded, storage_ref, ..Observation::of(text) })
    }
}

/// Reads a skill's body; nothing else of it but the names of its files. `keep` takes a text that does not fit, and
/// says where it is.
pub(crate) fn activate(
    entry: &Entry,
    chunks: &[ChunkRef],
    engine: &Engine,
    (read, limits): (&ReadOptions, &Limits),
    keep: impl FnOnce(&str) -> Result<Option<String>, Refusal>,
) -> Result<(String, SelectedSkill), Refusal> {
    let mut body = load_body(entry, read, limits)?;
    if let Some(full) = &body.core.full {
        body.core.report.storage_ref = keep(full)?;
    }
    let files = Files::open(entry)?.list();
    let own = chunks.iter().filter(|chunk| chunk.skill == entry.name);
    let loaded: Vec<&str> = own.map(|chunk| chunk.id.as_str()).collect();
    let allowed_tools = entry.controls.usable_tools();
    let tools = allowed_tools.as_ref().map(|names| offered(names, engine));
    let text = body.render(&loaded);
    let text = injection(entry, &body.core.report, &text, FileList(&files), tools.as_deref());
    let selected = SelectedSkill {
        name: entry.name.clone(),
        source: entry.source,
        hash: known_by(&body.core.report),
        allowed_tools,
        allowed_commands: entry.controls.allowed_commands.clone(),
        run_mode: entry.controls.run_mode,
        report: body.core.report,
    };
    Ok((text, selected))
}

/// What a loaded skill is known by, as it is now; nothing where it cannot be read.
pub(crate) fn body_hash(runtime: &Runtime, entry: &Entry) -> Option<SkillHash> {
    let config = &runtime.layers.config;
    let body = load_body(entry, &config.read_options(), &config.load_limits()).ok()?;
    Some(known_by(&body.core.report))
}

fn known_by(report: &LoadReport) -> SkillHash {
    SkillHash(format!("sha256:{}", report.file_sha256))
}

/// Those of the tools that can be used here.
fn offered(names: &[String], engine: &Engine) -> Vec<String> {
    let tools = engine.tools_of_run();
    let is_offered =
        |name: &&String| Tool::from_name(name).is_some_and(|tool| tools.contains(tool));
    names.iter().filter(is_offered).cloned().collect()
}
