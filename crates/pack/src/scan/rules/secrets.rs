//! Keys that somebody forgot in a skill.

use super::{HIGH, Levels, MEDIUM, Pattern, Rule, Unless};

pub(in crate::scan) static SECRET: Rule = Rule {
    id: "secret",
    explanation: "looks like a real key, which everybody with the skill can use",
    hint: "revoke and remove it; each user of the skill sets their own key in the environment",
    patterns: &[
        Pattern {
            regex: r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b|\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b|\bglpat-[A-Za-z0-9_-]{20}\b|\bnpm_[A-Za-z0-9]{36}\b|\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50}",
            unless: Unless::Never,
            levels: Levels::everywhere(HIGH),
        },
        Pattern {
            regex: r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,80}T3BlbkFJ[A-Za-z0-9_-]{20}|\bsk-ant-(?:api|admin|oat)[0-9]{2}-[A-Za-z0-9_-]{80}|\bsk-or-v1-[0-9a-f]{64}\b|\bhf_[A-Za-z]{34}\b",
            unless: Unless::Never,
            levels: Levels::everywhere(HIGH),
        },
        Pattern {
            regex: r"\bxox[baprs]-[0-9]{9,13}-[0-9]{9,13}-[A-Za-z0-9-]{20}|\bhooks\.slack\.com/services/T[A-Z0-9]{8,10}/B[A-Z0-9]{8,10}/[A-Za-z0-9]{24}\b|\b[rs]k_live_[A-Za-z0-9]{24}|\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b|\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b",
            unless: Unless::Never,
            levels: Levels::everywhere(HIGH),
        },
        Pattern {
            regex: r"-----BEGIN (?:RSA |EC |DSA |OPENSSH |ENCRYPTED )?PRIVATE KEY-----(?:\s|\\n)*[A-Za-z0-9+/=]{60}",
            unless: Unless::Never,
            levels: Levels::everywhere(HIGH),
        },
        // A Google key may be one of those that web pages show to everybody; the other kind is not known
        // well enough.
        Pattern {
            regex: r"\bAIza[A-Za-z0-9_-]{35}\b|\bsk-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
            unless: Unless::Never,
            levels: Levels::everywhere(MEDIUM),
        },
    ],
};
