use super::super::{Effect, Risk};
use super::CommandLine;

fn rules(line: &CommandLine) -> Vec<(String, String, Effect)> {
    line.rules()
        .into_iter()
        .map(|rule| (rule.permission.to_string(), rule.pattern.to_string(), rule.action))
        .collect()
}

#[test]
fn an_argument_is_a_tool_and_perhaps_a_pattern() {
    let line = CommandLine::default()
        .approve("network_request:https://example.com/*")
        .unwrap()
        .approve("run_script")
        .unwrap();
    let expected = [("network_request", "https://example.com/*"), ("run_script", "*")]
        .map(|(tool, pattern)| (tool.to_owned(), pattern.to_owned(), Effect::Allow));
    assert_eq!(rules(&line), expected);
}

#[test]
fn a_denial_comes_last_wherever_it_was_written() {
    let line = CommandLine::default().deny("grep").unwrap().approve("*").unwrap();
    assert_eq!(rules(&line).last().unwrap().2, Effect::Deny);
}

#[test]
fn what_cannot_be_used_is_refused() {
    let refused = |argument| {
        let error = CommandLine::default().approve(argument).unwrap_err();
        let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        format!("{error}: {source}")
    };
    assert_eq!(
        refused("runscript:x"),
        "cannot use `runscript:x`: unknown permission `runscript`; did you mean `run_script`?"
    );
    assert_eq!(refused("grep:"), "`grep:` has no pattern after the colon: ");
    assert!(refused("").starts_with("cannot use ``: unknown permission ``"));
}

#[test]
fn yes_stops_short_of_high_risk() {
    let risks = [Risk::Low, Risk::Medium, Risk::High];
    assert_eq!(risks.map(|risk| CommandLine::default().yes().answers(risk)), [true, true, false]);
    assert_eq!(risks.map(|risk| CommandLine::default().answers(risk)), [false; 3]);
}
