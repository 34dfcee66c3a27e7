//! `thinkingConfig`.

use crate::canonical::{Request, Weight};
use crate::translate::map::context::Context;
use crate::translate::map::{Effort, Wanted, wanted};
use crate::translate::{Capabilities, ThinkingStyle};
use crate::wire::json::Writer;

const NAMES: [&str; 4] = ["reasoning_effort", "thinking", "generationConfig.thinkingConfig", "reasoning"];

/// How much to think: a model takes one of the two, never both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Amount {
    /// As the model likes.
    Unsaid,
    Budget(i64),
    Level(Effort),
}

/// Writes `thinkingConfig`, where the client says anything about thinking and the model can do it.
pub(super) fn write(request: &Request<'_>, w: &mut Writer<'_>, context: &mut Context<'_>) {
    let wanted = wanted(&request.thinking);
    let capabilities = &context.target.capabilities;
    let level = match capabilities.thinking {
        ThinkingStyle::None => {
            if !matches!(wanted, Wanted::Unsaid | Wanted::Off) {
                context.lose(NAMES, Weight::Minor, "this model does not think");
            }
            return;
        }
        ThinkingStyle::Budget => false,
        ThinkingStyle::Adaptive | ThinkingStyle::Both | ThinkingStyle::Always => true,
    };
    let amount = if level { by_level(wanted, capabilities) } else { by_budget(wanted, capabilities, request.max_output) };
    if wanted == Wanted::Unsaid && request.thinking.shown != Some(true) {
        return;
    }
    // Thoughts together with a budget of zero are refused.
    let shown = wanted != Wanted::Off && request.thinking.shown.unwrap_or(true);
    if wanted == Wanted::Off && !capabilities.can_disable {
        context.lose(NAMES, Weight::Minor, "this model cannot be kept from thinking; it is asked to think as little as it can");
    }
    w.object("thinkingConfig", |w| {
        match amount {
            Amount::Unsaid => {}
            Amount::Budget(budget) => w.whole_field("thinkingBudget", budget),
            Amount::Level(effort) => w.str_field("thinkingLevel", &effort.as_str().to_ascii_uppercase()),
        }
        w.bool_field("includeThoughts", shown);
    });
}

fn by_budget(wanted: Wanted, capabilities: &Capabilities, max_output: Option<u64>) -> Amount {
    let budget = match wanted {
        Wanted::Unsaid => return Amount::Unsaid,
        Wanted::Auto => return Amount::Budget(-1),
        Wanted::Off => return Amount::Budget(i64::from(Effort::None.budget(capabilities))),
        Wanted::Effort(effort) => effort.budget(capabilities),
        Wanted::Budget(budget) => budget.min(capabilities.budget_cap),
    };
    // Thinking counts inside the limit on the answer; a fifth is left for what the client gets to see.
    let room = max_output.map_or(u32::MAX, |limit| u32::try_from(limit.saturating_mul(4) / 5).unwrap_or(u32::MAX));
    Amount::Budget(i64::from(budget.min(room).max(capabilities.budget_floor)))
}

fn by_level(wanted: Wanted, capabilities: &Capabilities) -> Amount {
    let effort = match wanted {
        Wanted::Unsaid | Wanted::Auto => return Amount::Unsaid,
        Wanted::Off => Effort::None,
        Wanted::Effort(effort) => effort,
        Wanted::Budget(budget) => Effort::of_budget(budget),
    };
    // The first preview of the third generation knows no middle; half measures are whole ones there.
    let known = |effort: Effort| capabilities.efforts & effort.bit() != 0;
    match effort.clamped(capabilities) {
        Effort::Low if effort == Effort::Medium && known(Effort::High) => Amount::Level(Effort::High),
        // The levels end at `XHIGH`.
        Effort::Max => Amount::Level(Effort::Xhigh),
        effort => Amount::Level(effort),
    }
}
