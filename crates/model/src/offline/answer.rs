//! The planner's words. Each answer says that no language model made it.

use serde_json::Value;
use skill::search::Hit;

use super::conversation::Observed;
use super::folders::Missing;
use super::manual::Manual;
use super::section::Part;
use super::usage::{ScriptRun, Usage};

/// How to get a language model.
const MODELS: &str = "`skillful models` shows which you can use";

/// Files that are named where one has to be chosen.
const NAMED: usize = 10;

/// What scripts printed, and which were not run.
pub(super) fn output(done: &[&Observed<'_>], left_out: &[ScriptRun], skill: &str) -> String {
    let mut parts = outputs(done);
    let calls: Vec<&str> = done.iter().map(|observed| script(observed, skill)).collect();
    let mut note = format!(
        "Made without a language model: this is the output of `{}` from the skill `{skill}`.",
        calls.join("`, `")
    );
    if !left_out.is_empty() {
        let files: Vec<String> = left_out.iter().flat_map(|run| run.args.clone()).collect();
        note.push_str(&format!(
            " Not done yet: `{}`. Ask for it in another request.",
            files.join("`, `")
        ));
    }
    parts.push(note);
    parts.join("\n\n")
}

/// A script that did not do its work, after others that did.
pub(super) fn script_failed(
    failure: &Observed<'_>,
    before: &[&Observed<'_>],
    skill: &str,
    part: &Part,
) -> String {
    let mut parts = outputs(before);
    parts.push(format!(
        "The script `{}` of the skill `{skill}` gave no result: `{}`.\n\n{}\n\nYou can do it yourself. {}\n\nMade without a language model. A model could look for another way: {MODELS}.",
        script(failure, skill),
        failure.state,
        quote(failure),
        quoted(skill, part),
    ));
    parts.join("\n\n")
}

/// Named files that are not there.
pub(super) fn missing(files: &[Missing], skill: &str) -> String {
    let lines = files.iter().map(|file| match &file.nearest {
        Some(nearest) => format!("`{}` is not here; did you mean `{nearest}`?", file.name),
        None => format!("`{}` is not here.", file.name),
    });
    format!(
        "{}\n\nNothing was run. The skill `{skill}` fits; name a file that is here.\n\nMade without a language model.",
        lines.collect::<Vec<_>>().join("\n")
    )
}

/// Several files that could be meant.
pub(super) fn which_file(files: &[String], skill: &str) -> String {
    let more = match files.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("\n- and {more} more"),
    };
    let names: Vec<String> = files.iter().take(NAMED).map(|file| format!("- `{file}`")).collect();
    format!(
        "Which file do you mean? The skill `{skill}` fits, and could work on each of these:\n\n{}{more}\n\nName one in your request.\n\nMade without a language model.",
        names.join("\n")
    )
}

/// The answer of a child run.
pub(super) fn of_child(observed: &Observed<'_>) -> String {
    observed.text.map_or_else(|| refer(observed), str::to_owned)
}

/// Instructions instead of a result.
pub(super) fn steps(skill: &str, manual: &Manual, request: &str) -> String {
    let usages: Vec<String> = manual.scripts.iter().map(usage).collect();
    let scripts = if usages.is_empty() {
        String::new()
    } else {
        format!(
            "\n\nTo run a script of this skill, name a file in your request:\n\n{}",
            usages.join("\n")
        )
    };
    format!(
        "The skill `{skill}` fits. {}{scripts}\n\nMade without a language model. A model could do this for you: {MODELS}.",
        quoted(skill, &manual.part_for(request))
    )
}

/// A part of a skill, word for word.
fn quoted(skill: &str, part: &Part) -> String {
    let rest = match part.is_cut {
        true => format!("\n\n`skillful inspect {skill} --show-body` shows the rest."),
        false => String::new(),
    };
    match &part.title {
        Some(title) => format!("It says under \"{title}\":\n\n{}{rest}", part.text),
        None => format!("It says:\n\n{}{rest}", part.text),
    }
}

/// A skill that could not be loaded.
pub(super) fn not_loaded(failure: &Observed<'_>) -> String {
    format!(
        "The skill `{}` could not be loaded: `{}`.\n\n{}\n\nMade without a language model.",
        failure.target(),
        failure.state,
        quote(failure)
    )
}

/// No skill that fits.
pub(super) fn no_skill(ranked: &[Hit]) -> String {
    let nearest: Vec<String> =
        ranked.iter().take(5).map(|hit| format!("- `{}` ({})", hit.name, hit.why)).collect();
    let nearest = if nearest.is_empty() {
        "No skill shares a word with it; `skillful list` shows them all.".to_owned()
    } else {
        format!("The nearest are:\n\n{}\n\nTo use one, add `--skill NAME`.", nearest.join("\n"))
    };
    format!(
        "No skill clearly fits this request. {nearest} To write a skill for it, run `skillful new NAME`.\n\nMade without a language model. A model could understand your request better: {MODELS}."
    )
}

fn usage(usage: &Usage) -> String {
    let extensions: Vec<String> =
        usage.extensions.iter().map(|extension| format!(".{extension}")).collect();
    let files =
        if extensions.is_empty() { String::new() } else { format!(" ({})", extensions.join(", ")) };
    format!("- `{}`{files}", usage.written)
}

/// Path and arguments, without the skill's name.
fn script<'a>(observed: &'a Observed<'_>, skill: &str) -> &'a str {
    let target = observed.target();
    target.strip_prefix(skill).and_then(|rest| rest.strip_prefix('/')).unwrap_or(target)
}

/// Each output, under a heading where there are several.
fn outputs(done: &[&Observed<'_>]) -> Vec<String> {
    let headed = |observed: &&Observed<'_>| match done.len() {
        1 => printed(observed),
        _ => format!("## {}\n\n{}", observed.target(), printed(observed)),
    };
    done.iter().map(headed).collect()
}

/// What a script printed: its result may be plain text, or a tool's JSON.
fn printed(observed: &Observed<'_>) -> String {
    let Some(text) = observed.text else { return refer(observed) };
    let Ok(Value::Object(result)) = serde_json::from_str(text) else { return or_nothing(text) };
    let part = |name: &str| result.get(name).and_then(Value::as_str);
    let Some(shown) = part("stdout").or(part("content")) else { return or_nothing(text) };
    let shown = or_nothing(shown);
    match (result.get("truncated"), part("storage_ref")) {
        (Some(Value::Bool(true)), Some(kept)) => {
            format!("{shown}\n\nThe rest is in the run's folder, in `{kept}`.")
        }
        _ => shown,
    }
}

/// In place of what a compaction took.
fn refer(observed: &Observed<'_>) -> String {
    let place = observed.kept.unwrap_or_default();
    format!("The output is long. All of it is in the run's folder, in `{place}`.")
}

fn or_nothing(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() { "The script printed nothing.".to_owned() } else { text.to_owned() }
}

/// What is known of a failure, as a quotation.
fn quote(failure: &Observed<'_>) -> String {
    let text = failure.text.unwrap_or_default();
    let parts: Vec<String> = match serde_json::from_str(text) {
        Ok(Value::Object(result)) => {
            let error = &result.get("error").cloned().unwrap_or_default();
            // What a script wrote itself says more than advice for models.
            let is_script = failure.state == "ExitNonZero";
            let parts =
                [&error["message"], &error["hint"]].into_iter().take(2 - usize::from(is_script));
            let streams = ["stderr", "stdout", "content"].iter().filter_map(|key| result.get(*key));
            parts.chain(streams).filter_map(|part| part.as_str().map(str::to_owned)).collect()
        }
        _ => vec![text.to_owned()],
    };
    let lines = parts.iter().flat_map(|part| part.trim().lines()).take(40);
    lines.map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}
