//! Reading what belongs to the user alone, and sending it away.

use super::{CRITICAL, HIGH, LOW, Levels, MEDIUM, Pattern, Rule, Unless};

/// The half of a key that everybody may have.
const PUBLIC_KEY: &str = r"\A(?:\.ssh/)?id_[a-z0-9]+\.pub\z";

/// How code sends something away.
pub(in crate::scan) const SENDS: &str = r#"\bcurl\s[^\n]*(?:\s-d\b|\s--data|\s-F\b|\s-T\b|--upload-file|-X\s*(?:POST|PUT))|\bwget\s[^\n]*--post|\brequests\.(?:post|put)\s*\(|\bhttpx\.(?:post|put)\s*\(|\burlopen\s*\([^\n]*data\s*=|\burllib\.request\.Request\s*\([^\n]*data\s*=|\bfetch\s*\(\s*["'`]https?://|\bfetch\s*\([^\n]*\b(?:method|body)\s*:|\baxios\.(?:post|put)\s*\(|\bInvoke-(?:WebRequest|RestMethod)\b[^\n]*-Method\s+(?:Post|Put)|\b(?:nc|ncat)\s+[\w.-]+\s+[0-9]+|\bsmtplib\.SMTP|\.sendall\s*\("#;

pub(in crate::scan) static CREDENTIAL_ACCESS: Rule = Rule {
    id: "credential-access",
    explanation: "reads the user's keys, passwords or other credentials",
    hint: "check that the skill needs them; the sandbox hides them unless you allow them",
    patterns: &[
        Pattern {
            regex: r#"(?:\b(?:cat|cp|tar|zip|base64|head|less|xxd|scp|rsync|strings|Get-Content)\s[^\n]*|(?:open|read_text|readFile(?:Sync)?|expanduser|File\.read|join)\s*\([^\n]*)\.ssh(?:/|["'],\s*["']|["']\s*/\s*["'])(?:id_[a-z0-9]+(?:\.[a-z]+)?|identity|\*)"#,
            unless: Unless::All {
                parts: r"\bid_[a-z0-9]+(?:\.[a-z]+)?|\bidentity\b|\.ssh/\*",
                are: PUBLIC_KEY,
            },
            levels: Levels::commands(HIGH, LOW),
        },
        Pattern {
            regex: r"(?:Google/Chrome|Google\\Chrome|google-chrome|Chromium|BraveSoftware|Microsoft/Edge|Microsoft\\Edge|Firefox/Profiles|\.mozilla/firefox)[^\n]*(?:Login Data|Cookies|Local State|Web Data|logins\.json|key4\.db|cookies\.sqlite)",
            unless: Unless::Never,
            levels: Levels::commands(HIGH, LOW),
        },
        Pattern {
            regex: r"\bsecurity\s+(?:dump-keychain|export\s+-k)\b|(?i)\b(?:mimikatz|sekurlsa::|lsadump::)|\breg(?:\.exe)?\s+save\s+HKLM\\(?:SAM|SECURITY)|\b(?:cat|cp|tar|base64|open\()\s*[^\n]{0,20}/etc/shadow\b",
            unless: Unless::Never,
            levels: Levels::commands(HIGH, LOW),
        },
        Pattern {
            regex: r"(?:\.electrum/wallets|\.bitcoin/wallet\.dat|\.ethereum/keystore|Exodus/exodus\.wallet|nkbihfbeogaeaoehlefnkodbefgpgknn)",
            unless: Unless::Never,
            levels: Levels::commands(HIGH, LOW),
        },
        // What a model is told to read.
        Pattern {
            regex: r"(?i)\b(?:read|open|cat|copy|print|include|show|output|collect|get|display|load|fetch)\s+(?:(?:the|contents?|of|user(?:'|’)?s?|file|files|full|private|key|keys|from|at|in)\s+){0,6}[`\x22']?(?:~|\$HOME|\$\{HOME\}|/root|/home/[\w-]+|/Users/[\w-]+)/\.(?:ssh/(?:id_[a-z0-9]+(?:\.pub\b)?|\*|\s|`)|aws/credentials|netrc|git-credentials|gnupg|kube/config|claude/\.credentials)",
            unless: Unless::It(r"\.pub\z"),
            levels: Levels::everywhere(MEDIUM),
        },
        Pattern {
            regex: r"\bsecurity\s+find-(?:generic|internet)-password\b[^\n]*-(?:w|g)\b|\bsecret-tool\s+lookup\b",
            unless: Unless::Never,
            levels: Levels::code(MEDIUM),
        },
        Pattern {
            regex: r#"[/"']\.(?:aws/credentials|netrc|git-credentials|pypirc|docker/config\.json|kube/config|gnupg/(?:secring|private-keys)|config/gh/hosts\.yml|config/gcloud/(?:application_default_credentials|credentials\.db)|claude/\.credentials\.json|codex/auth\.json|config/solana/id\.json)\b"#,
            unless: Unless::Never,
            levels: Levels::code(MEDIUM),
        },
        Pattern {
            regex: r"\bJSON\.stringify\(\s*process\.env\s*[,)]|\b(?:json\.dumps|str|repr|print)\(\s*(?:dict\(\s*)?os\.environ\s*\)|\bGet-ChildItem\s+Env:|(?:^|[;&|(`])\s*(?:env|printenv)\s*(?:>>?\s*[^\s;&|)]+|\|\s*(?:base64|tee|xxd|gzip)\b)",
            unless: Unless::It(r">\s*/dev/null\z"),
            levels: Levels::code(MEDIUM),
        },
    ],
};

pub(in crate::scan) static EXFILTRATION: Rule = Rule {
    id: "exfiltration",
    explanation: "sends credentials or environment variables to another machine",
    hint: "do not run it before you know who gets the data and why",
    patterns: &[
        Pattern {
            regex: r#"\b(?:curl|wget|http|https|Invoke-WebRequest|Invoke-RestMethod)\s[^\n]*(?:@|--post-file[= ]|-T\s*|\$\(\s*(?:cat|base64)\s+[^\n)]{0,20}|\$\(<\s*)["']?[\w~/$.{}-]*(?:\.ssh/[\w.*-]*|\.aws/credentials|\.netrc\b|\.git-credentials|/\.env\b|@\.env\b|\s\.env\b|id_(?:rsa|ed25519)\b(?:\.[a-z]+)?|/etc/(?:shadow|passwd)\b|\.kube/config|\.gnupg|\.claude/\.credentials)"#,
            unless: Unless::All {
                parts: r"\.ssh/[\w.*-]*|\bid_[a-z0-9]+(?:\.[a-z]+)?|\.(?:aws|netrc|git-credentials|env|kube|gnupg|claude)\b|/etc/\w+",
                are: PUBLIC_KEY,
            },
            levels: Levels::commands(CRITICAL, HIGH),
        },
        Pattern {
            regex: r"\b(?:env|printenv|cat\s+[^\n|;]*(?:\.env|\.ssh/[^\n|;]*|\.aws/[^\n|;]*|\.netrc|/etc/shadow|/etc/passwd|_history))\s*\|\s*(?:(?:base64|gzip|xxd|tr)\b[^|\n]*\|\s*)*(?:curl|wget|nc|ncat|netcat|socat)\b",
            unless: Unless::Never,
            levels: Levels::commands(CRITICAL, HIGH),
        },
        Pattern {
            regex: r"\b(?:tar|zip)\s[^\n|;]*\.(?:ssh|aws|gnupg)\b[^\n;]*\|\s*(?:base64\b[^|\n]*\|\s*)?(?:curl|nc|ncat|socat|ssh)\b",
            unless: Unless::Never,
            levels: Levels::commands(CRITICAL, HIGH),
        },
        Pattern {
            regex: r"\b(?:requests|httpx|session)\.(?:post|put|get)\s*\([^\n]*(?:(?:data|json|params)\s*=\s*(?:dict\(\s*)?os\.environ(?:\s*[,)]|\.copy\(\)|\.items\(\))|(?:data|json|params)\s*=\s*json\.dumps\(\s*(?:dict\(\s*)?os\.environ\b)|\b(?:fetch|axios\.post)\s*\([^\n]*(?:JSON\.stringify\(\s*process\.env\s*\)|,\s*process\.env\s*[,)])",
            unless: Unless::Never,
            levels: Levels::commands(CRITICAL, HIGH),
        },
        Pattern {
            regex: r"\b(?:dig|nslookup|host|ping)\s[^\n]*(?:\$\([^\n)]*(?:base64|xxd|whoami|hostname|/etc/passwd|env)[^\n)]*\)|`[^\n`]*(?:base64|xxd|whoami|/etc/passwd)[^\n`]*`)\.[a-z0-9-]+\.",
            unless: Unless::Never,
            levels: Levels::commands(HIGH, MEDIUM),
        },
        Pattern {
            regex: r"\bhttps?://(?:webhook\.site/[0-9a-f]{8}-|[a-z0-9]+\.(?:burpcollaborator\.net|oast\.(?:fun|pro|live|site|me|online)|interact\.sh|requestbin\.net|m\.pipedream\.net)|discord(?:app)?\.com/api/webhooks/[0-9]{16,}/|api\.telegram\.org/bot[0-9]{8,}:)",
            unless: Unless::Never,
            levels: Levels::commands(MEDIUM, LOW),
        },
    ],
};
