//! What `eval new` writes can fail for the reasons that its author wants to know about.

use super::*;

/// A world with one skill, for which these options of `eval new` were given.
fn begun(options: &str) -> (World, String) {
    let world = authors();
    world.skill("project/.agent/skills/zebra", "Counts the stripes of zebras. Use for stripes.");
    let seen = world.run(&format!("skillful eval new zebra {options}"));
    (world, seen)
}

/// The text of a case of the skill, which goes on like this after its first expectations.
fn case(id: &str, ending: &str) -> String {
    let beginning = r#"{
  "id": "ID",
  "input": "Counts the stripes of zebras",
  "setup": {
    "skill_roots": [
      ".agent/skills"
    ]
  },
  "expect": {
    "skills_all_of": [
      "zebra"
    ],
    "action_sequence_constraints": [
      {
        "must_occur": "select_skills",
        "before": "final_answer"
      }
    ]"#;
    beginning.replace("ID", id) + ending
}

#[test]
fn a_new_case_fails_where_the_skill_is_not_chosen() {
    let (world, seen) = begun("");
    insta::assert_snapshot!(seen, @"
    [world]/project/.agent/evals/zebra/chosen/case.json
    [world]/project/.agent/skills/zebra/evals/triggers.json
    [stderr]
    `skillful eval run` runs it.
    With --model, a model decides whether to use the skill. Without it, the offline planner does; it only compares words. Change `input` to a real request, and describe a good answer in `expect.output` and `assertions`.
    ");
    let ending = r#"
  },
  "assertions": [
    "The answer does what the request asks for"
  ]
}
"#;
    assert_eq!(world.read("project/.agent/evals/zebra/chosen/case.json"), case("chosen", ending));
    insta::assert_snapshot!(world.run("skillful eval run -q"), @"
    1 of 1 case passed
    1 assertion was not judged: no --model and no --grader
    ");
    world.turns(&[turns::answer("I know without any skill.")]);
    let seen = world.run("skillful eval run -q --model scripted:turns.json");
    assert!(
        seen.contains("`zebra` should have been chosen") && seen.contains("[exit 1]"),
        "{seen}"
    );
    world.skill("project/.agent/skills/zebra", "Bakes bread.");
    let seen = world.run("skillful eval run -q");
    assert!(
        seen.contains("`zebra` should have been chosen") && seen.contains("[exit 1]"),
        "{seen}"
    );
}

#[test]
fn a_scripted_case_says_what_it_does_not_show() {
    let (world, seen) = begun("--mock");
    insta::assert_snapshot!(seen, @"
    [world]/project/.agent/evals/zebra/loads/case.json
    [world]/project/.agent/skills/zebra/evals/triggers.json
    [stderr]
    `skillful eval run` runs it.
    Its replies are scripted: the case shows that the skill can be found and loaded. It does not show that a model chooses the skill, or how well it works.
    ");
    let ending = r#",
    "stop_reason": "final_answer"
  },
  "mock": {
    "turns": [
      {
        "action": {
          "payload": {
            "reason": "the script says so",
            "skills": [
              {
                "name": "zebra",
                "source": "explicit"
              }
            ]
          },
          "type": "select_skills"
        }
      },
      {
        "action": {
          "payload": {
            "content": "Its replies are scripted: the case shows that the skill can be found and loaded. It does not show that a model chooses the skill, or how well it works."
          },
          "type": "final_answer"
        }
      }
    ],
    "streaming": {
      "enabled": false,
      "chunk_bytes": 16
    }
  }
}
"#;
    assert_eq!(world.read("project/.agent/evals/zebra/loads/case.json"), case("loads", ending));
    insta::assert_snapshot!(world.run("skillful eval run -q"), @"1 of 1 case passed");
    let both = world.run("skillful eval new zebra; ls .agent/evals/zebra");
    assert!(both.starts_with("[world]") && both.contains("chosen\nloads\n"), "{both}");
}
