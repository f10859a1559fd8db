//! Instructions that address the agent against its user.

use super::{HIGH, LOW, Levels, MEDIUM, Pattern, Rule};

/// What a skill about attacks calls itself.
pub(in crate::scan) const SECURITY: &str = r"(?i)\b(?:security|secure|pen-?test|penetration|malware|malicious|inject|vulnerab|forensic|red[- ]?team|blue[- ]?team|ctf|exploit|threat|jailbreak|guardrail|adversarial|attack|hacking|hacker|incident\s+response|privilege\s+escalation|prompt[- ]?(?:guard|shield|defen[cs]e)|osint|yara|siem|exfiltrat|post-exploitation|owasp|bug\s+bount)";

/// What stands in the heading and the lines above something that is only spoken of.
pub(in crate::scan) const DISCUSSES: &str = r"(?i)\b(?:attack|malicious|malware|inject(?:ion|ed|s)|exploit|payload|suspicious|jailbreak|adversar|threat|vulnerab|red[- ]?flags?\b|dangerous|unsafe|insecure|untrusted|phish|exfiltrat|compromised|backdoor|pen-?test|penetration|reverse\s+shell|anti-?patterns?\b|forbidden|prohibited|hostile)";

/// What stands before something in its own line, or in its heading, where it must not be done.
pub(in crate::scan) const DENIES: &str = r"(?i)\b(?:never|avoid|do\s+not|don(?:'|’)t|not|refuse|reject|blocks?|detects?|flags?|e\.g\.|such\s+as|attempts?|tries|trying|asks?|says?|like|warn)\b";

pub(in crate::scan) static OVERRIDE_INSTRUCTIONS: Rule = Rule {
    id: "override-instructions",
    explanation: "words that tell the agent to give up what its user or its makers told it",
    hint: "remove them; a skill adds to the user's instructions and never replaces them",
    patterns: &[
        Pattern {
            regex: r"(?i)\b(?:ignore|disregard|forget|override|overrule|stop\s+following)\s+(?:(?:all|any|every|of|the|your|my|these|those|other)\s+){0,4}(?:previous|prior|earlier|preceding|above|foregoing|original|system|developer)\s+(?:(?:system|developer|safety|user)\s+)?(?:instructions?|prompts?|directives?|guidelines|messages|commands|constraints|orders)\b",
            unless: None,
            levels: Levels::words(HIGH),
        },
        Pattern {
            regex: r"(?i)\b(?:ignore|disregard|override|overrule)\s+(?:(?:the|your|any|all)\s+){0,2}(?:user|human|operator)(?:'s|’s)?\s+(?:instructions?|requests?|wishes|objections?|refusal)\b",
            unless: None,
            levels: Levels::words(HIGH),
        },
        Pattern {
            regex: r"(?i)\b(?:ignore|disregard|bypass|disable|circumvent|turn\s+off)\s+(?:(?:all|any|your|of|the)\s+){0,3}(?:safety|ethical|content)\s+(?:guidelines|guardrails|filters?|policies|restrictions|rules|training)\b",
            unless: None,
            levels: Levels::words(HIGH),
        },
        Pattern {
            regex: r"(?i)\byou\s+are\s+now\s+(?:DAN\b|in\s+(?:developer|god|unrestricted|jailbreak)\s+mode|free\s+(?:of|from)\s+(?:all\s+|any\s+)?restrictions|unrestricted)",
            unless: None,
            levels: Levels::words(HIGH),
        },
        Pattern {
            regex: r"<\|im_start\|>\s*system|<\|start_header_id\|>\s*system|<<SYS>>",
            unless: None,
            levels: Levels { data: LOW, ..Levels::words(MEDIUM) },
        },
    ],
};

pub(in crate::scan) static HIDE_FROM_USER: Rule = Rule {
    id: "hide-from-user",
    explanation: "words that tell the agent to keep something from its user",
    hint: "ask why the user may not know, or remove them",
    patterns: &[
        Pattern {
            regex: r"(?i)\b(?:do\s+not|don(?:'|’)?t|never|must\s+not|should\s+not|shouldn(?:'|’)t)\s+(?:ever\s+)?(?:tell|inform|notify|alert|warn|let)\s+(?:the\s+|your\s+)?(?:user|human|operator|person|owner)s?\s+(?:about\s+(?:this|these|it\b|what\s+you)|of\s+this|know\s+(?:about\s+(?:this|it\b)|that\s+you|you\s+are|what\s+you)|that\s+you\s+(?:are|have|did|sent|ran|read|will)|what\s+you)",
            unless: None,
            levels: Levels::words(HIGH),
        },
        Pattern {
            regex: r"(?i)\b(?:hide|conceal|keep)\s+(?:this|these|it|that|them|all\s+of\s+this|your\s+actions|what\s+you\s+(?:do|did|are\s+doing))\s+(?:(?:instructions?|steps?|actions?|files?|commands?|secret|hidden|private)\s+){0,2}from\s+(?:the\s+|your\s+)?(?:user|human|operator|owner)s?\b",
            unless: None,
            levels: Levels::words(HIGH),
        },
        Pattern {
            regex: r"(?i)\bwithout\s+(?:the\s+|your\s+)?(?:user|human|operator|owner)(?:(?:'|’)s)?\s+(?:knowledge|knowing|noticing|awareness|being\s+(?:aware|told))\b",
            unless: Some(
                r"(?i)\b(?:never|not|don(?:'|’)?t|avoid|no|cannot|can(?:'|’)t|prevent|block|refuse)\b",
            ),
            levels: Levels::words(HIGH),
        },
        Pattern {
            regex: r"(?i)\b(?:secretly|covertly|surreptitiously|stealthily)\s+(?:send|upload|copy|collect|log|record|forward|post|transmit|exfiltrate|run|execute|install|read|add|include)\b",
            unless: Some(
                r"(?i)\b(?:never|not|don(?:'|’)?t|avoid|cannot|can(?:'|’)t|prevent|block|refuse|may|might|could)\b",
            ),
            levels: Levels::words(HIGH),
        },
        Pattern {
            regex: r"(?i)\b(?:do\s+not|don(?:'|’)?t|never)\s+(?:mention|reveal|disclose|report)\s+(?:this|these|any\s+of\s+(?:this|these))(?:\s+(?:steps?|instructions?|actions?|commands?|requests?|uploads?|rules?|skills?|prompts?))?\s+to\s+(?:the\s+|your\s+)?(?:user|human|operator|owner)s?\b",
            unless: None,
            levels: Levels::words(HIGH),
        },
        Pattern {
            regex: r"(?i)\bthe\s+(?:user|human|operator|owner)\s+(?:must|should|may)\s+(?:not|never)\s+(?:know|notice|find\s+out|be\s+told|be\s+aware|learn)\s+(?:about|that|of)\b",
            unless: None,
            levels: Levels::words(HIGH),
        },
    ],
};

pub(in crate::scan) static SEND_DATA_OUT: Rule = Rule {
    id: "send-data-out",
    explanation: "words that tell the agent to send private data to an address on the network",
    hint: "find out whose address it is and what it does with the data, or remove them",
    patterns: &[
        Pattern {
            regex: r"(?i)\b(?:send|post|upload|forward|transmit|exfiltrate|submit|leak)\s+(?:(?:a|all|any|the|your|their|every|copy|copies|of|full|entire|complete|contents?|user(?:'|’)?s?|whole)\s+){0,6}(?:conversation|chat\s+history|message\s+history|system\s+prompt|api\s+keys?|credentials|passwords?|ssh\s+keys?|private\s+keys?|environment\s+variables|env\s+vars?|access\s+tokens?|secrets|cookies|\.env|seed\s+phrase|wallet)\b[^\n.]*\b(?:to|at|via)\s+[`\x22'<(\[]{0,2}https?://",
            unless: Some(r"(?i)\b(?:never|not|don(?:'|’)?t|only|localhost|127\.0\.0\.1)\b"),
            levels: Levels::words(HIGH),
        },
        Pattern {
            regex: r"(?i)!\[[^\]\n]*\]\(https?://[^)\s]*[?&][^)\s=]*=\s*(?:\{\{?|\$\{|<|\[)\s*(?:conversation|history|summary|secret|api_?key|token|password|data|prompt|user_?(?:data|input|message))",
            unless: None,
            levels: Levels { quoted: LOW, code_block: LOW, ..Levels::words(MEDIUM) },
        },
    ],
};
