//! Thinking: what the client wants, in the way this model is asked for it.

use super::prepare::Context;
use crate::canonical::{Block, Losses, Role, Turn, Weight};
use crate::shape::Shape;
use crate::translate::map::{Effort, Wanted, budget, wanted};
use crate::translate::{Capabilities, ThinkingStyle};

/// The member `thinking`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Left out.
    Unsaid,
    /// `disabled`
    Off,
    /// `enabled` with so many tokens.
    Budget(u32),
    /// `adaptive`; `summarised` asks for it to be shown.
    Adaptive { summarised: bool },
}

/// Thinking as it is asked for.
pub(super) struct Thinking {
    pub(super) mode: Mode,
    pub(super) effort: Option<Effort>,
}

impl Thinking {
    /// Whether the client asks for thinking and the model can think.
    pub(super) fn wanted(asked: &crate::canonical::Thinking<'_>, capabilities: &Capabilities) -> bool {
        capabilities.thinking != ThinkingStyle::None && !matches!(wanted(asked), Wanted::Unsaid | Wanted::Off)
    }

    /// Whether the model is told to think.
    pub(super) const fn on(&self) -> bool {
        matches!(self.mode, Mode::Budget(_) | Mode::Adaptive { .. })
    }

    const fn only(mode: Mode) -> Self {
        Self { mode, effort: None }
    }

    /// Settles it. `forced`: a tool must be called, which no model does while it thinks.
    pub(super) fn settle(
        asked: &crate::canonical::Thinking<'_>,
        turns: &[Turn<'_>],
        forced: bool,
        limit: Option<u64>,
        context: &Context<'_>,
        losses: &mut Losses,
    ) -> Self {
        let capabilities = &context.target.capabilities;
        match (capabilities.thinking, wanted(asked)) {
            // These models think unless they are told not to.
            (ThinkingStyle::Adaptive, Wanted::Unsaid) if forced && capabilities.can_disable => Self::only(Mode::Off),
            (ThinkingStyle::Adaptive, Wanted::Off) => Self::only(Mode::Off),
            (_, Wanted::Unsaid) | (ThinkingStyle::None | ThinkingStyle::Budget | ThinkingStyle::Both, Wanted::Off) => {
                Self::only(Mode::Unsaid)
            }
            (ThinkingStyle::Always, Wanted::Off) => {
                losses.note(context.terms.thinking, Weight::Minor, "the model always thinks; it is told to do so as little as it can");
                Self { mode: Mode::Unsaid, effort: Some(Effort::Low.clamped(capabilities)) }
            }
            (ThinkingStyle::None, Wanted::Auto | Wanted::Effort(_) | Wanted::Budget(_)) => {
                losses.note(context.terms.thinking, Weight::Minor, "the model does not think");
                Self::only(Mode::Unsaid)
            }
            (ThinkingStyle::Budget, Wanted::Auto | Wanted::Effort(_) | Wanted::Budget(_)) | (ThinkingStyle::Both, Wanted::Budget(_)) => {
                Self::only(budgeted(asked, turns, limit, context, losses))
            }
            (ThinkingStyle::Both | ThinkingStyle::Adaptive | ThinkingStyle::Always, wanted) => adaptive(asked, wanted, context),
        }
    }
}

fn adaptive(asked: &crate::canonical::Thinking<'_>, wanted: Wanted, context: &Context<'_>) -> Thinking {
    let capabilities = &context.target.capabilities;
    let effort = match wanted {
        Wanted::Effort(effort) => Some(effort),
        Wanted::Budget(budget) => Some(Effort::of_budget(budget)),
        Wanted::Unsaid | Wanted::Off | Wanted::Auto => None,
    };
    let shows = match context.from {
        // Clients of this dialect show reasoning when it comes.
        Shape::ChatCompletions => asked.shown != Some(false),
        Shape::Messages | Shape::GenerateContent | Shape::Responses => asked.shown == Some(true),
    };
    // Earlier models show it without being asked, and do not know the word.
    let summarised = shows && capabilities.thinking != ThinkingStyle::Both;
    Thinking { mode: Mode::Adaptive { summarised }, effort: effort.map(|effort| effort.clamped(capabilities)) }
}

fn budgeted(
    asked: &crate::canonical::Thinking<'_>,
    turns: &[Turn<'_>],
    limit: Option<u64>,
    context: &Context<'_>,
    losses: &mut Losses,
) -> Mode {
    let capabilities = &context.target.capabilities;
    let mut without = |reason: &'static str| {
        losses.note(context.terms.thinking, Weight::Minor, reason);
        Mode::Unsaid
    };
    if turns.last().is_some_and(|turn| turn.role == Role::Assistant) {
        return without("the model does not think when it goes on with an answer that was begun");
    }
    if unsigned_calls(turns) {
        return without("the model's earlier thinking before its tool calls is not part of the history");
    }
    let most = (capabilities.max_output > 0).then_some(u64::from(capabilities.max_output));
    match budget(asked, capabilities, limit.or(most)) {
        Some(budget) => Mode::Budget(budget),
        None => without("the limit on the answer leaves no room for thinking"),
    }
}

/// Whether the last turn that called tools does not begin with its thinking, which these models demand.
fn unsigned_calls(turns: &[Turn<'_>]) -> bool {
    let waiting = turns.last().is_some_and(|turn| turn.blocks.iter().any(|block| matches!(block, Block::ToolResult(_))));
    let called = turns.iter().rev().find(|turn| turn.role == Role::Assistant).and_then(|turn| turn.blocks.first());
    waiting && !matches!(called, Some(Block::Reasoning { .. } | Block::Redacted(_)))
}
