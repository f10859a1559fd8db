//! What secrets look like.

/// Tokens that are known by how they begin. Every alternative begins with a literal, which makes looking
/// through ordinary text fast, and only ASCII matters, which makes the patterns small.
pub(super) const TOKENS: &str = r#"(?x)
    (?<private_key>
        -----BEGIN\ [A-Z0-9\ ]*PRIVATE\ KEY(?:\ BLOCK)?-----
        (?:[\ \t\r\n]|\\[nr])*
        (?:[A-Za-z-]+:\ [\ -\[\]-~]*(?:[\r\n]|\\[nr])+)*
        (?:[A-Za-z0-9+/=]{16,}(?:[\ \t\r\n]|\\[nr])*)+
        [A-Za-z0-9+/=]*(?:[\ \t\r\n]|\\[nr])*
        (?:-----END\ [A-Z0-9\ ]*PRIVATE\ KEY(?:\ BLOCK)?-----)?
    )
    | (?<sk_key>(?-u:\b)sk-[A-Za-z0-9_-]{20,})
    | (?<github_token>(?-u:\b)(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}))
    | (?<gitlab_token>(?-u:\b)glpat-[A-Za-z0-9_-]{20,})
    | (?<aws_key>(?-u:\b)(?:AKIA|ASIA)[A-Z2-7]{16}(?-u:\b))
    | (?<slack_token>(?-u:\b)xox[abeoprs]-[A-Za-z0-9-]{10,})
    | (?<google_key>(?-u:\b)AIza[A-Za-z0-9_-]{35,})
    | (?<jwt>(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})
    | (?<bearer_word>(?-u:\b)(?i-u:bearer)[\ \t]+)(?<bearer>[A-Za-z0-9._~+/=-]{16,})
    | (?<url_user>://[!-~&&[^/:@?\#]]*:)[!-~&&[^/@?\#]]+@
"#;

/// `password=…`, `"api_key": "…"`, `DB_PASSWORD: '…'`; the name ends with one of the words.
/// What is called, as in `token = make_token2(user)`, is no secret.
pub(super) const ASSIGNMENT: &str = r#"(?x)
    (?<name>
        (?i-u:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)
        \\?["']?[\ \t]{0,4}[:=][\ \t]{0,4}\\?["']?
    )
    (?<value>[A-Za-z0-9+/=_.~!@\#%^&*?$-]{8,})
    (?<call>\()?
"#;

const NAMES: [&str; 10] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "credentials",
];

/// Whether what stands beside this key may be a secret.
pub(super) fn is_secret_name(key: &str) -> bool {
    let plain: String = key
        .chars()
        .filter(|letter| !matches!(letter, '_' | '-'))
        .collect::<String>()
        .to_lowercase();
    NAMES.iter().any(|name| plain.ends_with(name))
}

/// Whether a value is one that people do not choose as an example or a variable's name.
pub(super) fn looks_secret(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let is_placeholder = value.starts_with(['$', '%', '<', '[', '{']) || value.contains("://");
    let is_spaced = value.contains(char::is_whitespace);
    value.len() >= 8
        && !is_placeholder
        && !is_spaced
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && entropy(value) >= 2.75
}

/// Whether a token was drawn at random: letters of both cases and digits, or a long hexadecimal number.
pub(super) fn looks_random(token: &str) -> bool {
    let has = |is: fn(&u8) -> bool| token.bytes().any(|byte| is(&byte));
    let is_mixed =
        has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let is_number = token
        .split(['-', '_'])
        .any(|part| part.len() >= 32 && part.bytes().all(|byte| byte.is_ascii_hexdigit()));
    is_mixed || is_number
}

/// Bits of information per byte, from how often each occurs.
fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let length = text.len() as f64;
    let shares = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / length);
    -shares.map(|share| share * share.log2()).sum::<f64>()
}
