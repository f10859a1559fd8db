//! Commands that run what nobody can have looked at.

use super::{CRITICAL, HIGH, LOW, Levels, MEDIUM, Pattern, Rule, Unless};

/// An address, as far as its host and what may follow that.
const URL: &str = r"https?://[^\s|;&<>()\x22'`/]*/?";

/// Addresses that no stranger can answer at: this machine, its own network, names that are reserved for
/// examples.
const NOBODY: &str = r"(?i)\Ahttps?://(?:localhost|127(?:\.[0-9]{1,3}){3}|0\.0\.0\.0|\[::1\]|192\.168(?:\.[0-9]{1,3}){2}|10(?:\.[0-9]{1,3}){3}|(?:[a-z0-9-]+\.)*(?:example\.(?:com|net|org)|example|test|invalid|localhost))(?::[0-9]{1,5})?/?\z";

pub(in crate::scan) static PIPE_TO_SHELL: Rule = Rule {
    id: "pipe-to-shell",
    explanation: "downloads something and runs it at once, without a review or a signature",
    hint: "download it to a file, check its hash, and read it before you run it",
    patterns: &[
        // From where nobody can be held to account.
        Pattern {
            regex: r"\b(?:curl|wget)\s[^\n|]*(?:http://[^\n|]|https?://(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|bit\.ly/|tinyurl\.com/|is\.gd/|cutt\.ly/|rb\.gy/|t\.ly/|pastebin\.com/|paste\.ee/|rentry\.co/|glot\.io/|hastebin\.com/|transfer\.sh/|0x0\.st/))[^\n|]*\|\s*(?:sudo\s+(?:-[A-Za-z]+\s+)*)?(?:/usr)?(?:/bin/)?(?:env\s+)?(?:ba|z|da|k|a|fi)?sh\b",
            unless: Unless::All { parts: URL, are: NOBODY },
            levels: Levels::commands(CRITICAL, HIGH),
        },
        Pattern {
            regex: r"\b(?:curl|wget)\s[^\n|]*\|\s*(?:sudo\s+(?:-[A-Za-z]+\s+)*)?(?:/usr)?(?:/bin/)?(?:env\s+)?(?:(?:ba|z|da|k|a|fi)?sh\b|(?:python3?|node|perl|ruby|php|deno\s+run)(?:\s+-)?\s*(?:[;&|)\x22'`\n]|$))",
            unless: Unless::Never,
            levels: Levels::commands(HIGH, MEDIUM),
        },
        Pattern {
            regex: r"\b(?:(?:ba|z|da|k)?sh|source|eval|\.)\s+(?:-[a-z]+\s+)?[\x22']?(?:<\(|\$\(|`)\s*(?:curl|wget)\s",
            unless: Unless::Never,
            levels: Levels::commands(HIGH, MEDIUM),
        },
        Pattern {
            regex: r"(?i)\b(?:iex|Invoke-Expression)\s*[(&$\x22'{-][^\n]*(?:DownloadString|\biwr\b|\birm\b|Invoke-WebRequest|Invoke-RestMethod|Net\.WebClient)",
            unless: Unless::Never,
            levels: Levels::commands(HIGH, MEDIUM),
        },
        Pattern {
            regex: r"(?i)\b(?:iwr|irm|Invoke-WebRequest|Invoke-RestMethod|DownloadString)\b[^\n|]*\|\s*(?:iex|Invoke-Expression)\b",
            unless: Unless::Never,
            levels: Levels::commands(HIGH, MEDIUM),
        },
        Pattern {
            regex: r"\b(?:exec|eval)\s*\(\s*(?:compile\s*\(\s*)?(?:await\s+|\(await\s+)*(?:urllib\.request\.|urllib2\.|__import__\(['\x22]urllib)?(?:urlopen|requests\.get|httpx\.get|fetch|axios\.get|request\.urlopen)\s*\(",
            unless: Unless::Never,
            levels: Levels::commands(HIGH, MEDIUM),
        },
        Pattern {
            regex: r"\b(?:curl|wget)\b[^\n]*\s-(?:o|O)\s*\S+[^\n]*(?:&&|;)\s*(?:sudo\s+)?(?:chmod\s+(?:\+x|[0-7]{3,4})\s+\S+\s*(?:&&|;)\s*(?:sudo\s+)?(?:\./|/tmp/|~/)|(?:ba|z)?sh\s+\S)",
            unless: Unless::Never,
            levels: Levels::commands(MEDIUM, LOW),
        },
    ],
};

pub(in crate::scan) static OBFUSCATED_CODE: Rule = Rule {
    id: "obfuscated-code",
    explanation: "runs encoded code, so that a reader cannot see what it does",
    hint: "decode it without running it, and ask why it is not plain text",
    patterns: &[
        Pattern {
            regex: r"\b(?:base64\s+(?:-d|-D|--decode|-di)|openssl\s+(?:enc\s+)?-?base64\s+[^\n|]*-d|xxd\s+-r(?:\s+-p)?|rev|tr\s+'[^'\n]+'\s+'[^'\n]+')\b[^\n|]*\|\s*(?:(?:gunzip|gzip\s+-d|zcat)[^\n|]*\|\s*)?(?:sudo\s+)?(?:/usr)?(?:/bin/)?(?:(?:ba|z|da|k)?sh\b|(?:python3?|node|perl|ruby|php)(?:\s+-)?\s*(?:[;&|)\x22'`\n]|$))",
            unless: Unless::Never,
            levels: Levels::commands(CRITICAL, HIGH),
        },
        Pattern {
            regex: r"\b(?:eval|(?:ba|z)?sh\s+-c)\s+[\x22']?(?:\$\(|`)[^\n)]*(?:base64\s+(?:-d|-D|--decode)|xxd\s+-r)",
            unless: Unless::Never,
            levels: Levels::commands(CRITICAL, HIGH),
        },
        Pattern {
            regex: r"\b(?:eval|Function|setTimeout)\s*\(\s*(?:window\.|globalThis\.)?(?:atob|unescape|Buffer\.from)\s*\(",
            unless: Unless::Never,
            levels: Levels::commands(CRITICAL, MEDIUM),
        },
        Pattern {
            regex: r"\b(?:exec|eval)\s*\(\s*(?:compile\s*\(\s*)?(?:base64\.|codecs\.decode|zlib\.|marshal\.|bytes\.fromhex|binascii\.|lzma\.|bz2\.|gzip\.|b64decode|__import__\s*\(\s*['\x22](?:base64|zlib|marshal|codecs|lzma)['\x22])",
            unless: Unless::Never,
            levels: Levels::commands(CRITICAL, MEDIUM),
        },
        Pattern {
            regex: r"(?i)\bpowershell(?:\.exe)?\s[^\n]*-e(?:c|nc|ncodedcommand)?\s+[\x22']?[A-Za-z0-9+/=]{40}",
            unless: Unless::Never,
            levels: Levels::commands(CRITICAL, HIGH),
        },
        Pattern {
            regex: r"(?i)(?:\biex\b|Invoke-Expression)[^\n]*FromBase64String|FromBase64String[^\n]*\|\s*(?:iex|Invoke-Expression)\b",
            unless: Unless::Never,
            levels: Levels::commands(CRITICAL, HIGH),
        },
        Pattern {
            regex: r"\beval\s*\(\s*function\s*\(\s*p\s*,\s*a\s*,\s*c\s*,\s*k\s*,\s*e\s*,\s*[dr]\s*\)",
            unless: Unless::Never,
            levels: Levels::commands(HIGH, MEDIUM),
        },
        Pattern {
            regex: r"(?:\\x[0-9a-fA-F]{2}){64}|String\.fromCharCode\((?:\s*\d{1,4}\s*,){24}|(?:\bchr\(\d{1,3}\)\s*[+.]\s*){12}|\b(?:var|let|const)\s+_0x[0-9a-f]{4,6}\s*=\s*\[",
            unless: Unless::Never,
            levels: Levels::code(MEDIUM),
        },
    ],
};

pub(in crate::scan) static REVERSE_SHELL: Rule = Rule {
    id: "reverse-shell",
    explanation: "gives another machine a shell on this one",
    hint: "do not run it; only skills that teach penetration testing need this",
    patterns: &[
        Pattern {
            regex: r"\b(?:ba|z|k)?sh\s+-i\b[^\n]*/dev/(?:tcp|udp)/[\w$\[{<(\x22'`]|\bexec\s+[0-9]+<>\s*/dev/(?:tcp|udp)/[^\n]*(?:sh\b|cat\s+<&)",
            unless: Unless::Never,
            levels: Levels::commands(CRITICAL, HIGH),
        },
        Pattern {
            regex: r"\b(?:nc|ncat|netcat)\s[^\n|;]*-[a-zA-Z]*[ec]\s+(?:/usr)?(?:/bin/)?(?:(?:ba|z|k)?sh|cmd(?:\.exe)?|powershell)\b",
            unless: Unless::Never,
            levels: Levels::commands(CRITICAL, HIGH),
        },
        Pattern {
            regex: r"\bmkfifo\s[^\n]*\|\s*(?:nc|ncat|netcat|openssl\s+s_client)\b|\bsocat\s[^\n]*\bexec:[^\n]*\btcp|\bsocat\s[^\n]*\btcp[^\n]*\bexec:",
            unless: Unless::Never,
            levels: Levels::commands(CRITICAL, HIGH),
        },
        Pattern {
            regex: r"\bos\.dup2\(\s*\w+\.fileno\(\)\s*,\s*[012]\s*\)",
            unless: Unless::Never,
            levels: Levels::commands(HIGH, MEDIUM),
        },
        Pattern {
            regex: r"(?i)New-Object\s+(?:System\.)?Net\.Sockets\.TCPClient\b[^\n]*(?:GetStream|iex|Invoke-Expression)",
            unless: Unless::Never,
            levels: Levels::commands(CRITICAL, HIGH),
        },
    ],
};
