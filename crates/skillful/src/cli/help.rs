//! How help is laid out: commands under headings, and the options of every command in two lines.

use std::fmt::Write;

use clap::builder::styling::Styles;
use clap::{Arg, Command};

#[cfg(test)]
mod tests;

/// The commands, by what people want to do.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Use skills", &["chat", "run", "runs", "usage", "mcp"]),
    ("Find skills", &["list", "search", "inspect", "why"]),
    ("Write skills", &["new", "validate", "scan", "eval"]),
    (
        "Share skills",
        &[
            "install",
            "uninstall",
            "restore",
            "outdated",
            "update",
            "pack",
            "export",
            "verify",
            "keygen",
            "sign",
        ],
    ),
    ("Decide what is allowed", &["trust", "untrust", "permissions"]),
    ("Set up", &["models", "doctor", "config", "refresh", "schema", "completions", "help"]),
];

/// The command with its help laid out. It is complete afterwards, so this is only worth doing to print help.
pub(super) fn lay_out(mut command: Command) -> Command {
    command.build();
    command = command.mut_subcommand("help", |help| help.about("Print the help of a command"));
    let template = root_template(&command);
    let brief = command_template(&command);
    command.help_template(template).mut_subcommands(|command| lay_out_below(command, &brief))
}

fn lay_out_below(command: Command, template: &str) -> Command {
    command
        .help_template(template.to_owned())
        .mut_args(|argument| {
            let hide = argument.is_global_set();
            if hide { argument.hide(true) } else { argument }
        })
        .mut_subcommands(|command| lay_out_below(command, template))
}

fn root_template(command: &Command) -> String {
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut groups = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(groups, "{header}{heading}:{header:#}");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(groups, "  {literal}{name:<11}{literal:#}  {about}");
        }
        groups.push('\n');
    }
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{header}Options:{header:#}\n{{options}}{{after-help}}"
    )
}

fn command_template(root: &Command) -> String {
    let header = *Styles::styled().get_header();
    let globals = root.get_arguments().filter(|it| it.is_global_set() && !it.is_hide_set());
    let globals: Vec<String> = globals.map(spell).collect();
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{{all-args}}\n\n{header}Options of every command{header:#} (see `skillful --help`):\n  {}{{after-help}}",
        globals.join("  ")
    )
}

/// An option as it is typed, in its shortest form.
fn spell(argument: &Arg) -> String {
    let flag = match (argument.get_short(), argument.get_long()) {
        (Some(short), _) => format!("-{short}"),
        (None, long) => format!("--{}", long.unwrap_or_default()),
    };
    match argument.get_value_names().filter(|_| argument.get_action().takes_values()) {
        Some(names) => format!("{flag} {}", names.join(" ")),
        None => flag,
    }
}
