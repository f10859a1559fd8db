//! What a client can do, and what it is told.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{Client, World, closed, read};

fn names(tools: &Value) -> Vec<&str> {
    tools["result"]["tools"].as_array().unwrap().iter().filter_map(|t| t["name"].as_str()).collect()
}

#[tokio::test]
async fn the_tools_describe_themselves() {
    let world = World::new();
    world.skill("alpha", "").skill("beta", "");
    let mut client = Client::connect(&world.shelf()).await;
    let tools = client.ask("tools/list", json!({})).await;
    assert_eq!(
        names(&tools),
        [
            "skill",
            "load_skill_chunk",
            "load_skill_resource",
            "search_skills",
            "read_observation",
            "run_skill_script"
        ]
    );
    let skill = &tools["result"]["tools"][0];
    assert_eq!(skill["inputSchema"]["properties"]["name"]["enum"], json!(["alpha", "beta"]));
    let description = skill["description"].as_str().unwrap();
    assert!(description.contains("- name=alpha | source=explicit | description=What alpha does."));
}

#[tokio::test]
async fn names_are_an_enum_up_to_two_hundred_skills() {
    for (count, is_enum) in [(200, true), (201, false)] {
        let world = World::new();
        for number in 0..count {
            world.skill(&format!("skill-{number}"), "");
        }
        let tools = Client::connect(&world.shelf()).await.ask("tools/list", json!({})).await;
        let name = &tools["result"]["tools"][0]["inputSchema"]["properties"]["name"];
        assert_eq!(name.get("enum").is_some(), is_enum, "{count}");
    }
}

#[tokio::test]
async fn without_a_visible_skill_there_is_no_tool() {
    let world = World::with_rules(json!({"skill": "deny"}));
    world.skill("alpha", "");
    let mut client = Client::connect(&world.shelf()).await;
    let tools = client.ask("tools/list", json!({})).await;
    assert_eq!(names(&tools), [""; 0]);
    let call =
        client.ask("tools/call", json!({"name": "skill", "arguments": {"name": "alpha"}})).await;
    assert_eq!(call["error"]["code"], -32602);
    assert_eq!(world.records(), [""; 0].map(std::path::PathBuf::from), "nothing was begun");
}

#[tokio::test]
async fn a_skill_is_handed_over_once_in_a_session_and_again_in_another() {
    let world = World::new();
    world.skill("alpha", "");
    let shelf = world.shelf();
    let mut one = Client::connect(&shelf).await;
    let first = one.call("skill", json!({"name": "alpha"})).await;
    assert!(first.starts_with("[Skill: alpha | source=explicit]") && first.contains("Do it."));
    assert_eq!(
        one.call("skill", json!({"name": "alpha"})).await,
        "alpha already loaded; see above."
    );
    let mut other = Client::connect(&shelf).await;
    assert_eq!(other.call("skill", json!({"name": "alpha"})).await, first);
    drop((one, other));
    assert!(closed(&shelf).await);
    let records = world.records();
    assert_eq!(records.len(), 2, "one record a session");
    for record in records {
        let verified = runtime::journal::verify(&record, None).unwrap();
        assert!(verified.problems.is_empty(), "{:?}", verified.problems);
        let summary = read(&record.join("run.json"));
        assert!(summary.contains("\"final_answer\""), "{summary}");
        assert_eq!(read(&record.join("final.md")), "The client ended the session.");
    }
}

#[tokio::test]
async fn chunks_files_and_searches_come_from_the_companions() {
    let world = World::new();
    world.write(
        "explicit/alpha/SKILL.md",
        "---\nname: alpha\ndescription: Bakes bread.\n---\n\nBegin.\n\n<!-- chunk:oven -->\nHeat it.\n<!-- /chunk -->\n",
    );
    world.write("explicit/alpha/references/flour.md", "# Flour\n\nRye.\n");
    let mut client = Client::connect(&world.shelf()).await;
    let found = client.call("search_skills", json!({"query": "bread"})).await;
    assert_eq!(found, "- name=alpha | source=explicit | description=Bakes bread.");
    let file = json!({"name": "alpha", "relative_path": "references/flour.md"});
    assert!(client.call("load_skill_resource", file).await.contains("Rye."));
    let up = json!({"name": "alpha", "relative_path": "../../x"});
    assert!(client.call("load_skill_resource", up).await.starts_with("PathTraversalBlocked"));
    let chunk = client.call("load_skill_chunk", json!({"name": "alpha", "chunk_id": "nope"})).await;
    assert!(chunk.starts_with("ChunkNotFound"), "{chunk}");
    let script = json!({"name": "alpha", "relative_path": "scripts/x.sh"});
    let script = client.call("run_skill_script", script).await;
    assert!(script.contains("the skill `alpha` has not been selected"), "{script}");
    let wrong = client.call("skill", json!({"nom": "alpha"})).await;
    assert!(wrong.starts_with("InvalidAction: the arguments of `skill` cannot be understood"));
}

#[tokio::test]
async fn what_is_read_has_the_digest_of_the_manifest() {
    let world = World::new();
    world.skill("alpha", "license: MIT\n");
    world.write("explicit/alpha/assets/picture.png", [0x89, b'P', 0, 0xff]);
    world.write("explicit/alpha/a b/ü.md", "Umlaut\r\n");
    let mut client = Client::connect(&world.shelf()).await;
    let listed = client.ask("skills/list", json!({})).await;
    let result = &listed["result"];
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["cacheScope"], "private");
    assert!(result["ttlMs"].is_u64());
    let skill = &result["skills"][0];
    assert_eq!(
        skill["frontmatter"],
        json!({"name": "alpha", "description": "What alpha does.", "license": "MIT"})
    );
    let got = client.ask("skills/get", json!({"uri": skill["uri"]})).await;
    assert_eq!(&got["result"]["skill"], skill);
    let manifest = skill["resources"].as_array().unwrap().clone();
    let addresses: Vec<&str> = manifest.iter().filter_map(|file| file["uri"].as_str()).collect();
    assert_eq!(
        addresses,
        [
            "skill://alpha/SKILL.md",
            "skill://alpha/a%20b/%C3%BC.md",
            "skill://alpha/assets/picture.png"
        ]
    );
    for file in &manifest {
        let read = client.ask("resources/read", json!({"uri": file["uri"]})).await;
        let content = &read["result"]["contents"][0];
        let bytes = match content["text"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => {
                use base64::Engine;
                let blob = content["blob"].as_str().unwrap();
                base64::engine::general_purpose::STANDARD.decode(blob).unwrap()
            }
        };
        assert_eq!(bytes.len() as u64, file["size"], "{file}");
        let digest =
            Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(format!("sha256:{digest}"), file["digest"]);
    }
}

#[tokio::test]
async fn folders_are_read_a_level_at_a_time() {
    let world = World::new();
    world
        .skill("alpha", "")
        .write("explicit/alpha/a/b/c.md", "c")
        .write("explicit/alpha/a/d.txt", "d");
    let mut client = Client::connect(&world.shelf()).await;
    for (uri, expected) in [
        ("skill://alpha", Some(vec!["alpha text/markdown", "a inode/directory"])),
        ("skill://alpha/a", Some(vec!["b inode/directory", "d.txt text/plain"])),
        ("skill://alpha/a/d.txt", None),
        ("skill://alpha/nope", None),
        ("skill://nope", None),
        ("file:///etc", None),
    ] {
        let read = client.ask("resources/directory/read", json!({"uri": uri})).await;
        let shown = read["result"]["resources"].as_array().map(|children| {
            let shown = |child: &Value| {
                format!(
                    "{} {}",
                    child["name"].as_str().unwrap(),
                    child["mimeType"].as_str().unwrap()
                )
            };
            children.iter().map(shown).collect::<Vec<_>>()
        });
        assert_eq!(
            shown,
            expected.map(|all| all.into_iter().map(str::to_owned).collect()),
            "{uri}"
        );
        if shown.is_none() {
            assert_eq!(read["error"]["code"], -32602, "{uri}");
        }
    }
}

#[tokio::test]
async fn lists_come_in_pages_and_every_skill_once() {
    let world = World::new();
    for number in 0..205 {
        world.skill(&format!("skill-{number:03}"), "");
    }
    let mut client = Client::connect(&world.shelf()).await;
    for (method, key, name) in [
        ("resources/list", "resources", "name"),
        ("skills/list", "skills", "uri"),
        ("prompts/list", "prompts", "name"),
    ] {
        let (mut seen, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
            let listed = client.ask(method, params).await;
            let items = listed["result"][key].as_array().unwrap().clone();
            seen.extend(items.iter().map(|item| item[name].to_string()));
            cursor = listed["result"]["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        let all = seen.len();
        seen.dedup();
        assert_eq!((seen.len(), all), (205, 205), "{method}");
        for wrong in ["9999", "x", "-1", ""] {
            let answer = client.ask(method, json!({"cursor": wrong})).await;
            assert_eq!(answer["error"]["code"], -32602, "{method} {wrong}");
        }
    }
}

#[tokio::test]
async fn a_person_chooses_skills_that_the_model_is_not_told_about() {
    let world = World::new();
    world.skill("alpha", "").skill("secret", "disable-model-invocation: true\n");
    world.skill("inner", "user-invocable: false\n");
    let mut client = Client::connect(&world.shelf()).await;
    let prompts = client.ask("prompts/list", json!({})).await;
    let listed: Vec<&str> = prompts["result"]["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|prompt| prompt["name"].as_str())
        .collect();
    assert_eq!(listed, ["alpha", "secret"]);
    let params = json!({"name": "secret", "arguments": {"request": "the report"}});
    let prompt = client.ask("prompts/get", params).await;
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("Do it.") && text.ends_with("Use this skill for: the report"), "{text}");
    let params = json!({"name": "secret"});
    let again = client.ask("prompts/get", params).await;
    assert!(again.to_string().contains("Do it."), "a person gets what they choose: {again}");
    for hidden in ["inner", "nope"] {
        let prompt = client.ask("prompts/get", json!({"name": hidden})).await;
        assert_eq!(prompt["error"]["code"], -32602);
    }
    let called = client.call("skill", json!({"name": "secret"})).await;
    assert_eq!(called, "secret already loaded; see above.", "its text is in the conversation");
}

#[tokio::test]
async fn a_change_of_skills_is_announced_and_counts_at_once() {
    let world = World::new();
    world.skill("alpha", "");
    let shelf = world.shelf();
    let mut client = Client::connect(&shelf).await;
    client.call("skill", json!({"name": "alpha"})).await;
    assert!(client.call("skill", json!({"name": "fresh"})).await.starts_with("SkillNotFound"));
    world.skill("fresh", "");
    shelf.replace(world.index());
    let mut heard = Vec::new();
    while heard.len() < 3 {
        heard.push(client.hear().await["method"].as_str().unwrap().to_owned());
    }
    heard.sort();
    assert_eq!(
        heard,
        ["prompts", "resources", "tools"].map(|of| format!("notifications/{of}/list_changed"))
    );
    assert!(client.call("skill", json!({"name": "fresh"})).await.contains("Do it."));
    assert_eq!(
        client.call("skill", json!({"name": "alpha"})).await,
        "alpha already loaded; see above."
    );
}

#[tokio::test]
async fn names_and_paths_are_completed() {
    let world = World::new();
    world.skill("alpha", "").skill("alps", "").skill("beta", "").write("explicit/beta/x.md", "");
    let mut client = Client::connect(&world.shelf()).await;
    let template = json!({"type": "ref/resource", "uri": "skill://{name}/{+path}"});
    for (argument, context, expected) in [
        (json!({"name": "name", "value": "al"}), json!({}), json!(["alpha", "alps"])),
        (
            json!({"name": "path", "value": ""}),
            json!({"name": "beta"}),
            json!(["SKILL.md", "x.md"]),
        ),
        (json!({"name": "path", "value": ""}), json!({"name": "nope"}), json!([])),
        (json!({"name": "path", "value": ""}), json!({}), json!([])),
    ] {
        let params =
            json!({"ref": template, "argument": argument, "context": {"arguments": context}});
        let completed = client.ask("completion/complete", params).await;
        assert_eq!(completed["result"]["completion"]["values"], expected, "{argument}");
    }
}
