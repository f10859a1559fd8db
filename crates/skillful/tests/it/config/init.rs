//! `skillful config init`

use insta::assert_snapshot;

use super::given;
use crate::world::World;

#[test]
fn init_writes_a_file_that_changes_nothing_until_it_is_edited() {
    let world = World::new();
    let before = world.run("skillful config show");
    assert_snapshot!(world.run("skillful config init --dry-run"), @"
    [world]/project/.agent/config.json
    [stderr]
    Nothing was written.
    ");
    assert_snapshot!(world.run("skillful config init"), @"[world]/project/.agent/config.json");
    assert_snapshot!(world.read("project/.agent/config.json"), @r#"
    // Settings of skillful. To set one, remove the first `//` of its line.
    {
      "audit": {
        // "redact": [],  // More patterns (regular expressions) of secrets to keep out of the record.
        // "store_prompts": false,  // Record the full prompts and replies, not only their hash and size.
      },
      "budget": {
        // "max_context_chars": 200000,  // How many characters the context may have.
        // "max_cost_usd": null,  // How many US dollars the model may cost; no limit by default.
        // "max_output_tokens": null,  // How many tokens the model may write; no limit by default.
        // "max_script_runs": 40,  // How many scripts and commands may run.
        // "max_tool_calls": 100,  // How many tool calls are allowed, scripts and commands included.
        // "max_turns": 40,  // How many decisions the model may make.
        // "max_wall_seconds": 1800,  // How many seconds the run may take.
      },
      "catalog": {
        // "format": "lines",  // The format of the list: `lines`, `xml` or `json`.
        // "max_chars": 8000,  // How many characters the list may have.
      },
      "changes": {
        // "apply": "ask",  // When changes reach your files: after you saw them (`ask`), after each action (`auto`), or only with `skillful runs apply` (`keep`).
      },
      // "disclosure": "metadata",  // When a model sees the text of skills: after it chose one (`metadata`), or from the start (`core`).
      "eval": {
        // "trigger_threshold": 0.5,  // How often a query must choose the skill to count as triggered: more than 0, at most 1.
      },
      "execution": {
        // "copy_bytes": 536870912,  // How many bytes of your folder may be copied for a run, where the kernel cannot put a layer over it.
        // "layer_bytes": 2147483648,  // How many bytes a run may write.
        // "layer_files": 100000,  // How many files a run may write.
        // "max_argument_bytes": 4096,  // How many bytes one argument may have.
        // "max_arguments": 64,  // How many arguments a script may get.
        // "network_hosts": [],  // Hosts that the tool `network_request` may reach.
        // "private_hosts": [],  // Allowed hosts that may have private, loopback or link-local addresses.
        // "require_approval_for": [],  // Tools that always ask, even if a rule allows them; your list and the project's add up.
        // "sandbox": "required",  // What to do if the kernel cannot sandbox a script.
        // "timeout_seconds": 120,  // How many seconds a script or command may run.
      },
      "install": {
        // "max_bytes": 104857600,  // How many bytes all files of a pack may have.
        // "max_entries": 10000,  // How many files a pack may have.
        // "max_ratio": 100,  // How many times larger a file may be than its compressed form.
        // "require_signature": "never",  // Which packs a trusted key must sign: none (`never`), those from the network (`remote`) or all (`always`).
        // "timeout_seconds": 300,  // How many seconds a download may take.
        // "verify_on_load": "warn",  // What to do if a file of an installed skill changed: warn (`warn`), refuse it (`require`) or not check (`off`).
      },
      // "mode": "ask",  // How much is asked: `read-only`, `ask`, `contained` (scripts and commands run unasked while every wall stands) or `plan`.
      "model": {
        // "api_key_command": null,  // A command that prints the API key, as a list of words.
        // "api_key_env": null,  // The environment variable with the API key. Not set: the provider's usual one.
        // "base_url": null,  // The server's address, with the path before `/chat/completions` or `/messages`.
        // "ca_file": null,  // A PEM file with more certificate authorities.
        // "connect_timeout_seconds": 10,  // How many seconds a connection may take.
        // "idle_timeout_seconds": 120,  // How many seconds may pass without a new part of the reply.
        // "images": null,  // Whether the model can see pictures. Not set: Skillful goes by its name.
        // "max_retries": 4,  // How often to retry a failed call.
        // "max_tokens": null,  // How many tokens one reply may have.
        // "name": null,  // The model's name; for `scripted`, its file.
        // "protocol": "auto",  // How the model replies: by tool calls (`tools`), in JSON (`json`), or as the server can (`auto`).
        // "provider": null,  // The name of a server that `skillful models` lists (`openai` stands for every compatible server), `offline`, `scripted`, or `mock` (replies from the file `name` or from `params`, else offline). Not set: Skillful looks for a key or a local server.
        // "stream": true,  // Get replies piece by piece.
        // "timeout_seconds": 600,  // How many seconds a whole reply may take.
      },
      "patience": {
        // "corrections": 2,  // How often to ask again in a turn if the reply is not a decision.
        // "questions": 5,  // How many questions the model may ask the user.
        // "same_failures": 3,  // How often the same action may fail in a row before the run ends.
        // "skills_per_turn": 2,  // How many skills one action may load.
      },
      "permissions": {
      },
      "profiles": {
      },
      "registry": {
        // "compat": true,  // Also search the skill folders of other agents, such as `.claude` and `.codex`.
        // "follow_symlinks": true,  // Follow symbolic links.
        // "max_depth": 6,  // How many levels of folders may be between a root and a skill.
        // "max_directories": 20000,  // How many folders to search in one root.
        // "mode": "strict",  // `strict`, or `lenient` to also accept skills with mistakes in the frontmatter.
        // "precedence": ["explicit","project","user","builtin"],  // The order of sources; the first one wins.
      },
      "search": {
        // "bodies": false,  // Also search the text of skills; `refresh`, `install` and `update` read it.
      },
      "security": {
        // "block_angle_brackets_in_frontmatter": true,  // Refuse a skill with `<` or `>` in its name, description or `when_to_use`.
        // "max_frontmatter_depth": 8,  // How many levels deep values in the frontmatter may be.
        // "max_frontmatter_line_chars": 2000,  // How many characters a line of the frontmatter may have.
        // "max_frontmatter_lines": 200,  // How many lines a frontmatter may have.
        // "max_resource_excerpt_chars": 12000,  // How many characters of a file a model gets at once.
        // "max_resource_file_bytes": 2000000,  // How many bytes a file of a skill may have.
        // "max_skill_body_chars": 40000,  // How many characters the text of a skill may have.
        // "max_skill_body_lines": 500,  // How many lines the text of a skill may have.
        // "oversize_skill_body": "trim",  // What to do with a longer text: cut it (`trim`) or refuse the skill (`reject`).
        // "visible_files": [],  // Files that tools may see although they look like secrets.
      },
      // "skill_roots": [],  // More folders with skills; the first one wins.
      "trust": {
        // "projects": "ask",  // `ask` hides a project's skills until you run `skillful trust project`; `all` trusts every project, for CI.
      },
    }
    "#);
    assert_eq!(world.run("skillful config show"), before);
    assert_snapshot!(world.run("skillful config init"), @"
    [stderr]
    error: `[world]/project/.agent/config.json` already exists
    hint: edit it; `skillful config show --origin` shows every value and where it comes from
    [exit 1]
    ");
    assert_snapshot!(world.run_json("skillful config init --user --json"), @r#"
    {
      "path": "[world]/home/.agent/config.json",
      "written": true
    }
    "#);
}

#[test]
fn every_line_of_the_file_can_be_taken_into_use_alone() {
    let world = World::new();
    world.run("skillful config init");
    let template = world.read("project/.agent/config.json");
    let settings = template.lines().filter(|line| line.trim_start().starts_with("// \""));
    let mut count = 0;
    for line in settings {
        count += 1;
        let edited = template.replace(line, &line.replacen("// ", "", 1));
        world.write("project/.agent/config.json", edited);
        let shown = given(&world);
        assert!(shown.ends_with("[world]/project/.agent/config.json\n"), "{line}\n{shown}");
        assert_eq!(shown.lines().count(), 1, "{line}\n{shown}");
    }
    let known = world.json("skillful config show --origin --json").as_object().unwrap().len();
    assert_eq!(count, known);
}
