//! Texts in, decisions or problems out.

pub(crate) mod properties;

use agent::action::{Action, SkillRef};
use agent::plan::{Plan, PlanUpdate};
use agent::question::QuestionOption;
use agent::reply::Raw;
use basics::skill::Source;
use schemars::schema_for;
use serde_json::json;

use super::payload::{KINDS, Need};
use super::*;

/// A text, and the action it says or the problem it is.
fn check(text: &str, expected: Result<Action, &str>) {
    let found = parse(text).map(|understood| understood.decision.action);
    let found = found.map_err(|problem| problem.for_model());
    assert_eq!(found, expected.map_err(str::to_owned), "{}", basics::text::prefix(text, 200));
}

fn answer(content: &str) -> Result<Action, &'static str> {
    Ok(Action::FinalAnswer { content: content.to_owned() })
}

const ANSWER: &str = r#"{"action": {"type": "final_answer", "payload": {"content": "hi"}}}"#;
const NO_OBJECT: &str = "; reply with one JSON object and nothing else; an answer for the user goes into {\"action\": {\"type\": \"final_answer\", \"payload\": {\"content\": TEXT}}}";

#[test]
fn every_action_is_read() {
    let pdf = || SkillRef { name: "pdf".to_owned(), source: Some(Source::Project) };
    let actions = [
        (
            r#"{"type": "select_skills", "payload": {"skills": [{"name": "pdf", "source": "project"}, "csv"], "reason": "fits"}}"#,
            Action::SelectSkills {
                skills: vec![pdf(), SkillRef::from_name("csv")],
                reason: "fits".to_owned(),
            },
        ),
        (
            r#"{"type": "search_skills", "payload": {"query": "forms", "limit": 3}}"#,
            Action::SearchSkills { query: "forms".to_owned(), limit: Some(3) },
        ),
        (
            r#"{"type": "load_resource", "payload": {"skill": {"name": "csv", "description": "copied"}, "relative_path": "a.md", "section_hint": null}}"#,
            Action::LoadResource {
                skill: SkillRef::from_name("csv"),
                relative_path: "a.md".to_owned(),
                section_hint: None,
            },
        ),
        (
            r#"{"type": "load_chunk", "payload": {"skill": "csv", "chunk_id": "c1"}}"#,
            Action::LoadChunk { skill: SkillRef::from_name("csv"), chunk_id: "c1".to_owned() },
        ),
        (
            r#"{"type": "run_script", "payload": {"skill": {"name": "pdf", "source": "project"}, "relative_path": "scripts/a.sh", "args": ["x", ""], "stdin": "y"}}"#,
            Action::RunScript {
                skill: pdf(),
                relative_path: "scripts/a.sh".to_owned(),
                args: vec!["x".to_owned(), String::new()],
                stdin: Some("y".to_owned()),
            },
        ),
        (
            r#"{"type": "call_tool", "payload": {"tool": "grep", "params": {"pattern": "x", "glob": null}}}"#,
            Action::CallTool {
                tool: "grep".to_owned(),
                params: json!({"pattern": "x"}),
                skill: None,
            },
        ),
        (
            r#"{"type": "call_tool", "payload": {"tool": "list_dir"}}"#,
            Action::CallTool { tool: "list_dir".to_owned(), params: json!({}), skill: None },
        ),
        (
            r#"{"type": "call_tool", "payload": {"tool": "run_command", "params": {"command": "make", "needs": {"network": ["crates.io"]}, "why": null}, "skill": "pdf"}}"#,
            Action::CallTool {
                tool: "run_command".to_owned(),
                params: json!({"command": "make", "needs": {"network": ["crates.io"]}}),
                skill: Some(SkillRef::from_name("pdf")),
            },
        ),
        (
            r#"{"type": "ask_user", "payload": {"question": "Which?", "options": ["Q1", {"label": "Q2", "description": "later"}, {"label": "Q3", "description": null}], "multiple": true, "secret": null}}"#,
            Action::AskUser {
                question: "Which?".to_owned(),
                options: vec![
                    QuestionOption { label: "Q1".to_owned(), description: None },
                    QuestionOption::new("Q2", "later"),
                    QuestionOption { label: "Q3".to_owned(), description: None },
                ],
                multiple: true,
                secret: false,
            },
        ),
        (
            r#"{"type": "apply_changes", "payload": {"paths": ["src"], "reason": "look"}}"#,
            Action::ApplyChanges { paths: vec!["src".to_owned()], reason: "look".to_owned() },
        ),
    ];
    for (text, action) in actions {
        check(text, Ok(action.clone()));
        check(&format!("{{\"action\": {text}}}"), Ok(action));
    }
}

#[test]
fn spellings_that_can_mean_nothing_else_are_accepted() {
    check(ANSWER, answer("hi"));
    check(r#"{"type": "final_answer", "payload": {"content": "hi"}}"#, answer("hi"));
    check(r#"{"action": {"type": "final_answer", "content": "hi"}}"#, answer("hi"));
    check(r#"{"type": "final_answer", "content": "hi", "plan_update": null}"#, answer("hi"));
    check(
        r#"{"thought": "easy", "confidence": 1, "action": {"type": "final_answer", "payload": {"content": "hi"}}}"#,
        answer("hi"),
    );
    check(
        r#"{"action": {"type": "final_answer", "reason": "r", "payload": {"content": "hi", "reasoning": ["r"]}}}"#,
        answer("hi"),
    );
    let run = Action::RunScript {
        skill: SkillRef::from_name("s"),
        relative_path: "scripts/x".to_owned(),
        args: vec![],
        stdin: None,
    };
    check(
        r#"{"type": "run_script", "payload": {"skill": "s", "relative_path": "scripts/x", "args": null, "stdin": null}}"#,
        Ok(run),
    );
}

#[test]
fn noise_around_the_object_does_not_matter() {
    for (before, after) in [
        ("", "\n"),
        ("\u{feff}", ""),
        ("```json\n", "\n```"),
        ("Sure! Here it is:\n\n```\n", "\n```\nAnything else?"),
        ("<think>{\"action\": {\"type\": \"run_script\"}}</think>", ""),
        ("<thinking>\nLet me {see}.\n</thinking>\n", ""),
        ("let me see {\"a\": 1}\n</think>\n", ""),
        ("[", "]"),
        ("[1, ", "]"),
    ] {
        check(&format!("{before}{ANSWER}{after}"), answer("hi"));
    }
}

#[test]
fn what_is_no_object_is_refused() {
    check("", Err(&format!("the reply is empty{NO_OBJECT}")));
    check(" \n\t", Err(&format!("the reply is empty{NO_OBJECT}")));
    let missing = format!("no JSON object in the reply{NO_OBJECT}");
    check("I think the answer is 4.", Err(&missing));
    check("Use {curly} braces {} or {\n}.", Err(&missing));
    check("<think>hm</think>", Err(&missing));
    check(&format!("<think>{ANSWER}</think>"), Err(&missing));
    for (text, found) in [
        ("null", "null"),
        ("42", "a number"),
        ("true", "true or false"),
        ("[]", "an array"),
        ("[{}, [1]]", "an array"),
        (r#""{\"action\": {\"type\": \"final_answer\"}}""#, "a string"),
    ] {
        check(text, Err(&format!("the reply is {found}, not a JSON object{NO_OBJECT}")));
    }
}

#[test]
fn two_objects_are_refused() {
    let several = |first, second| {
        format!(
            "JSON objects at byte {first} and at byte {second}, one is expected; reply with one JSON object, without drafts or examples around it"
        )
    };
    check(&format!("{ANSWER}{ANSWER}"), Err(&several(0, 66)));
    check(&format!("First {ANSWER}, then {ANSWER}"), Err(&several(6, 79)));
    check(&format!("[{ANSWER}, {ANSWER}]"), Err(&several(1, 69)));
    check(&format!("{ANSWER}\n{{\"action\": {{"), Err(&several(0, 67)));
}

#[test]
fn broken_json_is_refused_with_its_place() {
    check(
        "{'action': {}}",
        Err(
            "the JSON is broken: expected a key in double quotes or `}`, found `\\'` at byte 1 of the object, near `{'action': {}`; write one strict JSON value: double quotes, no comments, no trailing commas",
        ),
    );
    check(
        r#"Here: {"action": {"type": "final_answer", "payload": {"content": "hi",}}}"#,
        Err(
            "the JSON is broken: expected a key in double quotes, found `}` at byte 64 of the object, near `load\": {\"content\": \"hi\",}}}`; write one strict JSON value: double quotes, no comments, no trailing commas",
        ),
    );
    check(
        "{\"action\": {\"type\": \"final_answer\", \"payload\": {\"content\": \"two\nlines\"}}}",
        Err(
            "the JSON is broken: control character in a string at byte 63 of the object, near `yload\": {\"content\": \"two lines\"}}}`; escape line breaks and other control characters in strings, as in `\\n`",
        ),
    );
}

#[test]
fn a_reply_cut_off_anywhere_is_refused() {
    let whole = r#"```json
{"action": {"type": "call_tool", "payload": {"tool": "read_file", "params": {"path": "é\u00e9\n.txt", "lines": [1, -2.5e3]}}}, "plan_update": {"mode": "patch", "ops": []}, "diagnostics": null}"#;
    assert!(parse(whole).is_ok());
    for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
        assert!(parse(&whole[..end]).is_err(), "{}", &whole[..end]);
    }
    check(
        &ANSWER[..40],
        Err(
            "the JSON object at byte 0 is never closed; close every string and brace; shorten the reply if it was cut off",
        ),
    );
    check(
        "{",
        Err(
            "the JSON is broken: text ends before the value is complete at byte 1 of the object, near `{`; close every string, array and object; shorten the text if it was cut off",
        ),
    );
}

#[test]
fn an_unknown_type_gets_a_suggestion() {
    let all = "select_skills, search_skills, load_resource, load_chunk, run_script, call_tool, read_observation, ask_user, apply_changes, final_answer";
    for (written, suggestion) in [
        ("final_anwser", "did you mean `final_answer`? There are: "),
        ("FinalAnswer", "did you mean `final_answer`? There are: "),
        ("select_skill", "did you mean `select_skills`? There are: "),
        ("dance", "there are: "),
        ("", "there are: "),
    ] {
        let text = json!({"action": {"type": written, "payload": {}}}).to_string();
        check(&text, Err(&format!("`{written}` is not a type of action; {suggestion}{all}")));
    }
    check(
        r#"{"type": "read_file", "payload": {"path": "a"}}"#,
        Err(
            "`read_file` is not a type of action; it is a tool: {\"type\": \"call_tool\", \"payload\": {\"tool\": \"read_file\", \"params\": {…}}}",
        ),
    );
    let long = json!({"type": "x\n".repeat(1_000)}).to_string();
    let shown = parse(&long).unwrap_err().to_string();
    assert_eq!(shown, format!("`{}…` is not a type of action", "x ".repeat(30)));
}

/// A payload of a type, and what is wrong with it.
fn wrong(kind: &str, payload: &str, expected: &str) {
    let text = format!(r#"{{"action": {{"type": "{kind}", "payload": {payload}}}}}"#);
    let problem = parse(&text).unwrap_err();
    assert_eq!(problem.to_string(), expected, "{text}");
}

#[test]
fn wrong_types_say_where() {
    wrong("final_answer", "null", "`action.payload` is null, it must be an object");
    wrong("final_answer", r#""hi""#, "`action.payload` is a string, it must be an object");
    wrong("final_answer", "[]", "`action.payload` is an array, it must be an object");
    wrong("final_answer", "{}", "there is no `action.payload.content`, it must be a string");
    for (value, found) in
        [("7", "a number"), ("{}", "an object"), ("null", "null"), ("false", "true or false")]
    {
        let payload = format!(r#"{{"content": {value}}}"#);
        let expected = format!("`action.payload.content` is {found}, it must be a string");
        wrong("final_answer", &payload, &expected);
    }
    wrong(
        "run_script",
        r#"{"skill": "s", "relative_path": "scripts/x", "args": "a b"}"#,
        "`action.payload.args` is a string, it must be an array of strings",
    );
    wrong(
        "run_script",
        r#"{"skill": "s", "relative_path": "scripts/x", "args": ["a", 2]}"#,
        "`action.payload.args[1]` is a number, it must be a string",
    );
    wrong(
        "select_skills",
        r#"{"skills": {"name": "s"}}"#,
        "`action.payload.skills` is an object, it must be an array of skills as [{\"name\": NAME}]",
    );
    wrong(
        "select_skills",
        r#"{"skills": ["s", {"source": "user"}]}"#,
        "there is no `action.payload.skills[1].name`, it must be a string",
    );
    wrong(
        "load_chunk",
        r#"{"skill": {"name": "s", "source": "Global"}, "chunk_id": "c"}"#,
        "`action.payload.skill.source` is `Global`, it must be one of `explicit`, `project`, `user`, `builtin`",
    );
    wrong(
        "load_chunk",
        r#"{"skill": 1, "chunk_id": "c"}"#,
        "`action.payload.skill` is a number, it must be a skill as {\"name\": NAME}",
    );
    for limit in ["-1", "1.5", "1e3", "\"5\""] {
        let payload = format!(r#"{{"query": "q", "limit": {limit}}}"#);
        let found = if limit.starts_with('"') { "a string" } else { "a number" };
        let expected = format!("`action.payload.limit` is {found}, it must be a whole number");
        wrong("search_skills", &payload, &expected);
    }
    wrong(
        "ask_user",
        r#"{"question": "q", "secret": "yes"}"#,
        "`action.payload.secret` is a string, it must be true or false",
    );
    wrong(
        "ask_user",
        r#"{"question": "q", "options": "a or b"}"#,
        "`action.payload.options` is a string, it must be an array of answers as [{\"label\": TEXT}]",
    );
    wrong(
        "ask_user",
        r#"{"question": "q", "options": ["a", {"value": "b"}]}"#,
        "there is no `action.payload.options[1].label`, it must be a string",
    );
    wrong(
        "apply_changes",
        r#"{"paths": "src"}"#,
        "`action.payload.paths` is a string, it must be an array of strings",
    );
    wrong(
        "call_tool",
        r#"{"tool": "grep", "params": "{\"pattern\": \"x\"}"}"#,
        "`action.payload.params` is a string, it must be an object",
    );
}

#[test]
fn what_is_missing_is_named() {
    let action = "there is no `action`, it must be an object with `type` and `payload`";
    for (text, expected) in [
        ("{}", action),
        (r#"{"plan_update": null}"#, action),
        (r#"{"thought": "hm"}"#, action),
        (r#"{"action": null}"#, "`action` is null, it must be an object with `type` and `payload`"),
        (
            r#"{"action": "final_answer", "payload": {}}"#,
            "`action` is a string, it must be an object with `type` and `payload`",
        ),
        (r#"{"action": {}}"#, "there is no `action.type`, it must be a string"),
        (r#"{"action": {"type": 1}}"#, "`action.type` is a number, it must be a string"),
        (
            r#"{"action": {"type": "final_answer"}}"#,
            "there is no `action.payload`, it must be an object",
        ),
        (
            r#"{"type": "final_answer", "thought": "hm"}"#,
            "there is no `payload`, it must be an object",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), expected, "{text}");
    }
}

#[test]
fn a_key_that_could_change_what_is_done_is_not_passed_over() {
    for (text, expected) in [
        (
            r#"{"type": "run_script", "payload": {"skill": "s", "relative_path": "p", "arguments": ["x"]}}"#,
            "the key `payload.arguments` is not known; known here: skill, relative_path, args, stdin",
        ),
        (
            r#"{"action": {"type": "run_script", "payload": {"skill": "s", "path": "p"}}}"#,
            "the key `action.payload.path` is not known; known here: skill, relative_path, args, stdin",
        ),
        (
            r#"{"action": {"type": "run_script", "payload": {"skill": "s", "relative_path": "p"}, "args": ["x"]}}"#,
            "the key `action.args` is not known; known here: type, payload",
        ),
        (
            r#"{"type": "run_script", "payload": {"skill": "s", "relative_path": "p"}, "args": ["x"]}"#,
            "the key `args` is not known; known here: type, payload",
        ),
        (
            r#"{"action": {"type": "final_answer", "text": "hi"}}"#,
            "the key `action.text` is not known; known here: content",
        ),
    ] {
        check(text, Err(expected));
    }
}

#[test]
fn a_key_given_twice_is_refused() {
    for (text, path) in [
        (r#"{"action": 1, "action": 2}"#, "action"),
        (
            r#"{"action": {"type": "final_answer", "payload": {"content": "a", "content": "a"}}}"#,
            "action.payload.content",
        ),
        (
            r#"{"action": {"type": "call_tool", "payload": {"tool": "t", "params": {"a": [0, {"b": 1, "\u0062": 2}]}}}}"#,
            "action.payload.params.a[1].b",
        ),
        (r#"Sure: {"x": {"": 1, "": 2}}"#, "x."),
    ] {
        let expected =
            format!("the key `{path}` is there twice; write every key of an object once");
        check(text, Err(&expected));
    }
}

#[test]
fn a_plan_update_that_makes_no_sense_leaves_a_good_action() {
    let reply = |rest: &str| {
        let text = format!(
            r#"{{"action": {{"type": "final_answer", "payload": {{"content": "hi"}}}}, {rest}}}"#
        );
        parse(&text).unwrap()
    };
    let good = reply(r#""plan_update": {"mode": "replace", "plan": {"goal": "g"}}"#);
    let plan = Plan { goal: "g".to_owned(), ..Plan::default() };
    assert_eq!(good.decision.plan_update, Some(PlanUpdate::Replace { plan }));
    assert_eq!((good.decision.diagnostics, good.plan_problem), (None, None));
    for (rest, diagnostics, problem) in [
        (r#""plan_update": {"mode": "replace", "plan": {}}"#, None, "missing field `goal`"),
        (
            r#""plan_update": {"mode": "patch", "ops": [{"op": "increment", "path": "/x"}]}, "diagnostics": {"sure": 1}"#,
            Some(Freeform::of(&json!({"sure": 1}))),
            "unknown variant `increment`, expected one of `set`, `add`, `remove`, `move`",
        ),
        (
            r#""plan_update": {"goal": "g"}, "diagnostics": "hm""#,
            Some(Freeform::of(&"hm")),
            "missing field `mode`",
        ),
    ] {
        let Understood { decision, plan_problem } = reply(rest);
        assert_eq!(decision.plan_update, None, "{rest}");
        assert_eq!(decision.diagnostics, diagnostics, "{rest}");
        assert_eq!(plan_problem.as_deref(), Some(problem), "{rest}");
    }
}

#[test]
fn huge_and_deep_replies_are_refused() {
    let long = format!("{ANSWER}{}", " ".repeat(10_000_000));
    check(&long, Err("the reply has 10000066 bytes, the limit is 1000000; write a shorter reply"));
    let fits = format!("{ANSWER}{}", " ".repeat(MAX_REPLY_BYTES - ANSWER.len()));
    check(&fits, answer("hi"));
    for (open, close) in [("{\"a\":", "}"), ("[", "]"), ("[{\"a\":", "}]")] {
        let deep = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        assert!(parse(&deep).is_err());
        let params = format!(
            r#"{{"type": "call_tool", "payload": {{"tool": "t", "params": {{"x": {deep}}}}}}}"#
        );
        let problem = parse(&params).unwrap_err();
        let too_deep = "more than 127 levels of nesting";
        assert!(
            matches!(problem, Problem::TooLong { .. }) || problem.to_string().contains(too_deep)
        );
    }
}

#[test]
fn hostile_texts_are_read_in_linear_time() {
    let key = "k".repeat(400_000);
    let members: String = (0..60_000).map(|n| format!("\"{n}\":1,")).collect();
    let text = format!("{{\"{key}\": {{{members}\"x\": 1, \"x\": 2}}}}");
    let expected = format!("the key `{}….x` is there twice", "k".repeat(60));
    assert_eq!(parse(&text).unwrap_err().to_string(), expected);
}

#[test]
fn the_table_of_payloads_is_what_actions_have() {
    let schema = schema_for!(Action).to_value();
    let mut variants = schema["oneOf"].as_array().unwrap().iter();
    for (kind, fields) in &KINDS {
        let variant = variants.next().unwrap();
        assert_eq!(variant["properties"]["type"]["const"], *kind);
        let payload = &variant["properties"]["payload"];
        let mut names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        names.sort_unstable();
        let properties: Vec<&String> = payload["properties"].as_object().unwrap().keys().collect();
        assert_eq!(properties, names);
        let required = fields.iter().filter(|field| field.need == Need::Required);
        let required: Vec<&str> = required.map(|field| field.name).collect();
        let needed = payload["required"].as_array().cloned().unwrap_or_default();
        assert_eq!(needed, required);
    }
    assert_eq!(variants.next(), None);
}

#[test]
fn a_reply_carries_what_was_read_and_its_hash() {
    let usage = Usage { output_tokens: 3, ..Usage::default() };
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".parse().ok();
    let raw = Raw { sha256, bytes: 3, text: Some("abc".to_owned()) };
    let action = Action::FinalAnswer { content: "abc".to_owned() };
    let decision = Decision { action, plan_update: None, diagnostics: None };
    let plain = Reply::Decided {
        decision,
        usage,
        raw,
        plan_problem: None,
        again: false,
        unable: false,
        unstructured: true,
    };
    assert_eq!(reply("abc", usage), plain);
    let broken = r#"{"action": {"type": "fly"}}"#;
    let expected = Reply::Invalid {
        problem: parse(broken).unwrap_err().for_model(),
        usage,
        raw: Raw::of(broken),
        summary: Some("the model did not reply in the form that it was asked for".to_owned()),
        answer: None,
    };
    assert_eq!(reply(broken, usage), expected);
    assert!(matches!(
        reply(ANSWER, usage),
        Reply::Decided { raw: Raw { bytes: 66, .. }, unstructured: false, .. }
    ));
}
