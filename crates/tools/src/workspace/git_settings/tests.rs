use std::fs;

use super::*;

fn values(text: &str) -> Vec<String> {
    settings(text).iter().map(|one| format!("{}.{}={}", one.section, one.key, one.value)).collect()
}

#[test]
fn settings_are_read_as_git_reads_them() {
    assert_eq!(
        values(
            "[Include] Path = \"../a b.cfg\" # no\n\tpath=x;y\n[includeIf \"gitdir:a]b\"]\npath = c\\\n d"
        ),
        ["include.path=../a b.cfg", "include.path=x", "includeif.path=c d"]
    );
    assert_eq!(
        values("[core]\r\n\thooksPath = a\\\\b  \r\n[\nnothing\n="),
        ["core.hookspath=a\\b", ".="]
    );
    assert_eq!(values("[a \"\\\"]\"] k = v"), ["a.k=v"]);
}

#[test]
fn what_settings_name_is_found_through_others() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(".git/config", "[include]\npath = ../one\n[core]\nhooksPath = tools/hooks\n");
    write("one", "[includeIf \"gitdir:~\"]\npath = two\n[include]\npath = one\n");
    write("two", "[core]\nhooksPath = more\n");
    write(".git/modules/a/b/HEAD", "");
    write(".git/modules/a/b/config", "[core]\nworktree = ../../../../sub\nhooksPath = h\n");
    let found = git_settings(&folder.path().join(".git"));
    let real = |path: &str| super::super::real_path(&folder.path().join(path)).unwrap();
    let found: Vec<PathBuf> = found.iter().flat_map(|path| super::super::way_to(path)).collect();
    for wanted in ["one", "two", "tools/hooks", "more", "sub/h"] {
        assert!(found.contains(&real(wanted)), "{wanted}: {found:?}");
    }
}

#[test]
fn the_last_value_of_a_setting_counts() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["one", "two", "none"].map(|name| folder.path().join(name));
    fs::write(&files[0], "[user]\nname = A B\nemail = a@b\n").unwrap();
    fs::write(&files[1], "[user]\nname = C\n[user \"x\"]\n[USER] Name = \"D E\"\n").unwrap();
    assert_eq!(git_setting(&files, "user", "name").as_deref(), Some("D E"));
    assert_eq!(git_setting(&files, "user", "email").as_deref(), Some("a@b"));
    assert_eq!(git_setting(&files, "user", "x"), None);
}
