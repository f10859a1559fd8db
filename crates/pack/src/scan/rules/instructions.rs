//! Instructions that address the agent against its user.

use super::{HIGH, Levels, MEDIUM, Pattern, Rule, Unless};

/// Words that forbid what follows them. A pattern that begins with them, if they are there, says which
/// words may stand between, so that nothing but a ban passes for one.
macro_rules! not {
    () => {
        r"\b(?:never|(?:do|must|should|may|can)\s*not|don(?:'|’)?t|shouldn(?:'|’)t|can(?:'|’)t)\s+(?:ever\s+)?"
    };
}

/// How a match begins that forbids what it names.
const FORBIDS: &str = concat!(r"(?i)\A", not!());

/// An order to send private data, up to what follows it.
macro_rules! send {
    () => {
        r"\b(?:send|post|upload|forward|transmit|exfiltrate|submit|leak)\s+(?:(?:a|all|any|the|your|their|every|copy|copies|of|full|entire|complete|contents?|user(?:'|’)?s?|whole)\s+){0,6}(?:conversation|chat\s+history|message\s+history|system\s+prompt|api\s+keys?|credentials|passwords?|ssh\s+keys?|private\s+keys?|environment\s+variables|env\s+vars?|access\s+tokens?|secrets|cookies|\.env|seed\s+phrase|wallet)\b"
    };
}

/// Where it goes.
macro_rules! to_address {
    () => {
        r"\b(?:to|at|via)\s+[`\x22'<(\[]{0,2}https?://"
    };
}

pub(in crate::scan) static OVERRIDE_INSTRUCTIONS: Rule = Rule {
    id: "override-instructions",
    explanation: "words that tell the agent to ignore its user or its makers",
    hint: "remove them; a skill adds to the user's instructions, it never replaces them",
    patterns: &[
        Pattern {
            regex: r"(?i)\b(?:ignore|disregard|forget|override|overrule|stop\s+following)\s+(?:(?:all|any|every|of|the|your|my|these|those|other)\s+){0,4}(?:previous|prior|earlier|preceding|above|foregoing|original|system|developer)\s+(?:(?:system|developer|safety|user)\s+)?(?:instructions?|prompts?|directives?|guidelines|messages|commands|constraints|orders)\b",
            unless: Unless::Never,
            levels: Levels::everywhere(HIGH),
        },
        Pattern {
            regex: r"(?i)\b(?:ignore|disregard|override|overrule)\s+(?:(?:the|your|any|all)\s+){0,2}(?:user|human|operator)(?:'s|’s)?\s+(?:instructions?|requests?|wishes|objections?|refusal)\b",
            unless: Unless::Never,
            levels: Levels::everywhere(HIGH),
        },
        Pattern {
            regex: r"(?i)\b(?:ignore|disregard|bypass|disable|circumvent|turn\s+off)\s+(?:(?:all|any|your|of|the)\s+){0,3}(?:safety|ethical|content)\s+(?:guidelines|guardrails|filters?|policies|restrictions|rules|training)\b",
            unless: Unless::Never,
            levels: Levels::everywhere(HIGH),
        },
        Pattern {
            regex: r"(?i)\byou\s+are\s+now\s+(?:DAN\b|in\s+(?:developer|god|unrestricted|jailbreak)\s+mode|free\s+(?:of|from)\s+(?:all\s+|any\s+)?restrictions|unrestricted)",
            unless: Unless::Never,
            levels: Levels::everywhere(HIGH),
        },
        Pattern {
            regex: r"<\|im_start\|>\s*system|<\|start_header_id\|>\s*system|<<SYS>>",
            unless: Unless::Never,
            levels: Levels::everywhere(MEDIUM),
        },
    ],
};

pub(in crate::scan) static HIDE_FROM_USER: Rule = Rule {
    id: "hide-from-user",
    explanation: "words that tell the agent to hide something from its user",
    hint: "ask why the user should not know, or remove them",
    patterns: &[
        Pattern {
            regex: r"(?i)\b(?:do\s+not|don(?:'|’)?t|never|must\s+not|should\s+not|shouldn(?:'|’)t)\s+(?:ever\s+)?(?:tell|inform|notify|alert|warn|let)\s+(?:the\s+|your\s+)?(?:user|human|operator|person|owner)s?\s+(?:about\s+(?:this|these|it\b|what\s+you)|of\s+this|know\s+(?:about\s+(?:this|it\b)|that\s+you|you\s+are|what\s+you)|that\s+you\s+(?:are|have|did|sent|ran|read|will)|what\s+you)",
            unless: Unless::Never,
            levels: Levels::everywhere(HIGH),
        },
        Pattern {
            regex: r"(?i)\b(?:hide|conceal|keep)\s+(?:this|these|it|that|them|all\s+of\s+this|your\s+actions|what\s+you\s+(?:do|did|are\s+doing))\s+(?:(?:instructions?|steps?|actions?|files?|commands?|secret|hidden|private)\s+){0,2}from\s+(?:the\s+|your\s+)?(?:user|human|operator|owner)s?\b",
            unless: Unless::Never,
            levels: Levels::everywhere(HIGH),
        },
        Pattern {
            regex: concat!(
                "(?i)(?:",
                not!(),
                r"(?:act|proceed|continue|go\s+on|run|execute|change|modify|edit|write|delete|remove|send|upload|share|publish|post|install|commit|push|make|do)\s+(?:(?:a|an|any|the|this|that|these|your|user|private|file|files|data|code|anything|something|changes?|commands?|scripts?|messages?|settings|packages?)\s+){0,3})?",
                r"\bwithout\s+(?:the\s+|your\s+)?(?:user|human|operator|owner)(?:(?:'|’)s)?\s+(?:knowledge|knowing|noticing|awareness|being\s+(?:aware|told))\b"
            ),
            unless: Unless::It(FORBIDS),
            levels: Levels::everywhere(HIGH),
        },
        Pattern {
            regex: concat!(
                "(?i)(?:",
                not!(),
                r")?\b(?:secretly|covertly|surreptitiously|stealthily)\s+(?:send|upload|copy|collect|log|record|forward|post|transmit|exfiltrate|run|execute|install|read|add|include)\b"
            ),
            unless: Unless::It(FORBIDS),
            levels: Levels::everywhere(HIGH),
        },
        Pattern {
            regex: r"(?i)\b(?:do\s+not|don(?:'|’)?t|never)\s+(?:mention|reveal|disclose|report)\s+(?:this|these|any\s+of\s+(?:this|these))(?:\s+(?:steps?|instructions?|actions?|commands?|requests?|uploads?|rules?|skills?|prompts?))?\s+to\s+(?:the\s+|your\s+)?(?:user|human|operator|owner)s?\b",
            unless: Unless::Never,
            levels: Levels::everywhere(HIGH),
        },
        Pattern {
            regex: r"(?i)\bthe\s+(?:user|human|operator|owner)\s+(?:must|should|may)\s+(?:not|never)\s+(?:know|notice|find\s+out|be\s+told|be\s+aware|learn)\s+(?:about|that|of)\b",
            unless: Unless::Never,
            levels: Levels::everywhere(HIGH),
        },
    ],
};

pub(in crate::scan) static SEND_DATA_OUT: Rule = Rule {
    id: "send-data-out",
    explanation: "words that tell the agent to send private data to an address on the network",
    hint: "find out who owns the address and what happens to the data, or remove them",
    patterns: &[
        Pattern {
            regex: concat!("(?i)(?:", not!(), ")?", send!(), r"[^\n.]*", to_address!()),
            unless: Unless::It(concat!(r"(?i)\A", not!(), send!(), r"\s+", to_address!(), r"\z")),
            levels: Levels::everywhere(HIGH),
        },
        Pattern {
            regex: r"(?i)!\[[^\]\n]*\]\(https?://[^)\s]*[?&][^)\s=]*=\s*(?:\{\{?|\$\{|<|\[)\s*(?:conversation|history|summary|secret|api_?key|token|password|data|prompt|user_?(?:data|input|message))",
            unless: Unless::Never,
            levels: Levels::everywhere(MEDIUM),
        },
    ],
};
