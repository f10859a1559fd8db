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
    // Settings of skillful: take the first `//` away from a line to set it.
    {
      "audit": {
        // "redact": [],  // Further patterns (regular expressions) of secrets that are never written.
        // "store_prompts": false,  // Whether prompts and what the model wrote are recorded, not only their hash and size.
      },
      "budget": {
        // "max_context_chars": 200000,  // Characters of the context.
        // "max_cost_usd": null,  // What the model may cost, in US dollars; no limit by default.
        // "max_output_tokens": null,  // Tokens the model may write; no limit by default.
        // "max_script_runs": 6,  // Runs of scripts.
        // "max_tool_calls": 30,  // Calls of tools and scripts.
        // "max_turns": 12,  // Decisions of the model.
        // "max_wall_seconds": 600,  // Seconds from start to end.
      },
      "catalog": {
        // "format": "lines",  // How it is written: `lines`, `xml` or `json`.
        // "max_chars": 8000,  // Characters it may take.
      },
      // "disclosure": "metadata",  // Whether bodies are shown from the start (`core`) or after selection (`metadata`).
      "eval": {
        // "trigger_threshold": 0.5,  // The share of its runs from which on a trigger query counts as triggering, more than 0 and at most 1.
      },
      "execution": {
        // "max_argument_bytes": 4096,  // Bytes of one argument.
        // "max_arguments": 64,  // Arguments that a script may be called with.
        // "network_hosts": [],  // Hosts that network requests may reach.
        // "private_hosts": [],  // Those of them that may have private, loopback or link-local addresses.
        // "require_approval_for": [],  // Tools that ask before every use, whatever the rules allow; the lists of all places add up.
        // "sandbox": "required",  // What happens where the kernel cannot contain a script.
        // "timeout_seconds": 30,  // Seconds a script may take.
      },
      "install": {
        // "max_bytes": 104857600,  // Bytes of all files of a pack.
        // "max_entries": 10000,  // Files of a pack.
        // "max_ratio": 100,  // How many times larger a file may be than its compressed form.
        // "require_signature": "never",  // Which packs must be signed: `never` any, `remote` ones, `always` all.
        // "timeout_seconds": 300,  // Seconds that fetching a pack may take.
        // "verify_on_load": "warn",  // What happens when a loaded file differs from what was installed: `warn`, `require` refuses it, `off`.
      },
      "model": {
        // "api_key_command": null,  // A command that prints the key, word by word.
        // "api_key_env": null,  // The variable that holds the key; the provider's usual one when not set.
        // "base_url": null,  // Where the server is, with the path that its interface begins with.
        // "ca_file": null,  // A file with certificates of further authorities (PEM).
        // "connect_timeout_seconds": 10,  // Seconds for a connection.
        // "idle_timeout_seconds": 120,  // Seconds without a byte of a reply.
        // "max_retries": 4,  // Tries after the first, where a failure may pass.
        // "max_tokens": null,  // Tokens that one reply may have.
        // "name": null,  // The model's name; of a scripted one, its file.
        // "protocol": "auto",  // How decisions are asked for: `tools`, `json`, or `auto` to find out what the server understands.
        // "provider": null,  // Who decides: `offline`, `scripted`, `mock` (scripted by the file `name` or by `params`, else offline), `openai` (and every compatible server) or `anthropic`; found out when not set.
        // "stream": true,  // Whether replies come in pieces.
        // "timeout_seconds": 600,  // Seconds for a whole reply.
      },
      "patience": {
        // "corrections": 2,  // Corrective tries in a turn after a reply that is not a decision.
        // "same_failures": 3,  // Failures of the same action in a row that end the run.
        // "skills_per_turn": 2,  // Bodies that one action may load.
      },
      "permissions": {
      },
      "profiles": {
      },
      "registry": {
        // "compat": true,  // Whether the folders of other clients are searched, too, such as `.claude` and `.codex`.
        // "follow_symlinks": true,  // Whether symbolic links are followed.
        // "max_depth": 6,  // How deep grouping folders may nest.
        // "max_directories": 20000,  // Folders looked at in one root.
        // "mode": "strict",  // `strict`, or `lenient` to index skills with a flawed frontmatter, too.
        // "precedence": ["explicit","project","user","builtin"],  // The order of sources, the strongest first.
      },
      "search": {
        // "bodies": false,  // Whether the words of bodies count, too; `refresh`, `install` and `update` read them.
      },
      "security": {
        // "block_angle_brackets_in_frontmatter": true,  // Whether `<` or `>` in a name, description or `when_to_use` refuses the skill.
        // "max_frontmatter_depth": 8,  // Nesting of frontmatter values.
        // "max_frontmatter_line_chars": 2000,  // Characters of a frontmatter line.
        // "max_frontmatter_lines": 200,  // Lines of a frontmatter.
        // "max_resource_excerpt_chars": 12000,  // Characters of an excerpt.
        // "max_resource_file_bytes": 2000000,  // Bytes of a file that is read as a resource.
        // "max_skill_body_chars": 40000,  // Characters of a body.
        // "max_skill_body_lines": 500,  // Lines of a body.
        // "oversize_skill_body": "trim",  // What happens to a longer body: `trim` or `reject`.
        // "visible_files": [],  // Files that the tools see although their names say that they hold secrets.
      },
      // "skill_roots": [],  // Further folders to search for skills, the strongest first.
      "trust": {
        // "projects": "ask",  // `ask` hides a project's skills until `skillful trust project`; `all` is for CI.
      },
    }
    "#);
    assert_eq!(world.run("skillful config show"), before);
    assert_snapshot!(world.run("skillful config init"), @"
    [stderr]
    error: `[world]/project/.agent/config.json` is already there
    hint: edit it; `skillful config show --origin` says what counts
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
