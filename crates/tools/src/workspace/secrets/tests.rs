use super::PathPatterns;

fn check(patterns: &PathPatterns, paths: &[&str], expected: bool) {
    for path in paths {
        assert_eq!(patterns.matching(path).is_some(), expected, "{path}");
        if let Some(name) = path.rsplit('/').next().filter(|name| name == path) {
            assert_eq!(patterns.matching_entry(name).is_some(), expected, "{name}");
        }
    }
}

#[test]
fn secrets_their_copies_and_other_spellings_are_known() {
    let secrets = PathPatterns::secrets();
    let known = [
        ".env",
        ".env.prod",
        "a/.ENV",
        "prod.env",
        "key.pem.bak",
        "a.key.old.2",
        ".netrc~",
        ".npmrc.bak",
        ".git/config",
        "a/.git/config.bak",
        ".git/modules/a/config",
        ".git/modules/a/b/config",
        ".git/worktrees/a/config.worktree",
        ".ssh/a/b",
        "a.PEM",
        ".env.example.local",
        "key.sec",
        ".agent/keys/mine.key",
        "secrets.yml",
        "infra/prod.tfstate",
        "service-account-prod.json",
        ".hg/hgrc",
        ".authinfo.gpg",
        ".bash_history",
        ".m2/settings.xml",
        ".config/containers/auth.json",
        ".local/share/keyrings/login.keyring",
        "a/rclone.conf",
        "x.age",
        ".docker/config.json",
        ".cargo/credentials.toml",
        ".config/gh/hosts.yml",
        ".\u{200d}env",
        "＃.netrc＃",
    ];
    check(&secrets, &known, true);
    let open = [
        "env",
        "a.envy",
        "example.env.md",
        ".env.example",
        ".env.local.sample",
        "example.env",
        "prod.example.env",
        ".env-template",
        ".env.example~",
        "keys.txt",
        "pem",
        "config",
        ".git/HEAD",
        ".git/hooks/config.sample",
        "src/config",
        "a.bak",
    ];
    check(&secrets, &open, false);
    assert_eq!(secrets.matching("a/key.pem.bak").unwrap().as_str(), "*.pem");
}

#[test]
fn an_exception_is_only_about_what_it_names() {
    let secrets = PathPatterns::secrets().except([".env.test", "config/*.pem"]);
    check(&secrets, &[".env.test", "config/a.pem"], false);
    check(&secrets, &[".env", ".env.test.local", "a.pem", "config/sub/a.pem"], true);
}

#[test]
fn the_state_of_agents_and_of_version_control_is_protected_anywhere() {
    let protected = PathPatterns::protected();
    check(
        &protected,
        &[".agent", ".agent/x", "a/.Claude/b/c", ".git/hooks/x", ".github/skills/a", ".agent. /x"],
        true,
    );
    check(
        &protected,
        &[
            ".mcp.json",
            "a/.mcp.json",
            ".vscode/launch.json",
            ".vscode/mcp.json",
            ".vscode/settings.json",
            ".vscode/tasks.json",
            ".zed/tasks.json",
            ".idea/runConfigurations/a.xml",
            ".husky/pre-commit",
            ".devcontainer/devcontainer.json",
            "opencode.json",
            ".aider.conf.yml",
        ],
        true,
    );
    check(
        &protected,
        &[
            "agent",
            "mcp.json",
            ".vscode/extensions.json",
            ".idea/x.xml",
            ".github/workflows/a",
            ".gitignore",
            ".config/x",
            ".agent.md",
        ],
        false,
    );
}
