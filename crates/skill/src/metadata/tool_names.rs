//! Tool names in `allowed-tools`, those of other hosts included.

#[cfg(test)]
mod tests;

/// Splits on commas and spaces, but not inside parentheses: `Bash(git add:*), Read`.
pub(super) fn split(list: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut depth = 0_usize;
    for c in list.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            names.push(String::new());
        } else if let Some(name) = names.last_mut() {
            name.push(c);
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The names this product uses, each once, in the order written.
pub(super) fn mapped(written: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(written.len());
    for name in written.iter().flat_map(|name| own_names(name)) {
        if !names.iter().any(|seen| seen == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn own_names(name: &str) -> Vec<&str> {
    let host_name = name.split('(').next().unwrap_or(name);
    match host_name {
        "Read" => vec!["read_file"],
        "Grep" => vec!["grep"],
        "Glob" | "LS" => vec!["list_dir"],
        "Write" => vec!["write_file"],
        "Edit" | "MultiEdit" => vec!["edit_file"],
        // The skill's own scripts are run by name here, and by the shell elsewhere.
        "Bash" => vec!["run_command", "run_script"],
        "WebFetch" => vec!["network_request"],
        _ => vec![name],
    }
}

/// The commands that `Bash(git:*)` and the like narrow the shell to, as patterns; nothing where any may run.
pub(super) fn commands(written: &[String]) -> Option<Vec<String>> {
    let mut patterns = Vec::new();
    for name in written {
        let (host_name, inner) = match name.split_once('(') {
            Some((host_name, inner)) => (host_name, inner.strip_suffix(')').unwrap_or(inner)),
            None => (name.as_str(), "*"),
        };
        if host_name != "Bash" && host_name != "run_command" {
            continue;
        }
        for command in inner.split(',').map(str::trim).filter(|command| !command.is_empty()) {
            patterns.push(match command.strip_suffix(":*") {
                Some(program) => format!("{program} *"),
                None => command.to_owned(),
            });
        }
    }
    let is_narrow = !patterns.is_empty() && !patterns.iter().any(|pattern| pattern == "*");
    is_narrow.then_some(patterns)
}
