//! What cannot be read or changed, whatever name leads there.

use std::fs;
use std::os::unix::fs::symlink;

use super::attempt::{contained, contained_by_mounts, run, views, works, world};
use crate::world::said;

const SH: &str = "/bin/sh";

#[test]
fn hidden_files_cannot_be_read_by_any_name() {
    contained(
        SH,
        r#"cat .env deploy/server.key .ssh/id_ed25519 deploy/second-name.txt deploy/../.env "$WS/.env" /proc/self/cwd/.env
ln -s .env link; cat link; ln -s . here; cat here/.env
mkdir new && ln -s ../.env new/link; cat new/link"#,
    );
}

#[test]
fn hidden_files_cannot_be_linked_moved_or_copied() {
    contained(
        SH,
        r#"ln .env mine; cat mine; ln deploy/server.key mine2; cat mine2
mv .env moved; cat moved; cp .env copied; cat copied
mv deploy moved-folder; cat moved-folder/server.key; mv .ssh moved-keys; cat moved-keys/id_ed25519
cp -a . /tmp/all; grep -r @SECRET@ /tmp/all
tar cf /tmp/all.tar . ; grep -a @SECRET@ /tmp/all.tar; grep -ra @SECRET@ . "#,
    );
}

#[test]
fn a_removed_folder_does_not_come_back_open() {
    contained(
        SH,
        r#"rm -rf deploy .ssh .env; mkdir -p deploy .ssh; cat deploy/server.key .ssh/id_ed25519 .env
rm -rf src; ln -s deploy src; cat src/server.key"#,
    );
}

#[test]
fn the_address_of_a_repository_is_shown_without_its_password() {
    contained_by_mounts(
        SH,
        "cat .git/config .git/modules/part/config | grep -q bare || echo ESCAPED",
    );
    contained(SH, "cat .git/config .git/modules/part/config");
}

#[test]
fn what_agents_and_git_run_cannot_be_changed() {
    for path in [
        ".git/hooks/pre-commit",
        ".git/hooks/new",
        ".git/config",
        ".git/modules/part/config",
        ".git/modules/part/hooks/post-checkout",
        ".claude/settings.json",
        ".claude/new",
        ".codex/config.toml",
        ".agent/skills/own/SKILL.md",
        ".agent/new",
        "packages/part/.claude/settings.json",
        ".mcp.json",
    ] {
        contained_by_mounts(
            SH,
            &format!(
                r#"p={path}
echo evil >> $p && echo ESCAPED; echo evil >> src/../$p && echo ESCAPED
ln -s "$PWD/$p" link; echo evil >> link && echo ESCAPED
[ -e $p ] || exit 0
rm $p && echo ESCAPED; mv $p moved && echo ESCAPED; chmod 777 $p && echo ESCAPED; touch -d 2001-01-01 $p && echo ESCAPED
echo evil > other; mv other $p && echo ESCAPED; ln -f other $p && echo ESCAPED"#
            ),
        );
    }
    contained_by_mounts(SH, "mv .claude x && echo ESCAPED; mv .git/hooks x && echo ESCAPED; true");
}

#[test]
fn what_a_link_of_an_agent_leads_to_cannot_be_changed() {
    let linked = || {
        let world = world();
        let workspace = world.root.join("workspace");
        fs::create_dir(workspace.join("shared")).unwrap();
        fs::write(workspace.join("shared/rules.md"), "rules\n").unwrap();
        symlink("shared", workspace.join(".cursor")).unwrap();
        symlink("nowhere", workspace.join(".gemini")).unwrap();
        symlink("/", workspace.join(".qwen")).unwrap();
        world
    };
    views(linked, |name, world, kernel, view| {
        if view.folder() == world.places().workspace {
            let code = "echo evil >> shared/rules.md; echo evil >> .cursor/rules.md; cat shared/rules.md; echo x > new && cat new";
            let said = said(&run(world, kernel, view, SH, code));
            assert!(said.starts_with("rules\nx\n"), "{name}: {said}");
        }
    });
}

#[test]
fn records_of_runs_are_not_there() {
    contained(
        SH,
        "ls .agent/runs/other && echo ESCAPED; ls .agent/runs/this/layer && echo ESCAPED; cat .agent/runs/this/events.jsonl; true",
    );
}

#[test]
fn the_rest_of_the_workspace_can_be_read_and_changed() {
    works(
        SH,
        "cat notes.txt; echo more >> notes.txt; cat notes.txt; mkdir a && mv notes.txt a/b && rm -rf src who && ls",
        "harmless\nharmless\nmore\na\ndata.csv\ndeploy\npackages\n",
    );
}
