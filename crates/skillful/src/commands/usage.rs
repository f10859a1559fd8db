//! `skillful usage`

use std::collections::BTreeMap;
use std::process::ExitCode;

use basics::text::for_terminal;
use runtime::journal::{self, Endings, SkillUsage};
use runtime::settings::closest;
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::{Exit, Failure};
use crate::output::fit::columns;
use crate::output::{Output, Palette, count};
use crate::session::Session;

/// Show which skills your runs use, and what comes of it
///
/// It counts the runs of this project that you made on this machine: in how many of them a skill was offered to the
/// model, chosen and loaded, how these runs ended, and how often its scripts ran and failed.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful usage\n  skillful usage csv-report\n  skillful usage --json | jq '.skills[] | select(.chosen == 0) | .name'"
)]
pub(crate) struct Usage {
    /// Show only this skill
    name: Option<String>,
}

/// What the runs of a project did with skills.
#[derive(Serialize, JsonSchema)]
pub(crate) struct UsedSkills {
    /// How many runs there are.
    runs: u64,
    /// How they ended.
    #[serde(flatten)]
    endings: Endings,
    /// Runs that were not made here, and do not count.
    elsewhere: u64,
    /// Most used first.
    skills: Vec<UsedSkill>,
    /// Records that could not be read.
    problems: Vec<String>,
}

/// What runs did with one skill.
#[derive(Serialize, JsonSchema)]
pub(crate) struct UsedSkill {
    name: String,
    /// Whether you have the skill now.
    present: bool,
    #[serde(flatten)]
    usage: SkillUsage,
}

impl Usage {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let index = session.index()?;
        let owner = session.owner()?;
        let report = journal::skill_usage(&session.runs(), owner.as_ref())?;
        let mut skills: BTreeMap<String, UsedSkill> = BTreeMap::new();
        for (name, usage) in report.skills {
            let used = UsedSkill { name: name.clone(), present: false, usage };
            skills.insert(name, used);
        }
        for entry in &index.skills {
            let unused = || UsedSkill {
                name: entry.name.clone(),
                present: false,
                usage: SkillUsage::default(),
            };
            skills.entry(entry.name.clone()).or_insert_with(unused).present = true;
        }
        if let Some(name) = &self.name {
            let only = skills.remove(name).ok_or_else(|| unknown(name, skills.keys()))?;
            skills = BTreeMap::from([(name.clone(), only)]);
        }
        let mut skills: Vec<UsedSkill> = skills.into_values().collect();
        skills.sort_by_key(|skill| std::cmp::Reverse((skill.usage.chosen, skill.usage.loaded)));
        let problems = report.problems.iter();
        let problems = problems.map(|problem| format!("{}: {}", problem.run_id, problem.message));
        let used = UsedSkills {
            runs: report.runs,
            endings: report.endings,
            elsewhere: report.elsewhere,
            skills,
            problems: problems.collect(),
        };
        output.result(&used, |out, palette| used.print(out, palette))?;
        used.problems.iter().for_each(|problem| output.warn(problem));
        if used.elsewhere > 0 {
            output.note(&format!(
                "{} not made on this machine, and not counted.",
                match used.elsewhere {
                    1 => "1 run was".to_owned(),
                    runs => format!("{runs} runs were"),
                }
            ));
        }
        if used.runs == 0 {
            output.note("No runs yet. `skillful run \"…\"` starts one.");
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl UsedSkills {
    fn print(&self, out: &mut dyn std::io::Write, palette: Palette) -> std::io::Result<()> {
        let Palette { bold, dim, warn, .. } = palette;
        writeln!(out, "{}: {}", count(self.runs as usize, "run"), in_words(&self.endings))?;
        let (used, unused): (Vec<&UsedSkill>, Vec<&UsedSkill>) =
            self.skills.iter().partition(|skill| skill.usage.chosen > 0 || skill.usage.loaded > 0);
        for UsedSkill { name, present, usage } in &used {
            let gone = if *present { "" } else { "  not there any more" };
            writeln!(out, "\n{bold}{}{bold:#}{warn}{gone}{warn:#}", for_terminal(name))?;
            writeln!(
                out,
                "  offered {}, chosen {}, loaded {}",
                usage.offered, usage.chosen, usage.loaded
            )?;
            if usage.loaded > 0 {
                writeln!(out, "  runs that loaded it: {}", in_words(&usage.endings))?;
            }
            if usage.scripts > 0 {
                writeln!(out, "  scripts run {}, failed {}", usage.scripts, usage.failed_scripts)?;
            }
            if let Some(last) = &usage.last_used {
                let day = last.split('T').next().unwrap_or_default();
                writeln!(out, "  {dim}last used {}{dim:#}", for_terminal(day))?;
            }
        }
        if !unused.is_empty() {
            writeln!(out, "\n{bold}Never chosen{bold:#}")?;
            let widest = unused.iter().map(|skill| columns(&for_terminal(&skill.name))).max();
            for UsedSkill { name, usage, .. } in unused {
                let name = for_terminal(name);
                let space = " ".repeat(widest.unwrap_or_default() - columns(&name));
                writeln!(out, "  {name}{space}  {dim}offered {}{dim:#}", usage.offered)?;
            }
        }
        Ok(())
    }
}

/// How runs ended, in words.
fn in_words(endings: &Endings) -> String {
    let Endings { answered, failed, cancelled, unfinished } = endings;
    let parts = [
        (answered, "answered"),
        (failed, "failed"),
        (cancelled, "cancelled"),
        (unfinished, "unfinished"),
    ];
    let said = parts.iter().filter(|(count, word)| **count > 0 || *word == "answered");
    said.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> Failure {
    let failure = Failure::new(
        Exit::Failed,
        "SkillNotFound",
        format!("no skill and no run knows `{}`", for_terminal(name)),
    );
    match closest(name, known.map(String::as_str)) {
        Some(other) => failure.hint(format!("did you mean `{}`?", for_terminal(&other))),
        None => failure.hint("`skillful usage` shows all"),
    }
}
