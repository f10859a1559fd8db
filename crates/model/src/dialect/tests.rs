use super::*;

#[test]
fn a_refusal_leaves_out_what_it_names_and_else_goes_down_a_step() {
    let first = |protocol| Dialect::first(protocol, true, TokenLimit::MaxTokens);
    let check = |protocol, from: Dialect, message: &str, expected: Option<Dialect>| {
        assert_eq!(from.after_refusal(protocol, message), expected, "{message}");
    };
    let (auto, json, tools) = (Protocol::Auto, Protocol::Json, Protocol::Tools);
    let start = first(auto);
    check(auto, start, "stream_options: no", Some(Dialect { usage_in_stream: false, ..start }));
    check(auto, start, "cannot stream", Some(Dialect { stream: false, ..start }));
    let renamed = Dialect { token_limit: TokenLimit::MaxCompletionTokens, ..start };
    check(auto, start, "Unsupported parameter: max_tokens", Some(renamed));
    check(auto, renamed, "Unknown parameter: max_completion_tokens", Some(start));
    let unsaid = Dialect { token_limit: TokenLimit::Unsaid, ..start };
    check(auto, start, "max_tokens is too large: 4096", Some(unsaid));
    check(
        auto,
        unsaid,
        "max_tokens is too large: 4096",
        Some(Dialect { form: Form::Schema, ..unsaid }),
    );
    let (schema, text) =
        (Dialect { form: Form::Schema, ..start }, Dialect { form: Form::Text, ..start });
    check(auto, start, "no", Some(schema));
    check(auto, schema, "no", Some(text));
    check(auto, text, "no", None);
    check(json, first(json), "no", Some(text));
    check(tools, first(tools), "no", None);
}

#[test]
fn text_in_place_of_a_call_matters_only_where_tools_are_not_demanded() {
    let start = Dialect::first(Protocol::Auto, true, TokenLimit::MaxTokens);
    assert_eq!(start.after_text(Protocol::Auto).map(|lower| lower.form), Some(Form::Schema));
    assert_eq!(start.after_text(Protocol::Tools), None);
    assert_eq!(Dialect { form: Form::Schema, ..start }.after_text(Protocol::Auto), None);
}
