//! Writing a request for a provider of this shape.

mod assistant;
mod conversation;
mod media;
mod options;
mod results;
mod schema;
#[cfg(test)]
mod tests;
mod thinking;
mod tools;

use self::tools::Plan;
use crate::canonical::{Block, OutputFormat, Refusal, Request, Role, Text, Turn, Weight};
use crate::shape::Shape;
use crate::translate::map::context::Context;
use crate::translate::map::conversation::pair;
use crate::translate::{Encoding, Target};
use crate::wire::json::Writer;

/// What the vendor's other dialect, responses, is written with too.
pub(in crate::translate) mod kin {
    pub(in crate::translate) use super::media::{data_url, document_text, file_name, picture_type};
    pub(in crate::translate) use super::options::{bounded, tier_for};
    pub(in crate::translate) use super::results::object_text;
    pub(in crate::translate) use super::schema::{arguments, complies};
    pub(in crate::translate) use crate::translate::map::search::summary as search_summary;
    pub(in crate::translate) use crate::wire::json::compact;
}

/// Writes a request of any dialect in this one.
///
/// # Errors
/// When the conversation breaks the rules of calls and results, or holds what this dialect cannot say at all.
pub fn encode_request(request: Request<'_>, target: &Target<'_>, encoding: &mut Encoding) -> Result<(), Refusal> {
    let Encoding { body, losses, adaptations } = encoding;
    adaptations.legacy_calls = request.legacy_calls;
    let mut context = Context { from: request.from, target, losses, adaptations };
    let mut request = request;
    pair(&mut request.turns, context.losses)?;
    conversation::settle_order(&mut request.turns);
    hint_at_json(&mut request, target);
    let tools = Plan::make(std::mem::take(&mut request.tools), &request, &mut context);
    let mut w = Writer::new(body);
    w.begin_object();
    w.str_field("model", target.model);
    let turns = std::mem::take(&mut request.turns);
    w.key("messages");
    conversation::write(turns, &tools, &mut context, &mut w)?;
    options::write(&request, &tools, &mut context, &mut w)?;
    tools.write(&request, &context, &mut w);
    extras(&request, &mut context, &mut w);
    w.end_object();
    Ok(())
}

/// The vendor refuses its JSON mode unless the conversation speaks of JSON.
fn hint_at_json(request: &mut Request<'_>, target: &Target<'_>) {
    let asked = request.format == OutputFormat::JsonObject && request.from != Shape::ChatCompletions;
    if !asked || !target.quirks.vendor || request.turns.iter().any(|turn| turn.blocks.iter().any(mentions_json)) {
        return;
    }
    let hint = Block::Text(Text::from("Answer in JSON."));
    match request.turns.first_mut().filter(|turn| turn.role == Role::System) {
        Some(turn) => turn.blocks.push(hint),
        None => request.turns.insert(0, Turn { role: Role::System, blocks: vec![hint] }),
    }
}

fn mentions_json(block: &Block<'_>) -> bool {
    let Block::Text(text) = block else { return false };
    let bytes = match text {
        Text::Escaped(inner) => inner,
        Text::Plain(text) => text.as_bytes(),
    };
    memchr::memchr2_iter(b'j', b'J', bytes).any(|at| bytes.get(at..at + 4).is_some_and(|word| word.eq_ignore_ascii_case(b"json")))
}

/// Fields of the client's dialect without a neutral meaning. The responses dialect of the vendor shares some with this one.
fn extras(request: &Request<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) {
    let shared = ["metadata", "store", "prompt_cache_key", "prompt_cache_retention", "prompt_cache_options"];
    let kin = matches!(request.from, Shape::Responses | Shape::ChatCompletions) && context.target.quirks.vendor;
    for extra in &request.extras {
        let field = extra.field.decode();
        if kin && extra.weight < Weight::Major && shared.contains(&&*field) {
            w.raw_field(&field, &extra.value);
        } else {
            context.losses.note(field.into_owned(), extra.weight, "chat completions has no such field");
        }
    }
}
