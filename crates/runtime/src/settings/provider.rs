//! Who can decide, as data: the providers, where their servers are, and which variable has the key.

use model::remote::Wire;
use model::{anthropic, openai};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What decides in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// The offline planner, without a language model.
    Offline,
    /// Replies from a file.
    Scripted,
    /// Replies from a file or from the settings, else the offline planner; needs no network.
    Mock,
    /// Chat Completions, at OpenAI or at any server that speaks it.
    OpenAi,
    /// Messages.
    Anthropic,
    /// Google's models.
    Gemini,
    /// Many providers' models behind one key.
    OpenRouter,
    /// Groq.
    Groq,
    /// Mistral.
    Mistral,
    /// DeepSeek.
    DeepSeek,
    /// Together.
    Together,
    /// Fireworks.
    Fireworks,
    /// Cerebras.
    Cerebras,
    /// xAI's models.
    Xai,
    /// Ollama, on this machine or where `OLLAMA_HOST` says.
    Ollama,
    /// LM Studio on this machine.
    LmStudio,
    /// llama.cpp's server on this machine.
    LlamaCpp,
    /// vLLM on this machine.
    Vllm,
}

/// The server of a provider.
#[derive(Debug, Clone, Copy)]
pub struct Home {
    /// Which interface it has.
    pub wire: Wire,
    /// Where it is.
    pub base_url: &'static str,
    /// The variables that may have the key; none where no key is needed.
    pub keys: &'static [&'static str],
    /// The model that is asked where only the key is there.
    pub usual: Option<&'static str>,
    /// What the names of its models begin with.
    families: &'static [&'static str],
}

impl Home {
    /// Whether it is on this machine.
    pub fn is_local(&self) -> bool {
        self.base_url.starts_with("http://127.0.0.1")
    }
}

/// A server that speaks Chat Completions.
const fn compatible(
    base_url: &'static str,
    keys: &'static [&'static str],
    usual: Option<&'static str>,
    families: &'static [&'static str],
) -> Option<Home> {
    Some(Home { wire: Wire::OpenAi, base_url, keys, usual, families })
}

const ANTHROPIC: Option<Home> = Some(Home {
    wire: Wire::Anthropic,
    base_url: anthropic::BASE_URL,
    keys: &["ANTHROPIC_API_KEY"],
    usual: Some("claude-sonnet-4-5"),
    families: &["claude-"],
});

/// Every provider with its name and its server, the ones that are looked for first in front. The one place that knows
/// names of models.
static PROVIDERS: [(Provider, &str, Option<Home>); 18] = [
    (Provider::Offline, "offline", None),
    (Provider::Scripted, "scripted", None),
    (Provider::Mock, "mock", None),
    (Provider::Anthropic, "anthropic", ANTHROPIC),
    (
        Provider::OpenAi,
        "openai",
        compatible(
            openai::BASE_URL,
            &["OPENAI_API_KEY"],
            Some("gpt-5-mini"),
            &["gpt-", "chatgpt-", "o1-", "o3-", "o4-"],
        ),
    ),
    (Provider::Ollama, "ollama", compatible("http://127.0.0.1:11434/v1", &[], None, &[])),
    (
        Provider::Gemini,
        "gemini",
        compatible(
            "https://generativelanguage.googleapis.com/v1beta/openai",
            &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Some("gemini-2.5-flash"),
            &["gemini-"],
        ),
    ),
    (
        Provider::OpenRouter,
        "openrouter",
        compatible(
            "https://openrouter.ai/api/v1",
            &["OPENROUTER_API_KEY"],
            Some("openrouter/auto"),
            &[],
        ),
    ),
    (
        Provider::Mistral,
        "mistral",
        compatible(
            "https://api.mistral.ai/v1",
            &["MISTRAL_API_KEY"],
            Some("mistral-medium-latest"),
            &["mistral-", "magistral-", "codestral-", "devstral-"],
        ),
    ),
    (
        Provider::DeepSeek,
        "deepseek",
        compatible(
            "https://api.deepseek.com/v1",
            &["DEEPSEEK_API_KEY"],
            Some("deepseek-chat"),
            &["deepseek-"],
        ),
    ),
    (
        Provider::Xai,
        "xai",
        compatible("https://api.x.ai/v1", &["XAI_API_KEY"], Some("grok-4"), &["grok-"]),
    ),
    (
        Provider::Groq,
        "groq",
        compatible(
            "https://api.groq.com/openai/v1",
            &["GROQ_API_KEY"],
            Some("llama-3.3-70b-versatile"),
            &[],
        ),
    ),
    (
        Provider::Together,
        "together",
        compatible("https://api.together.xyz/v1", &["TOGETHER_API_KEY"], None, &[]),
    ),
    (
        Provider::Fireworks,
        "fireworks",
        compatible("https://api.fireworks.ai/inference/v1", &["FIREWORKS_API_KEY"], None, &[]),
    ),
    (
        Provider::Cerebras,
        "cerebras",
        compatible("https://api.cerebras.ai/v1", &["CEREBRAS_API_KEY"], None, &[]),
    ),
    (Provider::LmStudio, "lmstudio", compatible("http://127.0.0.1:1234/v1", &[], None, &[])),
    (Provider::LlamaCpp, "llamacpp", compatible("http://127.0.0.1:8080/v1", &[], None, &[])),
    (Provider::Vllm, "vllm", compatible("http://127.0.0.1:8000/v1", &[], None, &[])),
];

impl Provider {
    /// All of them, the ones that are looked for first in front.
    pub fn all() -> impl Iterator<Item = Self> {
        PROVIDERS.iter().map(|(provider, ..)| *provider)
    }

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        self.row().1
    }

    /// Its server, if it has one.
    pub fn home(self) -> Option<&'static Home> {
        self.row().2.as_ref()
    }

    /// The provider of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|provider| provider.as_str() == name)
    }

    /// What `openai:NAME`, `openai` or the bare name of a well-known model stands for.
    pub fn spelled(text: &str) -> Option<(Self, Option<&str>)> {
        let (provider, name) = match text.split_once(':') {
            Some((provider, name)) => (provider, Some(name).filter(|name| !name.is_empty())),
            None => (text, None),
        };
        let family = |provider: &Self| {
            let families = provider.home().map_or(&[][..], |home| home.families);
            // `o3` is as good as `o3-mini`.
            families.iter().any(|start| text.starts_with(start) || format!("{text}-") == **start)
        };
        match Self::from_name(provider) {
            Some(provider) => Some((provider, name)),
            None => Some((Self::all().find(family)?, Some(text))),
        }
    }

    /// Whether its name alone says which server is meant; the others have one, too, and stand for any like it.
    pub(super) fn is_one_server(self) -> bool {
        !matches!(self, Self::OpenAi | Self::Anthropic) && self.home().is_some()
    }

    fn row(self) -> &'static (Self, &'static str, Option<Home>) {
        let own = PROVIDERS.iter().find(|(provider, ..)| *provider == self);
        own.unwrap_or(&PROVIDERS[0])
    }
}

#[cfg(test)]
mod tests;
