//! Schemas as data: what they are made of, and that whatever they allow is read.

use agent::action::{Action, SkillRef};
use agent::freeform::Freeform;
use agent::question::QuestionOption;
use permission::params;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;
use serde::Deserialize;
use tools::call::{Call, InvalidCall};

use super::*;

fn all() -> ToolSet {
    ToolSet::from_names(Tool::ALL.map(Tool::name))
}

/// Every schema inside a schema, itself included.
fn parts(schema: &Value) -> Vec<&Value> {
    let members = schema["properties"].as_object().into_iter().flat_map(Map::values);
    let variants = schema["anyOf"].as_array().into_iter().flatten();
    let inner = members.chain(variants).chain(schema.get("items"));
    std::iter::once(schema).chain(inner.flat_map(parts)).collect()
}

/// Whether a schema says only what a strict mode understands.
fn check_strict(schema: &Value) {
    let known = [
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "anyOf",
        "enum",
        "description",
    ];
    for part in parts(schema) {
        let keys: Vec<&String> = part.as_object().unwrap().keys().collect();
        assert!(keys.iter().all(|key| known.contains(&key.as_str())), "{part}");
        assert_ne!(part["type"].is_null(), part["anyOf"].is_null(), "{part}");
        if part["type"] == "object" {
            let mut required: Vec<&str> = part["required"]
                .as_array()
                .unwrap()
                .iter()
                .map(|key| key.as_str().unwrap())
                .collect();
            required.sort_unstable();
            let keys: Vec<&String> = part["properties"].as_object().unwrap().keys().collect();
            assert_eq!(keys, required, "{part}");
            assert_eq!(part["additionalProperties"], false, "{part}");
        }
    }
}

#[test]
fn schemas_say_only_what_strict_modes_understand() {
    let tools = all();
    for skills in [None, Some(["a", "b"].as_slice())] {
        let offered = Offered { tools: &tools, skills, scripts: skills };
        let schema = decision_schema(&offered);
        assert_eq!(schema.0["type"], "object");
        check_strict(&schema.0);
        for tool in tool_definitions(&offered) {
            assert_eq!(tool.parameters.0["type"], "object");
            assert!(!tool.description.is_empty());
            check_strict(&tool.parameters.0);
        }
    }
}

#[test]
fn keys_are_written_in_the_order_of_the_protocol() {
    let tools = ToolSet::from_names(["grep"]);
    let offered = Offered { tools: &tools, skills: Some(&["pdf"]), scripts: None };
    let text = serde_json::to_string(&decision_schema(&offered)).unwrap();
    let select = r#"{"additionalProperties":false,"properties":{"action":{"anyOf":[{"additionalProperties":false,"description":"Load the bodies of skills.","properties":{"type":{"enum":["select_skills"],"type":"string"},"payload":{"additionalProperties":false,"properties":{"skills":{"description":"Which ones.","items":{"additionalProperties":false,"description":"A skill by its name, and its source where several have that name.","properties":{"name":{"enum":["pdf"],"type":"string"},"source":{"anyOf":[{"description":"Where a skill comes from.","enum":["explicit","project","user","builtin"],"type":"string"},{"type":"null"}],"description":"The source."}},"required":["name","source"],"type":"object"},"type":"array"},"reason":{"description":"Why these.","type":"string"}},"required":["skills","reason"],"type":"object"}},"required":["type","payload"],"type":"object"},"#;
    assert_eq!(text.get(..select.len()), Some(select));
    assert!(text.find("\"plan_update\"") > text.find("final_answer"));
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(&value, decision_schema(&offered).as_value());
}

#[test]
fn only_what_is_offered_can_be_chosen() {
    let names = |tools: &ToolSet| -> Vec<String> {
        let offered = Offered { tools, skills: None, scripts: None };
        tool_definitions(&offered).into_iter().map(|tool| tool.name).collect()
    };
    let always = [
        "select_skills",
        "search_skills",
        "load_resource",
        "load_chunk",
        "read_observation",
        "ask_user",
        "apply_changes",
        "final_answer",
    ];
    assert_eq!(names(&ToolSet::from_names([])), always);
    let kinds = |tools: &ToolSet| -> Vec<Value> {
        let schema = decision_schema(&Offered { tools, skills: None, scripts: None });
        let actions = schema.0["properties"]["action"]["anyOf"].as_array().unwrap().clone();
        actions.iter().map(|action| action["properties"]["type"]["enum"][0].clone()).collect()
    };
    assert_eq!(kinds(&ToolSet::from_names([])), always);
    let some = ToolSet::from_names(["run_script", "list_dir"]);
    assert!(names(&some).contains(&"run_script".to_owned()));
    assert_eq!(names(&some).last().unwrap(), "list_dir");
    assert_eq!(kinds(&some).last().unwrap(), "call_tool");
}

#[test]
fn scripts_are_offered_of_those_that_have_some() {
    let tools = ToolSet::from_names(["run_script"]);
    let names = |scripts: &[&str]| {
        let offered = Offered { tools: &tools, skills: Some(&["a", "b"]), scripts: Some(scripts) };
        let definitions = tool_definitions(&offered);
        let script = definitions.into_iter().find(|tool| tool.name == "run_script")?;
        Some(script.parameters.0["properties"]["skill"]["properties"]["name"]["enum"].clone())
    };
    assert_eq!(names(&["b"]), Some(json!(["b"])));
    assert_eq!(names(&[]), None);
}

#[test]
fn a_command_is_offered_with_what_it_needs_and_a_question_with_its_answers() {
    let tools = ToolSet::from_names(["run_command", "edit_file"]);
    let definitions = tool_definitions(&Offered { tools: &tools, skills: None, scripts: None });
    let members = |name: &str, member: &str| {
        let tool = definitions.iter().find(|tool| tool.name == name).unwrap();
        tool.parameters.0["properties"][member].clone()
    };
    let needs = members("run_command", "needs");
    assert_eq!(needs["anyOf"][0]["required"], json!(["network", "secrets"]));
    assert_eq!(needs["anyOf"][0]["properties"]["network"]["items"]["type"], "string");
    assert_eq!(needs["anyOf"][1], json!({"type": "null"}));
    assert_eq!(members("run_command", "timeout_seconds")["type"], json!(["integer", "null"]));
    assert_eq!(members("edit_file", "all")["type"], "boolean");
    let option = members("ask_user", "options")["items"].clone();
    assert_eq!(option["required"], json!(["label", "description"]));
    assert_eq!(option["properties"]["description"]["type"], json!(["string", "null"]));
    assert_eq!(members("apply_changes", "paths")["items"]["type"], "string");
    let script = ToolSet::from_names(["run_script"]);
    let definitions = tool_definitions(&Offered { tools: &script, skills: None, scripts: None });
    let path = definitions.iter().find(|tool| tool.name == "run_script").unwrap();
    // Any file of the skill, wherever it lies.
    assert_eq!(path.parameters.0["properties"]["relative_path"]["enum"], Value::Null);
}

/// A call of a provider's tool, and the decision or problem it is.
fn check_call(name: &str, arguments: &str, expected: Result<Action, &str>) {
    let found = tool_decision(name, arguments).map(|understood| understood.decision.action);
    assert_eq!(found.map_err(|problem| problem.to_string()), expected.map_err(str::to_owned));
}

#[test]
fn a_call_of_a_tool_is_a_decision() {
    check_call(
        "run_script",
        r#"{"skill": {"name": "pdf", "source": null}, "relative_path": "scripts/a", "args": ["x"], "stdin": null, "plan_update": null}"#,
        Ok(Action::RunScript {
            skill: SkillRef::from_name("pdf"),
            relative_path: "scripts/a".to_owned(),
            args: vec!["x".to_owned()],
            stdin: None,
        }),
    );
    let grep = |params| Ok(Action::CallTool { tool: "grep".to_owned(), params, skill: None });
    check_call("grep", r#"{"pattern": "x", "glob": null}"#, grep(json!({"pattern": "x"})));
    check_call(
        "call_tool",
        r#"{"tool": "grep", "params": {"pattern": "x"}}"#,
        grep(json!({"pattern": "x"})),
    );
    check_call("grep", " ", grep(json!({})));
    let command =
        |params| Ok(Action::CallTool { tool: "run_command".to_owned(), params, skill: None });
    check_call(
        "run_command",
        r#"{"command": "make", "folder": null, "stdin": null, "timeout_seconds": null, "background": false, "needs": {"network": ["crates.io"], "secrets": null}, "why": null, "plan_update": null}"#,
        command(
            json!({"command": "make", "background": false, "needs": {"network": ["crates.io"], "secrets": null}}),
        ),
    );
    check_call(
        "ask_user",
        r#"{"question": "Which?", "options": [{"label": "a", "description": null}], "multiple": false, "secret": false}"#,
        Ok(Action::AskUser {
            question: "Which?".to_owned(),
            options: vec![QuestionOption { label: "a".to_owned(), description: None }],
            multiple: false,
            secret: false,
        }),
    );
    check_call(
        "apply_changes",
        "",
        Ok(Action::ApplyChanges { paths: Vec::new(), reason: String::new() }),
    );
    check_call("final_answer", "", Err("there is no `payload.content`, it must be a string"));
    check_call("final_answer", r#"{"text": 1}"#, Err("the key `payload.text` is not known"));
    check_call("sing", "{}", Err("`sing` is not a type of action"));
    check_call("grep", "[1]", Err("the reply is an array, not a JSON object"));
    check_call(
        "grep",
        r#"{"pattern": "x", "pattern": "y"}"#,
        Err("the key `pattern` is there twice"),
    );
    let planned = tool_decision(
        "final_answer",
        r#"{"content": "x", "plan_update": {"mode": "patch", "ops": []}, "diagnostics": 1}"#,
    );
    let planned = planned.unwrap().decision;
    assert!(planned.plan_update.is_some());
    assert_eq!(planned.diagnostics, Some(Freeform::of(&1)));
}

/// Whatever a schema allows.
fn instance(schema: &Value) -> BoxedStrategy<Value> {
    if let Some(variants) = schema["anyOf"].as_array() {
        return Union::new(variants.iter().map(instance)).boxed();
    }
    if let Some(words) = schema["enum"].as_array() {
        return select(words.clone()).boxed();
    }
    let of_kind = |kind: &str| match kind {
        "null" => Just(Value::Null).boxed(),
        "string" => any::<String>().prop_map(Value::from).boxed(),
        "integer" => any::<u32>().prop_map(Value::from).boxed(),
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "array" => vec(instance(&schema["items"]), 0..3).prop_map(Value::from).boxed(),
        // A tool's change of the plan, which the rules describe.
        "object" if schema["properties"].is_null() => Just(Value::Null).boxed(),
        "object" => schema["properties"]
            .as_object()
            .unwrap()
            .iter()
            .fold(Just(Map::new()).boxed(), |object, (key, member)| {
                let key = key.clone();
                (object, instance(member))
                    .prop_map(move |(mut object, value)| {
                        object.insert(key.clone(), value);
                        object
                    })
                    .boxed()
            })
            .prop_map(Value::from)
            .boxed(),
        other => unreachable!("{other} is in no schema"),
    };
    match &schema["type"] {
        Value::Array(kinds) => {
            Union::new(kinds.iter().map(|kind| of_kind(kind.as_str().unwrap()))).boxed()
        }
        kind => of_kind(kind.as_str().unwrap()),
    }
}

/// What was read leaves nothing to complain about, for the tools neither.
fn check_read(read: Result<Understood, Problem>) -> Result<(), TestCaseError> {
    let understood = read.map_err(|problem| TestCaseError::fail(problem.for_model()))?;
    let Understood { decision, plan_problem } = understood;
    prop_assert_eq!(plan_problem, None);
    if let Action::CallTool { tool, params, .. } = decision.action {
        let refused = match Tool::from_name(&tool) {
            // Whoever has a sandbox reads these.
            Some(Tool::RunCommand) => params::RunCommand::deserialize(params).err(),
            Some(Tool::CommandOutput) => params::CommandOutput::deserialize(params).err(),
            Some(Tool::CommandInput) => params::CommandInput::deserialize(params).err(),
            Some(Tool::CommandStop) => params::CommandStop::deserialize(params).err(),
            _ => match Call::parse(&tool, params) {
                Err(InvalidCall::Params { source, .. }) => Some(source),
                _ => None,
            },
        };
        prop_assert!(refused.is_none(), "{:?}", refused);
    }
    Ok(())
}

proptest! {
    #[test]
    fn whatever_the_schema_allows_is_read(
        reply in instance(&decision_schema(&Offered { tools: &all(), skills: None, scripts: None }).0)
    ) {
        check_read(decision::parse(&reply.to_string()))?;
    }

    #[test]
    fn whatever_a_tool_takes_is_read((name, arguments) in Union::new(
        tool_definitions(&Offered { tools: &all(), skills: Some(&["a"]), scripts: None })
            .into_iter()
            .map(|tool| (Just(tool.name), instance(&tool.parameters.0)))
    )) {
        check_read(tool_decision(&name, &arguments.to_string()))?;
    }
}
