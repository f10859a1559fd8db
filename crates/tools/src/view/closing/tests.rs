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
