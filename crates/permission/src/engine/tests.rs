use proptest::array::uniform5;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::super::{
    Answer, CommandLine, Configuration, Effect, Engine, Grant, Layer, Mode, Permission, Reason,
    Request, Risk, Rule, Rules, SkillHash, Tool, ToolSet, Verdict,
};

mod commands;

#[derive(Debug, Clone)]
struct Wish {
    permission: Permission,
    patterns: Vec<String>,
    risk: Risk,
}

impl Request for Wish {
    fn permission(&self) -> Permission {
        self.permission
    }
    fn patterns(&self) -> Vec<String> {
        self.patterns.clone()
    }
    fn risk(&self) -> Risk {
        self.risk
    }
    fn effect(&self) -> String {
        "does it".to_owned()
    }
    fn params(&self) -> Value {
        json!({})
    }
}

fn wish(permission: &str, patterns: &[&str], risk: Risk) -> Wish {
    let permission = Permission::from_name(permission).unwrap();
    Wish { permission, patterns: patterns.iter().map(ToString::to_string).collect(), risk }
}

fn rules(json: &str) -> Rules {
    serde_json::from_str(json).unwrap()
}

fn engine(user: &str, project: &str, profile: &str, command_line: CommandLine) -> Engine {
    let configuration = Configuration {
        user: rules(user),
        project: rules(project),
        profile: rules(profile),
        command_line,
        ..Configuration::default()
    };
    Engine::new("/project", configuration)
}

/// What the engine decides, and which layer decided for the first pattern.
fn outcome(engine: &Engine, wish: Wish, skill: Option<&str>) -> (Effect, Option<Layer>) {
    let skill = skill.map(|hash| SkillHash(hash.to_owned()));
    let decision = match engine.decide(wish, skill.as_ref()) {
        Verdict::Allowed(approved) => approved.decision().clone(),
        Verdict::Ask(pending) => pending.decision().clone(),
        Verdict::Denied(denial) => denial.decision().clone(),
    };
    let layer = match &decision.rulings[0].reason {
        Reason::Rule { layer, .. } => Some(*layer),
        _ => None,
    };
    (decision.action, layer)
}

fn check(
    user: &str,
    project: &str,
    profile: &str,
    request: (&'static str, &str),
    expected: (Effect, Option<Layer>),
) {
    let engine = engine(user, project, profile, CommandLine::default());
    assert_eq!(outcome(&engine, wish(request.0, &[request.1], Risk::Medium), None), expected);
}

#[test]
fn the_defaults_are_those_of_the_contract() {
    let engine = engine("{}", "{}", "{}", CommandLine::default());
    let mut found = String::new();
    for permission in Permission::ALL.map(Permission::name) {
        found += &format!(
            "{permission} {}\n",
            outcome(&engine, wish(permission, &["x"], Risk::Low), None).0
        );
    }
    assert_eq!(
        found,
        "skill allow\nsearch_skills allow\nread_observation allow\nread_file allow\nlist_dir allow\ngrep allow\nrun_script ask\n\
         run_command ask\ncommand_output allow\ncommand_input allow\ncommand_stop allow\nwrite_file allow\nedit_file allow\n\
         delete_file allow\napply_changes ask\nask_user allow\nnetwork_request ask\nnetwork ask\ninstall ask\n"
    );
}

#[test]
fn the_last_matching_rule_wins() {
    let user = r#"{"run_script": {"*": "ask", "pdf-*": "allow", "pdf-x*": "deny"}}"#;
    check(user, "{}", "{}", ("run_script", "csv"), (Effect::Ask, Some(Layer::User)));
    check(user, "{}", "{}", ("run_script", "pdf-a"), (Effect::Allow, Some(Layer::User)));
    check(user, "{}", "{}", ("run_script", "pdf-x"), (Effect::Deny, Some(Layer::User)));
    check(
        r#"{"*": "deny", "skill": "allow"}"#,
        "{}",
        "{}",
        ("grep", "x"),
        (Effect::Deny, Some(Layer::User)),
    );
}

#[test]
fn a_later_layer_wins_but_a_project_only_tightens() {
    let allow = r#"{"run_script": "allow"}"#;
    let deny = r#"{"run_script": "deny"}"#;
    let script = ("run_script", "x");
    check(allow, deny, "{}", script, (Effect::Deny, Some(Layer::Project)));
    check(deny, allow, "{}", script, (Effect::Deny, Some(Layer::User)));
    check("{}", allow, "{}", script, (Effect::Ask, Some(Layer::Defaults)));
    check(allow, deny, allow, script, (Effect::Allow, Some(Layer::Profile)));
    check(allow, "{}", deny, script, (Effect::Deny, Some(Layer::Profile)));
    check("{}", r#"{"network": "allow"}"#, "{}", ("network", "x"), (Effect::Ask, None));
}

#[test]
fn a_required_approval_asks_where_it_was_allowed_and_leaves_what_is_denied() {
    let check = |user, profile, command_line, expected| {
        let configuration = Configuration {
            user: rules(user),
            profile: rules(profile),
            required_approval: Rules::asking(["run_script"]).unwrap(),
            command_line,
            ..Configuration::default()
        };
        let engine = Engine::new("/project", configuration);
        assert_eq!(outcome(&engine, wish("run_script", &["x"], Risk::Medium), None), expected);
    };
    let (allow, deny) = (r#"{"run_script": "allow"}"#, r#"{"run_script": "deny"}"#);
    let none = CommandLine::default;
    check(allow, "{}", none(), (Effect::Ask, Some(Layer::RequiredApproval)));
    check("{}", allow, none(), (Effect::Ask, Some(Layer::RequiredApproval)));
    check(deny, "{}", none().yes(), (Effect::Deny, Some(Layer::User)));
    check("{}", deny, none(), (Effect::Deny, Some(Layer::Profile)));
    let approved = none().approve("run_script").unwrap();
    check(allow, "{}", approved, (Effect::Allow, Some(Layer::CommandLine)));
    let unknown = Rules::asking(["wirte_file"]).unwrap_err();
    assert_eq!(unknown.to_string(), "unknown permission `wirte_file`; did you mean `write_file`?");
}

#[test]
fn any_deny_fails_a_request_and_any_ask_asks_once() {
    let engine = engine(
        r#"{"skill": {"a": "allow", "b": "ask", "c": "deny"}}"#,
        "{}",
        "{}",
        CommandLine::default(),
    );
    let action = |patterns: &[&str]| outcome(&engine, wish("skill", patterns, Risk::Low), None).0;
    assert_eq!(action(&["a", "a"]), Effect::Allow);
    assert_eq!(action(&["a", "b"]), Effect::Ask);
    assert_eq!(action(&["c", "b", "a"]), Effect::Deny);
    assert_eq!(action(&[]), Effect::Allow);
}

#[test]
fn a_request_without_patterns_does_not_slip_past_a_deny() {
    let engine = engine(r#"{"skill": "deny"}"#, "{}", "{}", CommandLine::default());
    assert_eq!(outcome(&engine, wish("skill", &[], Risk::Low), None).0, Effect::Deny);
}

#[test]
fn yes_answers_questions_up_to_medium_risk_and_no_denials() {
    let engine = engine(
        r#"{"write_file": "ask", "install": "deny", "delete_file": "deny"}"#,
        "{}",
        "{}",
        CommandLine::default().yes(),
    );
    let action = |permission, risk| outcome(&engine, wish(permission, &["x"], risk), None).0;
    assert_eq!(action("run_script", Risk::Medium), Effect::Allow);
    assert_eq!(action("write_file", Risk::High), Effect::Ask);
    assert_eq!(action("install", Risk::Medium), Effect::Deny);
    assert_eq!(action("delete_file", Risk::High), Effect::Deny);
}

#[test]
fn the_command_line_approves_and_denies() {
    let flags = CommandLine::default()
        .deny("run_script:pdf-*")
        .unwrap()
        .approve("run_script")
        .unwrap()
        .approve("write_file:notes/*")
        .unwrap();
    let engine = engine(r#"{"write_file": "deny"}"#, "{}", "{}", flags);
    let action =
        |permission, pattern| outcome(&engine, wish(permission, &[pattern], Risk::High), None).0;
    assert_eq!(action("run_script", "csv/x"), Effect::Allow);
    assert_eq!(action("run_script", "pdf-a/x"), Effect::Deny);
    assert_eq!(action("write_file", "notes/a.md"), Effect::Allow);
    assert_eq!(action("write_file", "src/a.rs"), Effect::Deny);
}

#[test]
fn a_remembered_approval_counts_only_where_everything_is_the_same() {
    let mut engine = engine("{}", "{}", "{}", CommandLine::default());
    engine.remember([Grant {
        project: "/project".to_owned(),
        permission: Permission::RunScript,
        pattern: "*/x.py".to_owned(),
        skill_hash: Some(SkillHash("1".to_owned())),
        wildcard: false,
    }]);
    let action =
        |pattern, skill| outcome(&engine, wish("run_script", &[pattern], Risk::Medium), skill).0;
    assert_eq!(action("*/x.py", Some("1")), Effect::Allow);
    assert_eq!(action("*/x.py", Some("2")), Effect::Ask);
    assert_eq!(action("*/x.py", None), Effect::Ask);
    assert_eq!(
        action("a/x.py", Some("1")),
        Effect::Ask,
        "a remembered pattern is a text, not a wildcard"
    );
    let mut elsewhere = Engine::new("/other", Configuration::default());
    elsewhere.remember(engine.grants.clone());
    assert_eq!(
        outcome(&elsewhere, wish("run_script", &["*/x.py"], Risk::Medium), Some("1")).0,
        Effect::Ask
    );
}

#[test]
fn a_tool_is_offered_unless_everything_is_denied() {
    let offered = |user, project, permission| {
        let permission = Permission::from_name(permission).unwrap();
        engine(user, project, "{}", CommandLine::default()).offers(permission)
    };
    assert!(offered("{}", "{}", "run_script"));
    let deny = r#"{"write_file": "deny"}"#;
    assert!(!offered(deny, "{}", "write_file"));
    assert!(offered(r#"{"write_file": {"*": "deny", "notes/*": "ask"}}"#, "{}", "write_file"));
    assert!(!offered(deny, r#"{"write_file": "ask"}"#, "write_file"));
    assert!(!offered(r#"{"write_file": "ask"}"#, r#"{"write_file": "deny"}"#, "write_file"));
    let tools = Engine::new("/project", Configuration::default()).tools();
    assert_eq!(tools, ToolSet::from_names(Tool::ALL.map(Tool::name)));
    assert!(offered(r#"{"grep": "ask"}"#, r#"{"grep": {"*": "deny", "src/*": "allow"}}"#, "grep"));
}

const NAMES: [&str; 5] = ["skill", "run_script", "run_command", "write_file", "install"];
const WILDCARDS: [&str; 7] = ["skill", "run_script", "write_file", "*", "*_*", "?????", "s*"];

fn any_action() -> impl Strategy<Value = Effect> {
    select(vec![Effect::Allow, Effect::Ask, Effect::Deny])
}

fn any_rules() -> impl Strategy<Value = Rules> {
    let rule = (select(WILDCARDS.to_vec()), "[ab*?]{0,3}", any_action())
        .prop_map(|(permission, pattern, action)| Rule::new(permission, &*pattern, action));
    vec(rule, 0..6).prop_map(Rules)
}

fn any_configuration() -> impl Strategy<Value = Configuration> {
    let command_line =
        (vec(("[ab*]{1,3}", any::<bool>()), 0..3), any::<bool>()).prop_map(|(rules, yes)| {
            let start = if yes { CommandLine::default().yes() } else { CommandLine::default() };
            rules.into_iter().fold(start, |line, (pattern, approves)| {
                let argument = format!("run_script:{pattern}");
                if approves {
                    line.approve(&argument).unwrap()
                } else {
                    line.deny(&argument).unwrap()
                }
            })
        });
    let asking = vec(select(NAMES.to_vec()), 0..2)
        .prop_map(|names| Rules::asking(names).expect("they are known"));
    (uniform5(any_rules()), asking, command_line).prop_map(
        |(layers, required_approval, command_line)| {
            let [user, environment, project, profile, project_profile] = layers;
            Configuration {
                user,
                environment,
                project,
                profile,
                project_profile,
                required_approval,
                command_line,
                mode: Mode::Ask,
            }
        },
    )
}

fn any_wish() -> impl Strategy<Value = Wish> {
    let risk = select(vec![Risk::Low, Risk::Medium, Risk::High]);
    (select(NAMES.to_vec()), vec("[ab*]{0,3}", 1..4), risk).prop_map(
        |(permission, patterns, risk)| {
            let permission = Permission::from_name(permission).unwrap();
            Wish { permission, patterns, risk }
        },
    )
}

/// The contract, word for word: go through everything in order and let the last match win.
fn model(configuration: &Configuration, permission: &str, pattern: &str) -> Effect {
    let layers = [
        (false, Rules::defaults().0),
        (false, configuration.user.0.clone()),
        (false, configuration.environment.0.clone()),
        (true, configuration.project.0.clone()),
        (false, configuration.profile.0.clone()),
        (true, configuration.project_profile.0.clone()),
        (true, configuration.required_approval.0.clone()),
        (false, configuration.command_line.rules()),
    ];
    let mut action = Effect::Ask;
    for (tightens, rules) in layers {
        let mut opinion = action;
        for rule in rules {
            if rule.permission.matches(permission) && rule.pattern.matches(pattern) {
                opinion = rule.action;
            }
        }
        action = if tightens { opinion.max(action) } else { opinion };
    }
    action
}

/// Answers every question with `always` and remembers it, as a tireless person would.
fn approve_everything(engine: &mut Engine, wishes: &[Wish]) {
    for wish in wishes {
        if let Verdict::Ask(pending) = engine.decide(wish.clone(), None) {
            engine.remember(pending.answer(Answer::Always).unwrap().grants);
        }
    }
}

proptest! {
    #[test]
    fn the_engine_agrees_with_the_contract(configuration in any_configuration(), wish in any_wish()) {
        let yes = configuration.command_line.answers(wish.risk);
        let strictest = wish.patterns.iter().map(|pattern| model(&configuration, wish.permission.name(), pattern)).max();
        let expected = if strictest == Some(Effect::Ask) && yes { Some(Effect::Allow) } else { strictest };
        let engine = Engine::new("/project", configuration);
        prop_assert_eq!(Some(outcome(&engine, wish, None).0), expected);
    }

    #[test]
    fn no_approvals_make_a_configured_deny_pass(
        configuration in any_configuration(),
        answered in vec(any_wish(), 0..8),
        forged in vec((select(NAMES.to_vec()), "[ab*]{0,3}"), 0..8),
        wish in any_wish(),
    ) {
        let mut engine = Engine::new("/project", configuration);
        let before = outcome(&engine, wish.clone(), None).0;
        approve_everything(&mut engine, &answered);
        approve_everything(&mut engine, std::slice::from_ref(&wish));
        engine.remember(forged.into_iter().map(|(permission, pattern)| engine_grant(permission, pattern)));
        let after = outcome(&engine, wish, None).0;
        prop_assert_eq!(after == Effect::Deny, before == Effect::Deny);
        if before == Effect::Ask {
            prop_assert_eq!(after, Effect::Allow, "an answer of always is remembered");
        }
    }

    #[test]
    fn a_project_never_loosens_what_the_user_configured(configuration in any_configuration(), wish in any_wish()) {
        let without = Configuration {
            project: Rules::default(),
            project_profile: Rules::default(),
            required_approval: Rules::default(),
            ..configuration.clone()
        };
        let strictness = |configuration| outcome(&Engine::new("/project", configuration), wish.clone(), None).0;
        prop_assert!(strictness(configuration) >= strictness(without));
    }

    #[test]
    fn many_patterns_are_denied_as_each_alone(configuration in any_configuration(), patterns in vec("[ab*]{0,3}", 0..5)) {
        let engine = Engine::new("p", configuration);
        for permission in [Permission::Skill, Permission::RunScript] {
            let denied = engine.denials(permission);
            for pattern in &patterns {
                prop_assert_eq!(denied(pattern), engine.action(permission, pattern) == Effect::Deny);
            }
        }
    }

    #[test]
    fn what_is_not_offered_is_denied(configuration in any_configuration(), pattern in "[ab*]{0,3}") {
        let engine = Engine::new("/project", configuration);
        for permission in NAMES.map(|name| Permission::from_name(name).unwrap()) {
            if !engine.offers(permission) {
                prop_assert_eq!(engine.ruling(permission, &pattern).action, Effect::Deny);
            }
        }
    }
}

fn engine_grant(permission: &str, pattern: String) -> Grant {
    Grant {
        project: "/project".to_owned(),
        permission: Permission::from_name(permission).unwrap(),
        wildcard: pattern.len() == 1,
        pattern,
        skill_hash: None,
    }
}

#[test]
fn what_is_allowed_by_a_name_is_not_allowed_for_a_projects_skill() {
    use Effect::{Allow, Ask, Deny};
    let decided = |user: &str, pattern: &str| {
        let engine = engine(user, "{}", "{}", CommandLine::default());
        outcome(&engine, wish("run_script", &[pattern], Risk::Medium), None).0
    };
    let check = |rule: &str, own: Effect, project: Effect| {
        let user = format!(r#"{{"run_script": {{{rule}}}}}"#);
        assert_eq!(decided(&user, "a/scripts/x"), own, "{rule}");
        assert_eq!(decided(&user, "project:a/scripts/x"), project, "{rule}");
    };
    check(r#""a/*": "allow""#, Allow, Ask);
    check(r#""a*": "allow""#, Allow, Ask);
    check(r#""project:a/*": "allow""#, Ask, Allow);
    check(r#""*": "allow""#, Allow, Allow);
    check(r#""*/scripts/x": "allow""#, Allow, Allow);
    check(r#""*": "allow", "a/*": "deny""#, Deny, Deny);
    check(r#""*": "allow", "project:*": "deny""#, Allow, Deny);
    check(r#""*": "allow", "a/*": "ask""#, Ask, Ask);
    check(r#""*": "deny", "a/*": "allow""#, Allow, Deny);
    check(r#""project:a/*": "allow", "a/*": "deny""#, Deny, Deny);
}

#[test]
fn what_is_allowed_for_a_skill_is_not_allowed_for_one_in_a_namespace_of_that_name() {
    use Effect::{Allow, Ask, Deny};
    let decided = |user: &str, pattern: &str| {
        let engine = engine(user, "{}", "{}", CommandLine::default());
        outcome(&engine, wish("run_script", &[pattern], Risk::Medium), None).0
    };
    let check = |rule: &str, own: Effect, project: Effect| {
        let user = format!(r#"{{"run_script": {{{rule}}}}}"#);
        assert_eq!(decided(&user, "a%2Fb/scripts/x"), own, "{rule}");
        assert_eq!(decided(&user, "project:a%2Fb/scripts/x"), project, "{rule}");
    };
    check(r#""a/*": "allow""#, Ask, Ask);
    check(r#""a/b/*": "allow""#, Ask, Ask);
    check(r#""a%2Fb/*": "allow""#, Allow, Ask);
    check(r#""project:a%2Fb/*": "allow""#, Ask, Allow);
    check(r#""*": "allow", "a/b/*": "deny""#, Deny, Deny);
    check(r#""*": "allow", "a/*": "ask""#, Ask, Ask);
    check(r#""*": "allow", "a%2Fb/*": "deny""#, Deny, Deny);
    check(r#""*": "allow", "project:a/b/*": "deny""#, Allow, Deny);
}

#[test]
fn a_file_called_like_a_projects_skill_is_a_file() {
    let engine =
        engine(r#"{"write_file": {"*": "deny", "a": "ask"}}"#, "{}", "{}", CommandLine::default());
    let wish = wish("write_file", &["project:a"], Risk::High);
    assert_eq!(outcome(&engine, wish, None).0, Effect::Deny);
}

#[test]
fn a_command_line_and_a_project_mean_the_skill_that_is_there() {
    let given = CommandLine::default().approve("run_script:a/x").unwrap();
    let approving = engine("{}", "{}", "{}", given);
    let wish = || wish("run_script", &["project:a/x"], Risk::Medium);
    assert_eq!(outcome(&approving, wish(), None).0, Effect::Allow);
    let allowed = r#"{"run_script": "allow"}"#;
    let project = r#"{"run_script": {"*": "deny", "a/*": "allow"}}"#;
    let engine = engine(allowed, project, "{}", CommandLine::default());
    assert_eq!(outcome(&engine, wish(), None).0, Effect::Allow);
}

#[test]
fn a_plan_is_made_with_the_tools_that_it_is_carried_out_with() {
    let user = serde_json::from_str(r#"{"delete_file": "deny"}"#).unwrap();
    let configuration = Configuration { user, mode: Mode::Plan, ..Configuration::default() };
    let mut engine = Engine::new("/project", configuration);
    assert!(!engine.tools().contains(Tool::RunCommand));
    let planned = engine.tools_of_run();
    assert!(planned.contains(Tool::RunCommand) && !planned.contains(Tool::DeleteFile));
    assert_eq!(engine.action(Permission::RunCommand, "ls"), Effect::Deny, "not before");
    engine.set_mode(Mode::Ask);
    assert_eq!(engine.tools(), planned);
    engine.set_mode(Mode::ReadOnly);
    assert!(!engine.tools_of_run().contains(Tool::RunCommand));
}
