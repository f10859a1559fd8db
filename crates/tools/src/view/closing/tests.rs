use std::os::unix::fs::symlink;

use super::*;

#[track_caller]
fn check(content: &str, expected: &str) {
    let kept = without_secrets(content.as_bytes());
    assert_eq!(String::from_utf8(kept).unwrap(), expected);
}

#[test]
fn ordinary_settings_stay_as_they_are() {
    let ordinary = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/a/b.git\n\turl = git@example.com:a/b.git\n\turl = ssh://git@example.com/a\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n";
    check(ordinary, ordinary);
}

#[test]
fn lines_that_could_hold_a_secret_are_left_out() {
    for line in [
        "\turl = https://user:pass@example.com/a\n",
        "\turl = https://ghp_token@example.com/a\n",
        "\tURL = HTTPS://User:Pass@example.com/a\n",
        "[url \"https://x@example.com/\"]\n",
        "\textraheader = AUTHORIZATION: basic abc\n",
        "\thelper = store\n",
        "\toauthToken = abc\n",
        "\tpassword=abc\n",
        "\tsmtpPass = abc\n",
        "\tpass = abc\n",
        "[imap] pass = abc\n",
        "\turl = ssh://user:pass@example.com/a\n",
        "\turl = https://\"user:pass@example.com/a\"\n",
        "\turl = \"https://user:pass@example.com/a\"\n",
        "\turl = https://\\\nuser:pass@example.com/a\n",
        "\tpassword = abc\\\ndef\n",
    ] {
        check(&format!("[core]\n{line}\tbare = false\n"), "[core]\n\tbare = false\n");
    }
}

#[test]
fn only_the_settings_of_a_repository_are_shown() {
    for (path, is) in [
        ("/w/.git/config", true),
        ("/w/.git/config.worktree", true),
        ("/w/.git/modules/a/config", true),
        ("/w/.git/worktrees/a/config.worktree", true),
        ("/w/.docker/config.json", false),
        ("/w/config", false),
        ("/w/.git/config.bak", false),
    ] {
        assert_eq!(is_settings(Path::new(path)), is, "{path}");
    }
}

#[test]
fn what_git_and_agents_have_elsewhere_in_the_workspace_is_protected() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let write = |path: &str, text: &str| {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), text).unwrap();
    };
    write(".git/config", "[include]\npath = ../w/shared\n[core]\nhooksPath = w/h\n");
    write("w/shared", "");
    write("w/h/pre-commit", "");
    write("w/sub/.git/config", "[core]\nhooksPath = own\n");
    write("w/sub/own/x", "");
    write("w/tools/h.sh", "");
    write("w/.claude/hooks/x", "");
    symlink("../../tools/h.sh", root.join("w/.claude/hooks/h.sh")).unwrap();
    symlink("../..", root.join("w/.claude/hooks/all")).unwrap();
    let workspace = root.join("w");
    let wishes = Wishes {
        workspace: &workspace,
        secrets: &PathPatterns::secrets(),
        protected: &[],
        settled: &[],
        shown: &root.join("shown"),
    };
    let closing = look(&wishes).unwrap();
    for path in ["shared", "h", "sub/own", "tools/h.sh", ".claude"] {
        assert!(closing.protected.contains(&workspace.join(path)), "{path}: {closing:?}");
    }
    assert!(!closing.protected.contains(&workspace), "{closing:?}");
}
