//! `trust project --author`: who writes skills is not asked after every edit.

use insta::assert_snapshot;

use crate::world::World;

const SKILLS: &str = "project/.agent/skills";

fn is_trusted(world: &World, line: &str) -> bool {
    world.json(&format!("skillful {line} --json"))["trusted"].as_bool().unwrap()
}

#[test]
fn your_own_edits_stay_trusted() {
    let world = World::new();
    assert_snapshot!(world.run("skillful trust project --author --dry-run"), @"
    [stderr]
    Nothing was written.
    ");
    world.skill(&format!("{SKILLS}/mine"), "Mine.");
    assert!(!is_trusted(&world, "inspect mine"));
    assert_snapshot!(world.run("skillful trust project --author"), @"
    [world]/project/.agent/skills
      mine  yours
    [stderr]
    Skills in this workspace stay trusted when they change, also when you pull changes by others.
    ");
    assert!(is_trusted(&world, "inspect mine"));
    world.skill(&format!("{SKILLS}/mine"), "Mine, rewritten.");
    world.write(&format!("{SKILLS}/mine/scripts/a.sh"), "echo a\n");
    world.skill("project/sub/.claude/skills/below", "Below.");
    assert!(is_trusted(&world, "inspect mine"));
    assert!(is_trusted(&world, "-C sub inspect below"));
    assert_snapshot!(world.run("skillful run --skill mine --model offline x | head -c 0"), @"");
    assert_snapshot!(world.run("skillful untrust"), @"no longer trusted  [world]/project");
    assert!(!is_trusted(&world, "inspect mine"));
    assert!(!is_trusted(&world, "-C sub inspect below"));
}

#[test]
fn what_others_brought_into_your_workspace_still_asks() {
    let world = World::new();
    world.skill(&format!("{SKILLS}/mine"), "Mine.");
    world.skill(&format!("{SKILLS}/cloned"), "Cloned.");
    world.run("mkdir .agent/skills/cloned/.git");
    world.skill("elsewhere/linked", "Linked.");
    world.link(&format!("{SKILLS}/linked"), "../../../elsewhere/linked");
    world.skill("project/vendor/.agent/skills/nested", "Nested.");
    world.run("mkdir vendor/.git");
    world.write("project/.agent/config.json", r#"{"skill_roots": ["../vendored"]}"#);
    world.skill("vendored/borrowed", "Borrowed.");
    assert_snapshot!(world.run("skillful trust project --author"), @"
    [world]/project/.agent/skills
      mine  yours
    not trusted  borrowed: it is not part of your workspace; `skillful trust project NAME` trusts it as it is now
    not trusted  cloned: it is not part of your workspace; `skillful trust project NAME` trusts it as it is now
    not trusted  linked: it is not part of your workspace; `skillful trust project NAME` trusts it as it is now
    [stderr]
    Skills in this workspace stay trusted when they change, also when you pull changes by others.
    ");
    assert!(is_trusted(&world, "inspect mine"));
    for line in ["inspect cloned", "inspect linked", "inspect borrowed", "-C vendor inspect nested"]
    {
        assert!(!is_trusted(&world, line), "{line}");
    }
    // Whoever looked at one can trust it as it is.
    world.run("skillful trust project cloned");
    assert!(is_trusted(&world, "inspect cloned"));
    world.write(&format!("{SKILLS}/cloned/new"), "");
    assert!(!is_trusted(&world, "inspect cloned"));
}

#[test]
fn a_home_is_no_workspace() {
    let world = World::new();
    assert_snapshot!(world.run("cd ../home && skillful trust project --author"), @"
    [stderr]
    error: `[world]/home` contains your whole home
    hint: go to the folder with your skills, or use -C DIR
    [exit 2]
    ");
    assert_snapshot!(world.run_json("skillful trust project --author --json"), @r#"
    {
      "author": "[world]/project",
      "refused": [],
      "trusted": [],
      "written": true
    }
    [stderr]
    Skills in this workspace stay trusted when they change, also when you pull changes by others.
    "#);
    assert_snapshot!(world.run("skillful trust project --author mine"), @"
    [stderr]
    error: the argument '--author' cannot be used with '[NAME]...'

    Usage: skillful trust project --author [NAME]...

    For more information, try '--help'.
    [exit 2]
    ");
}

const QUESTION: &str = "stay trusted when they change. [y/N] ";

#[test]
fn a_new_skill_offers_it_on_a_terminal() {
    let world = World::new().with("TERM", "dumb");
    assert_snapshot!(world.dialogue("skillful new one", QUESTION, "n\n"), @"
    [world]/project/.agent/skills/one/SKILL.md
    Do you write the skills in this workspace yourself? Then they stay trusted when they change. [y/N] n
    Edit it, then run `skillful validate` and `skillful trust project one`.
    ");
    assert!(!is_trusted(&world, "inspect one"));
    // Somebody else's skill may be waiting: that is not the moment to ask.
    let seen = world.conversation("skillful new two", &[]);
    assert!(!seen.contains("yourself"), "{seen}");
    world.run("rm -r .agent/skills/two && skillful trust project");
    assert_snapshot!(world.dialogue("skillful new two", QUESTION, "y\n"), @"
    [world]/project/.agent/skills/two/SKILL.md
    Do you write the skills in this workspace yourself? Then they stay trusted when they change. [y/N] y
    Edit it, then run `skillful validate`.
    ");
    assert!(is_trusted(&world, "inspect two"));
    assert_snapshot!(world.conversation("skillful new three", &[]), @"
    [world]/project/.agent/skills/three/SKILL.md
    Edit it, then run `skillful validate`.
    ");
    assert!(is_trusted(&world, "inspect three"));
}

#[test]
fn a_new_skill_does_not_offer_it_where_others_skills_are_on_the_disk() {
    let check = |file: &str, settings: &str| {
        let world = World::new().with("TERM", "dumb");
        world.run("mkdir .git");
        world.write("project/.agent/config.json", settings);
        let seen = world.dialogue("skillful new one", QUESTION, "n\n");
        assert!(seen.contains("yourself"), "{settings}: {seen}");
        world.run("rm -r .agent/skills/one");
        world.write(&format!("project/{file}"), "---\nname: evil\ndescription: Evil.\n---\n");
        let seen = world.conversation("skillful new two", &[]);
        assert!(seen.contains("trust project two"), "{file} with {settings}: {seen}");
        assert!(!seen.contains("yourself"), "{file} with {settings}: {seen}");
    };
    check(".claude/skills/evil/SKILL.md", r#"{"registry": {"compat": false}}"#);
    check(".agent/skills/a/b/evil/SKILL.md", r#"{"registry": {"max_depth": 1}}"#);
    for file in [
        "sub/.agent/skills/evil/SKILL.md",
        "sub/deep/.cursor/skill/evil/skill.md",
        "node_modules/pkg/.agents/skills/evil/SKILL.md",
        "vendor/evil/SKILL.md",
        ".agent/skills/.trash/evil/20991231T000000Z/SKILL.md",
        "sub/.agent/skills.lock",
        "sub/.agent/evals/a/case.json",
    ] {
        check(file, "{}");
    }
}
