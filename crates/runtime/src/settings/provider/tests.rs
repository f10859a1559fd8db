use super::*;

#[test]
fn every_provider_is_spelled_as_in_the_settings() {
    for provider in Provider::all() {
        assert_eq!(serde_json::to_value(provider).unwrap(), provider.as_str());
        assert_eq!(Provider::spelled(provider.as_str()), Some((provider, None)));
    }
}

#[test]
fn a_well_known_model_needs_no_server() {
    let check = |text: &str, expected: Option<(Provider, &str)>| {
        let expected = expected.map(|(provider, name)| (provider, Some(name)));
        assert_eq!(Provider::spelled(text), expected, "{text}");
    };
    check("gpt-5", Some((Provider::OpenAi, "gpt-5")));
    check("o3", Some((Provider::OpenAi, "o3")));
    check("o4-mini", Some((Provider::OpenAi, "o4-mini")));
    check("claude-sonnet-4-5", Some((Provider::Anthropic, "claude-sonnet-4-5")));
    check("gemini-2.5-pro", Some((Provider::Gemini, "gemini-2.5-pro")));
    check("deepseek-chat", Some((Provider::DeepSeek, "deepseek-chat")));
    check("grok-4", Some((Provider::Xai, "grok-4")));
    check("openrouter:meta/llama:free", Some((Provider::OpenRouter, "meta/llama:free")));
    check("ollama:qwen3:4b", Some((Provider::Ollama, "qwen3:4b")));
    for unknown in ["", ":", "o3x", "o33", "qwen3:4b", "magic", "GPT-5", "my-gpt-5"] {
        check(unknown, None);
    }
}

#[test]
fn keys_go_to_https_or_to_this_machine() {
    for home in Provider::all().filter_map(Provider::home) {
        assert_eq!(home.keys.is_empty(), home.is_local(), "{}", home.base_url);
        assert!(home.is_local() || home.base_url.starts_with("https://"), "{}", home.base_url);
    }
}
