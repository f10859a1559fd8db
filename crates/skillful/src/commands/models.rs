//! `skillful models`

use std::io::Write;
use std::process::ExitCode;

use basics::text::for_terminal;
use model::remote::Price;
use runtime::models::{Choice, Listed, Wish, survey};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Output, Palette};
use crate::session::Session;

/// Show which models you can use, and which one decides
///
/// Looks for model servers on this machine and for API keys in the environment. It asks no other server and
/// shows no key.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful models\n  skillful models --json | jq '.servers[] | select(.ready)'\n  skillful doctor --online"
)]
pub(crate) struct Models {}

/// The models at hand.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AtHand {
    /// The model that decides in a run; none where the settings are wrong.
    model: Option<Chosen>,
    /// What is wrong with the settings of the model.
    problem: Option<String>,
    /// What to do about it.
    hint: Option<String>,
    /// The servers that `--model` knows by name.
    servers: Vec<Listed>,
}

/// The model that decides in a run.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Chosen {
    /// As `--model` would name it.
    name: String,
    /// Who or what chose it.
    why: String,
    /// The address of its server.
    server: Option<String>,
    /// Where it is, and where its key comes from.
    details: Option<String>,
    /// What it costs, in US dollars for a million tokens, where `model.prices` says so.
    price: Option<Price>,
}

impl Models {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let at_hand = look(session);
        output.result(&at_hand, |out, palette| {
            tell_model(&at_hand, out, palette)?;
            let (here, elsewhere): (Vec<_>, Vec<_>) =
                at_hand.servers.iter().partition(|server| server.local);
            tell_servers("On this machine", &here, out, palette)?;
            tell_servers("With an API key", &elsewhere, out, palette)
        })?;
        if !output.json && !at_hand.servers.iter().any(|server| server.ready) {
            suggest().iter().for_each(|line| output.note(line));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// How to get a model, in three lines.
pub(crate) fn suggest() -> [&'static str; 3] {
    [
        "No language model is set up, so the offline planner decides. To get a model, choose one of these:",
        "  on this machine: install Ollama (https://ollama.com), then run `ollama pull qwen3`",
        "  at a provider: set its API key, such as ANTHROPIC_API_KEY or OPENAI_API_KEY (`skillful models` lists them)",
    ]
}

fn look(session: &Session) -> AtHand {
    let servers = survey(session);
    match Choice::new(session, Wish::default()) {
        Ok(choice) => {
            let (server, details) = (choice.server().map(str::to_owned), choice.details());
            let price = choice.price();
            let Choice { name, why, .. } = choice;
            let model = Some(Chosen { name, why, server, details, price });
            AtHand { model, problem: None, hint: None, servers }
        }
        Err(Failure { message, hint, .. }) => {
            AtHand { model: None, problem: Some(message), hint, servers }
        }
    }
}

fn tell_model(at_hand: &AtHand, out: &mut dyn Write, palette: Palette) -> std::io::Result<()> {
    let Palette { bold, dim, bad, .. } = palette;
    if let Some(problem) = &at_hand.problem {
        writeln!(out, "{bad}No model can be used{bad:#}: {}", for_terminal(problem))?;
        if let Some(hint) = &at_hand.hint {
            writeln!(out, "  {dim}{}{dim:#}", for_terminal(hint))?;
        }
    }
    let Some(Chosen { name, why, details, price, server }) = &at_hand.model else { return Ok(()) };
    let details = details.as_ref().map(|details| format!(", {details}")).unwrap_or_default();
    let line = format!("{} ({why}){details}", for_terminal(name));
    writeln!(out, "{bold}Model{bold:#}: {}", for_terminal(&line))?;
    match (price, server) {
        (Some(Price { input, output, .. }), _) => {
            writeln!(out, "  ${input} for a million tokens read, ${output} for a million written")
        }
        (None, Some(_)) => writeln!(
            out,
            "  {dim}its price is not known: set `model.prices` to see what runs cost{dim:#}"
        ),
        (None, None) => Ok(()),
    }
}

fn tell_servers(
    title: &str,
    servers: &[&Listed],
    out: &mut dyn Write,
    Palette { bold, dim, good, .. }: Palette,
) -> std::io::Result<()> {
    writeln!(out, "\n{bold}{title}{bold:#}")?;
    for Listed { name, address, ready, key_variable, models, example, .. } in servers {
        let (style, mark) = if *ready { (good, "✓") } else { (dim, "–") };
        let state = match (key_variable, ready) {
            (Some(variable), true) => format!("{variable} is set: --model {example}"),
            (Some(variable), false) => format!("set {variable}"),
            (None, true) if models.is_empty() => format!("answers at {address}, and has no model"),
            (None, true) => format!("--model {name}:NAME with {}", models.join(", ")),
            (None, false) => format!("does not answer at {address}"),
        };
        writeln!(out, "  {style}{mark}{style:#} {name:<10}  {}", for_terminal(&state))?;
    }
    Ok(())
}
