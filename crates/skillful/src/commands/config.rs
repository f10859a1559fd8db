//! `skillful config`

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

use basics::text::for_terminal;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Value, json};
use state::Folder;

use crate::failure::{Exit, Failure};
use crate::output::fit::missing;
use crate::output::{Output, Palette};
use crate::session::Session;
use runtime::settings::{Config, leaves};

/// Show your settings, or create a file for them
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful config show --origin\n  skillful config init\n  SKILLFUL_CATALOG_MAX_CHARS=4000 skillful config show"
)]
pub(crate) struct ConfigCommand {
    #[command(subcommand)]
    what: ConfigAction,
}

#[derive(Debug, clap::Subcommand)]
enum ConfigAction {
    /// Show every setting and its value here
    #[command(
        after_help = "Examples:\n  skillful config show --origin\n  skillful config show --json | jq .catalog"
    )]
    Show {
        /// Show where each value comes from
        #[arg(long)]
        origin: bool,
    },
    /// Write a settings file with every default, commented out
    #[command(
        after_help = "Examples:\n  skillful config init\n  skillful config init --user --dry-run"
    )]
    Init {
        /// Write your own file instead of the project's
        #[arg(long)]
        user: bool,
        /// Show what would be written, but write nothing
        #[arg(long)]
        dry_run: bool,
    },
}

/// Every setting by its dotted key, with where it is from.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Origins(BTreeMap<String, SettingOrigin>);

/// What a setting is, and why.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SettingOrigin {
    value: Value,
    /// A file, a variable with its `$`, or `default`.
    origin: String,
}

/// A file that was written, or would be.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Initialised {
    path: String,
    written: bool,
}

impl ConfigCommand {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        match self.what {
            ConfigAction::Show { origin } => show(session, origin, output)?,
            ConfigAction::Init { user, dry_run } => init(session, user, dry_run, output)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn show(session: &Session, with_origin: bool, output: &Output) -> Result<(), Failure> {
    let value = serde_json::to_value(&session.layers.config).unwrap_or_default();
    let settings = leaves(&value);
    let origin = |key: &str| {
        session.layers.origins.get(key).map_or("default".to_owned(), ToString::to_string)
    };
    let document = if with_origin {
        let row = |(key, value): &(String, &Value)| {
            (key.clone(), SettingOrigin { value: (*value).clone(), origin: origin(key) })
        };
        json!(Origins(settings.iter().map(row).collect()))
    } else {
        value.clone()
    };
    let longest =
        settings.iter().map(|(key, value)| key.len() + value.to_string().len()).max().unwrap_or(0)
            + 2;
    output.result(&document, |out, Palette { dim, .. }| {
        for (key, value) in &settings {
            let setting = format!("{key}: {value}");
            let setting = for_terminal(&setting);
            let origin = origin(key);
            match with_origin {
                true => writeln!(
                    out,
                    "{setting}{:1$}  {dim}{2}{dim:#}",
                    "",
                    missing(&setting, longest),
                    for_terminal(&origin)
                )?,
                false => writeln!(out, "{setting}")?,
            }
        }
        Ok(())
    })
}

fn init(session: &Session, user: bool, dry_run: bool, output: &Output) -> Result<(), Failure> {
    let surroundings = &session.surroundings;
    let folder = match (user, &surroundings.home) {
        (false, _) => surroundings.project(),
        (true, Some(home)) => home,
        (true, None) => {
            return Err(
                Failure::new(Exit::Usage, "NoHome", "you have no home directory").hint("set HOME")
            );
        }
    };
    let agent = folder.join(".agent");
    let file = agent.join("config.json");
    // A home's own folder may be a link that the user made; a project's may have come with a clone.
    let opened = if user { Folder::at(&agent) } else { Folder::open(&agent) };
    let found = match opened {
        Err(error) if error.is_missing() => None,
        opened => opened?.find("config.json")?,
    };
    if found.is_some() {
        return Err(Failure::new(
            Exit::Failed,
            "AlreadyExists",
            format!("`{}` already exists", file.display()),
        )
        .hint(
            "edit it; `skillful config show --origin` shows every value and where it comes from",
        ));
    }
    if !dry_run {
        let agent = if user { Folder::at_or_new(&agent) } else { Folder::create(&agent) };
        agent?.create_file("config.json")?.write_all(template().as_bytes())?;
    }
    let initialised = Initialised { path: file.to_string_lossy().into_owned(), written: !dry_run };
    output.result(&initialised, |out, _| writeln!(out, "{}", for_terminal(&initialised.path)))?;
    if dry_run {
        output.note("Nothing was written.");
    }
    Ok(())
}

/// Every setting with its default, commented out: the file changes nothing until it is edited.
fn template() -> String {
    let defaults = serde_json::to_value(Config::default()).unwrap_or_default();
    let settings = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<Config>().to_value();
    let line = |pointer: &str, key: &str, value: &Value| {
        let words = schema.pointer(&format!("{pointer}/properties/{key}/description"));
        let words = words.and_then(Value::as_str).unwrap_or_default();
        format!("// \"{key}\": {value},  // {}\n", basics::text::one_line(words))
    };
    let mut text =
        "// Settings of skillful. To set one, remove the first `//` of its line.\n{\n".to_owned();
    for (section, value) in defaults.as_object().into_iter().flatten() {
        let Value::Object(settings) = value else {
            text.push_str(&format!("  {}", line("", section, value)));
            continue;
        };
        text.push_str(&format!("  \"{section}\": {{\n"));
        // What the user names has no default to show.
        for (key, value) in
            settings.iter().filter(|(_, value)| **value != Value::Object(Default::default()))
        {
            let pointer = format!("/properties/{section}");
            text.push_str(&format!("    {}", line(&pointer, key, value)));
        }
        text.push_str("  },\n");
    }
    text + "}\n"
}
