//! What of earlier turns can be sent at all.

use crate::canonical::{Block, Role, Turn, Weight};
use crate::shape::Shape;
use crate::translate::map::context::Context;

/// The names of reasoning in history.
const REASONING: [&str; 4] = ["messages.reasoning_content", "messages.content.thinking", "contents.parts.thought", "input.reasoning"];

/// Leaves out what this provider does not take back: reasoning of others, and pieces only another vendor knows. Reasoning that
/// stays is the carrier of a signature.
pub(super) fn sendable<'a>(turns: Vec<Turn<'a>>, context: &mut Context<'_>) -> Vec<Turn<'a>> {
    let mut kept = Vec::with_capacity(turns.len());
    for mut turn in turns {
        if turn.role == Role::Assistant {
            let had = !turn.blocks.is_empty();
            turn.blocks.retain(|block| goes(block, context));
            if had && turn.blocks.is_empty() {
                continue;
            }
        } else {
            turn.blocks.retain(|block| goes(block, context));
        }
        kept.push(turn);
    }
    kept
}

fn goes(block: &Block<'_>, context: &mut Context<'_>) -> bool {
    match block {
        Block::Reasoning { text, signature } => {
            let returns = signature.as_ref().is_some_and(|signature| context.minted(signature));
            if !text.is_empty() || !returns {
                context.lose(REASONING, Weight::Silent, "earlier reasoning goes back to the model that made it only");
            }
            returns
        }
        Block::Redacted(_) => {
            context.lose(REASONING, Weight::Silent, "earlier reasoning goes back to the model that made it only");
            false
        }
        Block::Unknown { shape, kind, .. } => {
            let own = *shape == Shape::GenerateContent;
            if !own {
                let parent = context.term(["messages.content", "messages.content", "contents.parts", "input"]);
                let reason = "a generate-content provider does not know this piece of content";
                context.losses.note(format!("{parent}.{}", kind.decode()), Weight::Minor, reason);
            }
            own
        }
        Block::Text(_)
        | Block::Image(_)
        | Block::Document(_)
        | Block::Audio(_)
        | Block::Video(_)
        | Block::ToolCall(_)
        | Block::ToolResult(_)
        | Block::Refusal(_)
        | Block::WebSearch { .. } => true,
    }
}
