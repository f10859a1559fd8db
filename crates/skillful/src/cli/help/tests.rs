use clap::CommandFactory;

use super::*;
use crate::cli::Cli;

#[test]
fn every_command_is_under_one_heading() {
    let mut command = Cli::command();
    command.build();
    let mut all: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
    all.sort_unstable();
    grouped.sort_unstable();
    assert_eq!(grouped, all);
}

#[test]
fn every_line_of_the_list_fits_into_80_columns() {
    let template = root_template(&Cli::command());
    let plain = anstream::adapter::strip_str(&template).to_string();
    for line in plain.lines().filter(|line| line.starts_with("  ")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}
