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
    for name in written.iter().map(|name| own_name(name)) {
        if !names.iter().any(|seen| seen == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn own_name(name: &str) -> &str {
    // `Bash(git:*)` narrows Bash to some commands; scripts are approved one by one here.
    let host_name = name.split('(').next().unwrap_or(name);
    match host_name {
        "Read" => "read_file",
        "Grep" => "grep",
        "Glob" | "LS" => "list_dir",
        "Write" | "Edit" => "write_file",
        "Bash" => "run_script",
        "WebFetch" => "network_request",
        _ => name,
    }
}
