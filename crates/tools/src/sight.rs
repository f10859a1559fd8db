//! How far an approval reaches.

use permission::{Effect, Engine, Permission, Request};

/// How far an approval reaches beyond the very thing that was approved: to what is in a directory, or
/// where a redirect leads, but not to anything for which the rules are stricter.
pub(crate) struct Sight<'e> {
    engine: &'e Engine,
    permission: Permission,
    approved: Effect,
}

impl<'e> Sight<'e> {
    pub(crate) fn new(approved: &impl Request, engine: &'e Engine) -> Self {
        let permission = approved.permission();
        let patterns = approved.patterns();
        let actions = patterns.iter().map(|pattern| engine.action(permission, pattern));
        Self { engine, permission, approved: actions.max().unwrap_or(Effect::Allow) }
    }

    /// Whether the rules treat this no more strictly than what was approved.
    pub(crate) fn covers(&self, pattern: &str) -> bool {
        self.engine.action(self.permission, pattern) <= self.approved
    }

    /// Whether a file in the directory that was approved can be seen.
    pub(crate) fn shows(&self, name: &str) -> bool {
        self.covers(name) && self.engine.action(Permission::ReadFile, name) != Effect::Deny
    }
}
