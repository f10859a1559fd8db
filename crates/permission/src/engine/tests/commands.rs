//! Command lines, what is unclear about them, and modes.

use basics::failure::Explain;
use serde_json::{Value, json};

use super::super::super::{
    Answer, ApprovalId, CommandLine, Configuration, Denial, Effect, Engine, Invocation, Mode,
    Pattern, Permission, Reason, Request, Risk, Scope, Verdict,
};
use super::rules;

/// A command line, as the crate that reads them would describe it.
#[derive(Clone, Debug, Default)]
struct Line {
    patterns: Vec<String>,
    shadows: Vec<String>,
    always: Vec<Pattern>,
    unclear: bool,
    contained: bool,
    hides: Vec<String>,
}

impl Request for Line {
    fn permission(&self) -> Permission {
        Permission::RunCommand
    }
    fn patterns(&self) -> Vec<String> {
        self.patterns.clone()
    }
    fn risk(&self) -> Risk {
        Risk::Medium
    }
    fn effect(&self) -> String {
        "runs it".to_owned()
    }
    fn params(&self) -> Value {
        json!({})
    }
    fn shadows(&self) -> Vec<String> {
        self.shadows.clone()
    }
    fn unclear(&self) -> Option<String> {
        self.unclear.then(|| "`$(x)`: its output becomes part of the line".to_owned())
    }
    fn hides(&self) -> Vec<String> {
        self.hides.clone()
    }
    fn is_contained(&self) -> bool {
        self.contained
    }
    fn always(&self) -> Vec<Pattern> {
        self.always.clone()
    }
}

fn line(patterns: &[&str]) -> Line {
    Line { patterns: patterns.iter().map(ToString::to_string).collect(), ..Line::default() }
}

fn unclear(patterns: &[&str]) -> Line {
    Line { unclear: true, ..line(patterns) }
}

fn engine(user: &str, command_line: CommandLine, mode: Mode) -> Engine {
    let user = rules(user);
    Engine::new("/project", Configuration { user, command_line, mode, ..Configuration::default() })
}

fn decided(engine: &Engine, line: &Line) -> (Effect, Vec<Reason>) {
    let decision = match engine.decide(line.clone(), None) {
        Verdict::Allowed(approved) => approved.decision().clone(),
        Verdict::Ask(pending) => pending.decision().clone(),
        Verdict::Denied(denial) => denial.decision().clone(),
    };
    (decision.action, decision.rulings.into_iter().map(|ruling| ruling.reason).collect())
}

/// What is decided with these rules of the user, flags and mode.
fn check(user: &str, flags: CommandLine, mode: Mode, line: &Line, expected: Effect) {
    assert_eq!(decided(&engine(user, flags, mode), line).0, expected, "{user} {mode} {line:?}");
}

fn flags() -> CommandLine {
    CommandLine::default()
}

#[test]
fn a_blank_and_a_star_mean_with_or_without_arguments() {
    for (effect, word) in [(Effect::Allow, "allow"), (Effect::Deny, "deny"), (Effect::Ask, "ask")] {
        let user = format!(r#"{{"run_command": {{"*": "ask", "git log *": "{word}"}}}}"#);
        for text in ["git log", "git log -5", "git log a b"] {
            check(&user, flags(), Mode::Ask, &line(&[text]), effect);
        }
        check(&user, flags(), Mode::Ask, &line(&["git logs"]), Effect::Ask);
        check(&user, flags(), Mode::Ask, &line(&["git lo"]), Effect::Ask);
    }
    let user =
        r#"{"run_command": {"ls\\ *": "allow"}, "write_file": {"*": "deny", "a *": "allow"}}"#;
    check(user, flags(), Mode::Ask, &line(&["ls"]), Effect::Allow);
    let engine = engine(user, flags(), Mode::Ask);
    assert_eq!(engine.action(Permission::WriteFile, "a"), Effect::Deny, "for commands only");
}

#[test]
fn every_command_of_a_line_must_be_allowed() {
    let user = r#"{"run_command": {"git log *": "allow", "head *": "allow", "rm *": "deny"}}"#;
    check(user, flags(), Mode::Ask, &line(&["git log -5", "head"]), Effect::Allow);
    check(user, flags(), Mode::Ask, &line(&["git log -5", "wc"]), Effect::Ask);
    check(user, flags().yes(), Mode::Ask, &line(&["git log", "wc", "rm x"]), Effect::Deny);
}

#[test]
fn a_line_of_harmless_builtins_needs_no_rule() {
    let echo = Line { shadows: vec!["echo hi".to_owned()], ..line(&[]) };
    check("{}", flags(), Mode::Ask, &echo, Effect::Allow);
    check(r#"{"run_command": "deny"}"#, flags(), Mode::Ask, &echo, Effect::Deny);
    check(r#"{"run_command": {"echo *": "deny"}}"#, flags(), Mode::Ask, &echo, Effect::Deny);
    check(r#"{"run_command": "ask"}"#, flags(), Mode::Ask, &echo, Effect::Ask);
    check("{}", flags(), Mode::ReadOnly, &echo, Effect::Deny);
    check("{}", flags(), Mode::Ask, &unclear(&[]), Effect::Ask);
}

#[test]
fn shadows_can_deny_and_ask_but_need_not_be_allowed() {
    let shadowed = |shadow: &str| Line { shadows: vec![shadow.to_owned()], ..line(&["/bin/rm x"]) };
    let allowed = r#"{"run_command": {"*": "allow", "rm *": "deny", "mv *": "ask"}}"#;
    check(allowed, flags(), Mode::Ask, &shadowed("rm x"), Effect::Deny);
    check(allowed, flags(), Mode::Ask, &shadowed("mv x"), Effect::Ask);
    check(allowed, flags().yes(), Mode::Ask, &shadowed("mv x"), Effect::Allow);
    check(allowed, flags(), Mode::Ask, &shadowed("timeout 5 ls"), Effect::Allow);
    let closed = r#"{"run_command": {"*": "deny", "/bin/rm *": "allow"}}"#;
    check(closed, flags(), Mode::Ask, &shadowed("timeout 5 rm"), Effect::Allow);
    check("{}", flags(), Mode::Ask, &shadowed("rm x"), Effect::Ask);
}

#[test]
fn what_is_unclear_asks_whatever_is_allowed() {
    let whole = unclear(&["echo $(x)", "x"]);
    let allowed = r#"{"run_command": "allow"}"#;
    let (action, reasons) = decided(&engine(allowed, flags(), Mode::Ask), &whole);
    assert_eq!(action, Effect::Ask);
    assert!(matches!(&reasons[0], Reason::Unclear(why) if why.contains("becomes part")));
    check(allowed, flags().yes(), Mode::Ask, &whole, Effect::Allow);
    check("{}", flags().yes(), Mode::Ask, &whole, Effect::Allow);
    check("{}", flags().approve("run_command").unwrap(), Mode::Ask, &whole, Effect::Allow);
    let exactly =
        || flags().approve("run_command:echo $(x)").unwrap().approve("run_command:x").unwrap();
    check("{}", exactly(), Mode::Ask, &whole, Effect::Allow);

    let denies = r#"{"run_command": {"*": "allow", "rm *": "deny"}}"#;
    check(denies, flags(), Mode::Ask, &whole, Effect::Ask);
    check(denies, flags().yes(), Mode::Ask, &whole, Effect::Ask);
    check(denies, flags().approve("run_command").unwrap(), Mode::Ask, &whole, Effect::Ask);
    check(denies, flags().approve("run_command:echo *").unwrap(), Mode::Ask, &whole, Effect::Ask);
    check(denies, exactly(), Mode::Ask, &whole, Effect::Allow);
    check(denies, exactly(), Mode::Ask, &unclear(&["echo $(rm y)", "rm y"]), Effect::Deny);
}

#[test]
fn the_mode_contained_lets_through_what_nobody_wrote_a_rule_about() {
    let contained = |line: Line| Line { contained: true, ..line };
    let (plain, doubtful) = (contained(line(&["make"])), contained(unclear(&["echo $(x)"])));
    let (action, reasons) = decided(&engine("{}", flags(), Mode::Contained), &plain);
    assert_eq!((action, &reasons[..]), (Effect::Allow, &[Reason::Contained][..]));
    check("{}", flags(), Mode::Contained, &line(&["make"]), Effect::Ask);
    check("{}", flags(), Mode::Ask, &plain, Effect::Ask);
    check("{}", flags(), Mode::Contained, &doubtful, Effect::Allow);
    let asks = r#"{"run_command": {"make *": "ask"}}"#;
    check(asks, flags(), Mode::Contained, &plain, Effect::Ask);
    check(asks, flags(), Mode::Contained, &contained(unclear(&["make $(x)"])), Effect::Ask);
    let denies = r#"{"run_command": {"rm *": "deny"}}"#;
    check(denies, flags(), Mode::Contained, &plain, Effect::Allow);
    check(denies, flags(), Mode::Contained, &doubtful, Effect::Ask);
    check(denies, flags(), Mode::Contained, &contained(line(&["rm x"])), Effect::Deny);
}

#[test]
fn a_mode_that_only_looks_denies_whatever_is_allowed() {
    for mode in [Mode::ReadOnly, Mode::Plan] {
        let flags = CommandLine::default().yes().approve("*").unwrap();
        let mut engine = engine(r#"{"*": "allow"}"#, flags, mode);
        let denied: Vec<&str> = Permission::ALL
            .into_iter()
            .filter(|permission| engine.action(*permission, "x") == Effect::Deny)
            .map(Permission::name)
            .collect();
        assert_eq!(
            denied.join(" "),
            "run_script run_command command_input write_file edit_file delete_file apply_changes network_request network"
        );
        assert!(!engine.offers(Permission::RunCommand) && engine.offers(Permission::ReadFile));
        let Verdict::Denied(denial) = engine.decide(line(&["ls"]), None) else { panic!("denied") };
        let message = format!("`run_command` is denied: the mode `{mode}` does not allow it");
        assert_eq!(
            (denial.to_string(), &*denial.hint()),
            (message, "use `--mode ask` to be asked instead")
        );
        engine.set_mode(Mode::Ask);
        assert_eq!((engine.mode(), decided(&engine, &line(&["ls"])).0), (Mode::Ask, Effect::Allow));
    }
}

#[test]
fn modes_are_read_from_their_names() {
    for mode in Mode::ALL {
        assert_eq!(mode.name().parse(), Ok(mode));
        assert_eq!(serde_json::to_value(mode).unwrap(), mode.name());
    }
    assert!("readonly".parse::<Mode>().unwrap_err().to_string().contains("`read-only`"));
}

fn invocation() -> Invocation {
    Invocation { command: vec!["skillful".into(), "run".into()], arguments: vec!["do it".into()] }
}

/// What the question for a line says, and what is allowed after an answer of always.
fn asked(engine: &mut Engine, line: Line) -> (String, String) {
    let Verdict::Ask(pending) = engine.decide(line, None) else { panic!("it asks") };
    let question = pending.question(ApprovalId::numbered(1), "why", &invocation());
    let granted = pending.answer(Answer::Always).unwrap();
    assert_eq!(granted.scope, Scope::Always);
    engine.remember(granted.grants);
    (question.always.unwrap(), question.replay)
}

#[test]
fn always_remembers_the_pattern_that_the_question_names() {
    let mut engine = engine(r#"{"run_command": {"git log -p *": "deny"}}"#, flags(), Mode::Ask);
    let always =
        vec![Pattern::new("git log *"), Pattern::literal("npm test"), Pattern::new("ls *")];
    let wish = Line { always, ..line(&["git log -5", "npm test"]) };
    let (always, replay) = asked(&mut engine, wish);
    assert_eq!(always, "`git log *`, `npm test` in this project, until you revoke it");
    assert_eq!(
        replay,
        "skillful run --approve 'run_command:git log -5' --approve 'run_command:npm test' 'do it'"
    );
    let action = |text: &str| decided(&engine, &line(&[text])).0;
    assert_eq!(["git log", "git log --all", "npm test"].map(action), [Effect::Allow; 3]);
    assert_eq!(["npm test x", "ls", "git push"].map(action), [Effect::Ask; 3]);
    assert_eq!(action("git log -p x"), Effect::Deny);
    let doubtful = unclear(&["git log $(x)"]);
    assert_eq!(decided(&engine, &doubtful).0, Effect::Ask, "a pattern does not vouch for it");
}

#[test]
fn without_a_safe_pattern_exactly_what_was_asked_is_remembered() {
    let mut engine = engine("{}", flags(), Mode::Ask);
    let wish = Line { always: vec![Pattern::new("ls *")], ..line(&["ls a", "rm -rf *"]) };
    let (always, replay) = asked(&mut engine, wish);
    assert_eq!(always, "exactly `ls a`, `rm -rf *` in this project, until you revoke it");
    assert!(replay.contains(r"'run_command:rm -rf \*'"), "{replay}");
    let action = |text: &str| decided(&engine, &line(&[text])).0;
    assert_eq!(["ls a", "rm -rf *"].map(action), [Effect::Allow; 2]);
    assert_eq!(["ls b", "rm -rf x", "rm -rf"].map(action), [Effect::Ask; 3]);
}

#[test]
fn an_unclear_line_can_be_approved_as_it_stands() {
    let user = r#"{"run_command": {"echo *": "allow", "rm *": "deny"}}"#;
    let mut first = engine(user, flags(), Mode::Ask);
    let wish = unclear(&["echo \"$(date)\"", "echo x"]);
    let (always, replay) = asked(&mut first, wish.clone());
    assert_eq!(always, "exactly `echo \"$(date)\"` in this project, until you revoke it");
    assert_eq!(replay, "skillful run --approve 'run_command:echo \"$(date)\"' 'do it'");
    assert_eq!(decided(&first, &wish).0, Effect::Allow);
    assert_eq!(decided(&first, &unclear(&["echo \"$(rm)\""])).0, Effect::Ask);
    let again = flags().approve("run_command:echo \"$(date)\"").unwrap();
    check(user, again, Mode::Ask, &wish, Effect::Allow);
}

#[test]
fn an_answer_for_the_conversation_is_about_what_was_asked() {
    let engine = engine("{}", flags(), Mode::Ask);
    let wish = Line { always: vec![Pattern::new("git log *")], ..line(&["git log -5"]) };
    let Verdict::Ask(pending) = engine.decide(wish, None) else { panic!("it asks") };
    let granted = pending.answer(Answer::Run).unwrap();
    assert_eq!(granted.scope, Scope::Run);
    assert_eq!(granted.grants[0].pattern, "git log -5");
    assert!(!granted.grants[0].wildcard);
    assert_eq!(serde_json::to_value(Answer::Run).unwrap(), json!({"answer": "conversation"}));
    for word in ["run", "conversation"] {
        assert_eq!(serde_json::from_value::<Answer>(json!({"answer": word})).unwrap(), Answer::Run);
    }
}

#[test]
fn a_denial_names_the_command_that_was_hidden() {
    let user = r#"{"run_command": {"*": "allow", "rm *": "deny"}}"#;
    let wish = Line { shadows: vec!["rm x".to_owned()], ..line(&["/bin/rm x"]) };
    let Verdict::Denied(denial) = engine(user, flags(), Mode::Ask).decide(wish, None) else {
        panic!("denied")
    };
    assert!(matches!(denial, Denial::Rule { .. }));
    assert!(
        denial.to_string().contains("`run_command` on `rm x` is denied by the rule"),
        "{denial}"
    );
}

#[test]
fn what_runs_other_programs_asks_where_one_is_denied_and_nobody_meant_it() {
    let wish = |text: &str| Line { hides: vec![text.to_owned()], ..line(&["ls", text]) };
    let python = wish("python3 -c 1");
    let all = r#"{"run_command": {"*": "allow", "rm *": "deny"}}"#;
    check(all, flags(), Mode::Ask, &python, Effect::Ask);
    check(all, flags().yes(), Mode::Ask, &python, Effect::Ask);
    check(all, flags(), Mode::Ask, &line(&["ls"]), Effect::Allow);
    for vague in ["* *", "?*", "**", "*3 *"] {
        let user = format!(
            r#"{{"run_command": {{"{vague}": "allow", "ls *": "allow", "rm *": "deny"}}}}"#
        );
        check(&user, flags(), Mode::Ask, &python, Effect::Ask);
    }
    let denies = r#"{"run_command": {"rm *": "deny"}}"#;
    check(denies, flags().yes(), Mode::Ask, &python, Effect::Ask);
    check(
        denies,
        flags(),
        Mode::Contained,
        &Line { contained: true, ..python.clone() },
        Effect::Ask,
    );
    let meant = r#"{"run_command": {"*": "allow", "python3 *": "allow", "rm *": "deny"}}"#;
    check(meant, flags(), Mode::Ask, &python, Effect::Allow);
    check(meant, flags(), Mode::Ask, &wish("make"), Effect::Ask);
    // Without anything that is denied, nothing can hide.
    check(r#"{"run_command": {"*": "allow"}}"#, flags(), Mode::Ask, &python, Effect::Allow);
    check("{}", flags().yes(), Mode::Ask, &python, Effect::Allow);
    check(
        "{}",
        flags(),
        Mode::Contained,
        &Line { contained: true, ..python.clone() },
        Effect::Allow,
    );
    let mut engine = engine(all, flags(), Mode::Ask);
    let Verdict::Ask(pending) = engine.decide(python.clone(), None) else { panic!("not asked") };
    engine.remember(pending.answer(Answer::Run).unwrap().grants);
    assert_eq!(decided(&engine, &python).0, Effect::Allow, "an answer counts");
    assert_eq!(decided(&engine, &wish("python3 -c 2")).0, Effect::Ask);
}
