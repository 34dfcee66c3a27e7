//! What an answer that is cut off ends with.

use std::sync::Arc;

use crate::guardrails::{Action, Detour};

/// How an answer goes on where a rule cuts it off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It is refused, as the client's shape says it.
    Refuse,
    /// This text is told, and the answer ends as one that is complete.
    Say(Arc<str>),
}

impl Stop {
    /// What a rule with `action` does to an answer. Nothing can be asked of another model any more, so such a rule never looks at answers.
    #[must_use]
    pub fn of(action: &Action) -> Option<Self> {
        match action {
            Action::Block => Some(Self::Refuse),
            Action::Redirect(Detour::Text(text)) => Some(Self::Say(text.clone())),
            Action::Redirect(Detour::Model(_)) | Action::Mask(_) | Action::LogOnly => None,
        }
    }
}

/// What is needed to end an answer besides what was seen of it.
#[derive(Clone, Debug)]
pub struct Closing {
    /// Stands in for the answer's id where the answer told none.
    pub request_id: Arc<str>,
    /// The model the client asked for, where the answer told none.
    pub model: Arc<str>,
}
