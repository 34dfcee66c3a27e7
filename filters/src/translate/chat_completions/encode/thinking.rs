//! How hard to think.

use crate::canonical::{Request, Weight};
use crate::translate::map::context::{Context, Names};
use crate::translate::map::{Effort, Wanted, effort, wanted};

const THINKING: Names = ["reasoning_effort", "thinking", "generationConfig.thinkingConfig", "reasoning.effort"];

/// The effort to name, if any.
pub(super) fn settle(request: &Request<'_>, has_tools: bool, context: &mut Context<'_>) -> Option<Effort> {
    let (capabilities, vendor) = (&context.target.capabilities, context.target.quirks.vendor);
    let wanted = wanted(&request.thinking);
    if wanted == Wanted::Unsaid {
        // The newest models refuse functions while they reason, which they do unless told otherwise.
        let silent = capabilities.needs_responses && vendor && has_tools && capabilities.efforts & Effort::None.bit() != 0;
        return silent.then_some(Effort::None);
    }
    if capabilities.reasoning_model {
        return effort(&request.thinking, capabilities);
    }
    match wanted {
        // What does not think need not be told so, and few copies of the API know the word.
        Wanted::Off | Wanted::Unsaid => None,
        Wanted::Auto | Wanted::Effort(_) | Wanted::Budget(_) if vendor => {
            context.lose(THINKING, Weight::Minor, "the model does not reason");
            None
        }
        Wanted::Auto | Wanted::Effort(_) | Wanted::Budget(_) => effort(&request.thinking, capabilities),
    }
}
