//! Skills, packs and keys, and how commands about them end.

use serde_json::Value;

use super::World;

pub(crate) fn skill(world: &World, folder: &str, name: &str, version: &str, body: &str) {
    let text = format!(
        "---\nname: {name}\ndescription: What {name} does.\nversion: {version}\n---\n{body}\n"
    );
    world.write(&format!("{folder}/SKILL.md"), text);
}

/// A world with the skill `demo` in a folder, and a pack of it.
pub(crate) fn packed() -> World {
    let world = World::new();
    skill(&world, "project/demo", "demo", "1.0.0", "# Demo");
    world.write("project/demo/references/a.md", "A");
    world.run("skillful pack demo -o demo.zip");
    world
}

/// The code of the error that a command ends with, and its exit code.
pub(crate) fn refusal(world: &World, line: &str) -> (String, i32) {
    let output = world.output(&format!("skillful {line} --json"));
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{line}: {output:?}"));
    let code =
        document["error"]["code"].as_str().or_else(|| document["problems"][0]["code"].as_str());
    (code.unwrap_or("none").to_owned(), output.status.code().unwrap())
}

pub(crate) fn works(world: &World, line: &str) -> Value {
    let output = world.output(&format!("skillful {line} --json"));
    assert!(output.status.success(), "{line}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Keys in `project/NAME.pub` and `.sec`; answers with the id.
pub(crate) fn key(world: &World, name: &str) -> String {
    works(world, &format!("keygen {name} --no-password"))["key"].as_str().unwrap().to_owned()
}
