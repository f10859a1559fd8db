//! What a prompt holds, for a reader that is no language model.

use agent::action::{Action, Decision};
use agent::context::{Prompt, Role};
use agent::piped;
use agent::plan::StepStatus;
use basics::skill::Source;

use super::{Decided, plan};

/// What has been said so far.
pub(super) struct Conversation<'a> {
    /// The words of the request.
    pub(super) request: &'a str,
    /// The text that was piped in with it.
    pub(super) piped: Option<&'a str>,
    /// The skill that was loaded last for this request.
    pub(super) skill: Option<Skill<'a>>,
    /// Those that were loaded for requests before.
    earlier: Vec<Skill<'a>>,
    /// What came of the actions, in their order.
    pub(super) observed: Vec<Observed<'a>>,
    /// Whether a decision was made before this one.
    has_decided: bool,
}

/// A loaded skill.
pub(super) struct Skill<'a> {
    pub(super) name: String,
    pub(super) source: Option<Source>,
    pub(super) text: &'a str,
}

/// What came of an action.
#[derive(Debug, PartialEq)]
pub(super) struct Observed<'a> {
    /// The action in one line, its type first.
    pub(super) action: &'a str,
    /// `ok`, or the code of an error.
    pub(super) state: &'a str,
    /// The text, unless a compaction took it.
    pub(super) text: Option<&'a str>,
    /// Where the text is kept that a compaction took.
    pub(super) kept: Option<&'a str>,
}

impl<'a> Conversation<'a> {
    pub(super) fn read(prompt: &'a Prompt<'_>) -> Self {
        let mut conversation = Self {
            request: "",
            piped: None,
            skill: None,
            earlier: Vec::new(),
            observed: Vec::new(),
            has_decided: false,
        };
        let first = prompt.messages.first().map_or("", |message| message.text.as_str());
        let mark = mark(first).unwrap_or_default();
        for message in prompt.messages {
            match (message.role, block(&message.text, mark)) {
                (Role::Assistant, _) => conversation.has_decided = true,
                (Role::User, Some((label, text))) => conversation.take(label, text),
                (Role::User, None) => conversation.observed.extend(shortened(&message.text)),
            }
        }
        conversation
    }

    fn take(&mut self, label: &'a str, text: &'a str) {
        let mut is_skill = label.starts_with("Skill ");
        if label == "Request" {
            // What was done for an earlier one does not count for it.
            (self.request, self.piped) = piped::split(text);
            self.has_decided = false;
            self.observed.clear();
            self.earlier.extend(self.skill.take());
        } else if let Some(label) = label.strip_prefix("Observation ")
            && let Some(observed) = observed(label, Some(text), None)
        {
            // Not what a script printed, though it may look like a skill.
            is_skill = observed.is_ok() && observed.action.starts_with("select_skills ");
            // One that is known already does not come again.
            let known = |skill: &Skill<'_>| is_skill && skill.name == observed.target();
            if let Some(place) = self.earlier.iter().position(known) {
                self.skill = Some(self.earlier.swap_remove(place));
            }
            self.observed.push(observed);
        }
        self.skill = skill(text).filter(|_| is_skill).or(self.skill.take());
    }

    /// A decision to do something, with what it means for the plan.
    pub(super) fn act(&self, action: Action, loading: StepStatus, running: StepStatus) -> Decided {
        let answering = match action {
            Action::FinalAnswer { .. } => StepStatus::Completed,
            _ => StepStatus::Pending,
        };
        let statuses = [loading, running, answering];
        let plan_update = Some(plan::update(self.request, statuses, self.has_decided));
        let decision = Decision { action, plan_update, diagnostics: None };
        Decided { decision, unable: false }
    }

    /// A decision to answer.
    pub(super) fn answer(
        &self,
        content: String,
        loading: StepStatus,
        running: StepStatus,
    ) -> Decided {
        self.act(Action::FinalAnswer { content }, loading, running)
    }

    /// A decision to say why the work could not be done.
    pub(super) fn give_up(
        &self,
        content: String,
        loading: StepStatus,
        running: StepStatus,
    ) -> Decided {
        Decided { unable: true, ..self.answer(content, loading, running) }
    }
}

impl Observed<'_> {
    pub(super) fn is_ok(&self) -> bool {
        self.state == "ok"
    }

    pub(super) fn is_script(&self) -> bool {
        self.action.starts_with("run_script ")
    }

    pub(super) fn is_look(&self) -> bool {
        self.action.starts_with("call_tool list_dir")
    }

    /// What the action was about.
    pub(super) fn target(&self) -> &str {
        self.action.split_once(' ').map_or(self.action, |(_, target)| target)
    }
}

/// The run's own mark, from the block that every conversation begins with.
fn mark(first: &str) -> Option<&str> {
    first.strip_prefix("=== Request [")?.split_once("] ===\n").map(|(mark, _)| mark)
}

/// The label and the text of a block between the run's marks, which its text cannot hold.
fn block<'a>(message: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let (head, rest) = message.strip_prefix("=== ")?.split_once('\n')?;
    let label = head.strip_suffix(&format!(" [{mark}] ==="))?;
    let text = rest.strip_suffix(&format!("=== end [{mark}] ==="))?;
    Some((label, text.strip_suffix('\n').unwrap_or(text)))
}

/// `NUMBER | ACTION | STATE`, where the action may hold anything.
fn observed<'a>(
    label: &'a str,
    text: Option<&'a str>,
    kept: Option<&'a str>,
) -> Option<Observed<'a>> {
    let (_, rest) = label.split_once(" | ")?;
    let (action, state) = rest.rsplit_once(" |").unwrap_or((rest, ""));
    Some(Observed { action, state: state.trim(), text, kept })
}

/// What a compaction left of an observation; only the run itself speaks outside of blocks.
fn shortened(message: &str) -> Option<Observed<'_>> {
    let line = message.strip_prefix("[Observation ")?.strip_suffix(']')?;
    let (label, kept) = line.rsplit_once(" | shortened, the whole is in ")?;
    observed(label, None, kept.split(';').next())
}

/// A skill's text begins with `[Skill: NAME | source=SOURCE]`.
fn skill(text: &str) -> Option<Skill<'_>> {
    let (head, _) = text.strip_prefix("[Skill: ")?.split_once("]\n")?;
    let (name, source) = head.rsplit_once(" | source=")?;
    let source = Source::ALL.into_iter().find(|known| known.as_str() == source);
    Some(Skill { name: name.to_owned(), source, text })
}
