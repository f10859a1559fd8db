//! What an Agent Skill is on disk: parse, check, index, search, disclose on demand.
