//! What stays behind after a skill has done its work.

use super::{HIGH, LOW, Levels, MEDIUM, Pattern, Rule, Unless};

pub(in crate::scan) static PERSISTENCE: Rule = Rule {
    id: "persistence",
    explanation: "makes something run later without a request, or gives somebody access",
    hint: "check that this is the skill's purpose, and that you know how to undo it",
    patterns: &[
        Pattern {
            regex: r"(?:>>?|\btee\s+(?:-a\s+)?)\s*[\x22']?[\w~/$.{}-]*\.ssh/authorized_keys2?\b",
            unless: Unless::Never,
            levels: Levels::commands(HIGH, LOW),
        },
        // A line in a start file that fetches or decodes something.
        Pattern {
            regex: r"\b(?:echo|printf)\s[^\n]*(?:curl\s|wget\s|base64\s+-d|/dev/tcp/|\bnc\s|nohup\s)[^\n]*>>\s*[\x22']?[\w~/$.{}-]*\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv)\b",
            unless: Unless::Never,
            levels: Levels::commands(HIGH, MEDIUM),
        },
        Pattern {
            regex: r"\bcurl\s[^\n|]*\|\s*(?:\([^\n)]*\)\s*)?crontab\b|(?:\becho|\bprintf)\s[^\n]*(?:curl\s|wget\s|base64\s+-d|/dev/tcp/)[^\n]*\|\s*crontab\s+-",
            unless: Unless::Never,
            levels: Levels::commands(HIGH, MEDIUM),
        },
        Pattern {
            regex: r"\|\s*(?:sudo\s+)?crontab\s+(?:-u\s+\S+\s+)?-(?:\s|\x22|'|\)|$)|(?:>>?|\btee\s+(?:-a\s+)?)\s*[\x22']?/etc/(?:crontab|cron\.(?:d|hourly|daily|weekly)/)",
            unless: Unless::Never,
            levels: Levels::commands(MEDIUM, LOW),
        },
        Pattern {
            regex: r"(?:>>?|\btee\s+(?:-a\s+)?)\s*[\x22']?[\w~/$.{}-]*/\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv)\b",
            unless: Unless::Never,
            levels: Levels::code(MEDIUM),
        },
        Pattern {
            regex: r"\bsystemctl\s+(?:--user\s+)?(?:--now\s+)?enable\b|(?:>>?|\btee\s+|\bcp\s[^\n]*\s)[\x22']?[\w~/$.{}-]*(?:/etc/systemd/system|\.config/systemd/user|Library/Launch(?:Agents|Daemons)|\.config/autostart)/|\blaunchctl\s+(?:load|bootstrap)\b",
            unless: Unless::Never,
            levels: Levels::code(MEDIUM),
        },
        Pattern {
            regex: r"(?:>>?\s*|\btee\s+(?:-a\s+)?|\bcp\s[^\n]*\s|\bln\s[^\n]*\s)[\x22']?[\w~/$.{}-]*\.git/hooks/[a-z]|\bgit\s+config\s+--global\s+(?:core\.hooksPath|init\.templateDir)\b",
            unless: Unless::Never,
            levels: Levels::code(MEDIUM),
        },
        Pattern {
            regex: r"(?i)\breg(?:\.exe)?\s+add\s[^\n]*\\CurrentVersion\\Run(?:Once)?\b|\bschtasks(?:\.exe)?\s+/create\b|\bRegister-ScheduledTask\b",
            unless: Unless::Never,
            levels: Levels::commands(MEDIUM, LOW),
        },
        // Memory and settings of agents, which the next session obeys.
        Pattern {
            regex: r"(?:>>?|\btee\s+(?:-a\s+)?)\s*[\x22']?(?:~|\$\{?HOME\}?)/[\w./-]*(?:CLAUDE\.md|AGENTS\.md|SOUL\.md|MEMORY\.md|\.claude/settings(?:\.local)?\.json|\.cursor/rules)",
            unless: Unless::Never,
            levels: Levels::commands(MEDIUM, LOW),
        },
    ],
};
