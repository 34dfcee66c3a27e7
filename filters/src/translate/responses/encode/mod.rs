//! Writing a request for a provider of chat completions that serves this dialect.

mod input;
mod media;
mod options;
#[cfg(test)]
mod tests;
mod tools;

use self::tools::Plan;
use crate::canonical::{Block, OutputFormat, Refusal, Request, Role, Text, Turn};
use crate::shape::Shape;
use crate::translate::map::context::Context;
use crate::translate::map::conversation::pair;
use crate::translate::{Encoding, Target};
use crate::wire::json::Writer;

/// Writes a request of any dialect in this one. Nothing is left in the provider's store.
///
/// # Errors
/// When the conversation breaks the rules of calls and results, or holds what this dialect cannot say at all.
pub fn encode_request(request: Request<'_>, target: &Target<'_>, encoding: &mut Encoding) -> Result<(), Refusal> {
    let Encoding { body, losses, adaptations } = encoding;
    adaptations.legacy_calls = request.legacy_calls;
    let mut context = Context { from: request.from, target, losses, adaptations };
    let mut request = request;
    pair(&mut request.turns, context.losses)?;
    hint_at_json(&mut request);
    let turns = std::mem::take(&mut request.turns);
    let tools = Plan::make(std::mem::take(&mut request.tools), &request, &mut context);
    let mut w = Writer::new(body);
    w.begin_object();
    w.str_field("model", target.model);
    w.key("input");
    input::write(turns, &tools, &mut context, &mut w)?;
    options::write(&request, &tools, &mut context, &mut w)?;
    tools.write(&request, &mut w);
    extras(&request, &mut context, &mut w);
    w.end_object();
    Ok(())
}

/// The vendor refuses its JSON mode unless the conversation speaks of JSON, which its own clients know.
fn hint_at_json(request: &mut Request<'_>) {
    let foreign = matches!(request.from, Shape::Messages | Shape::GenerateContent);
    if foreign && request.format == OutputFormat::JsonObject {
        request.turns.insert(0, Turn { role: Role::System, blocks: vec![Block::Text(Text::from("Answer in JSON."))] });
    }
}

/// Fields of the client's dialect without a neutral meaning; the vendor's other dialect shares some.
fn extras(request: &Request<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) {
    let shared = ["metadata", "prompt_cache_key", "prompt_cache_retention", "prompt_cache_options", "truncation"];
    let kin = matches!(request.from, Shape::Responses | Shape::ChatCompletions);
    for extra in &request.extras {
        let field = extra.field.decode();
        if kin && shared.contains(&&*field) {
            w.raw_field(&field, &extra.value);
        } else {
            context.losses.note(field.into_owned(), extra.weight, "the responses dialect has no such field");
        }
    }
}
