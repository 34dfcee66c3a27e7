//! Writing a request for a provider of this shape.

mod config;
mod contents;
mod history;
mod parts;
mod results;
mod thinking;
mod tools;

#[cfg(test)]
mod tests;

use crate::canonical::{Extra, OutputFormat, Raw, Refusal, Request, Text, Weight};
use crate::shape::Shape;
use crate::translate::map::{context::Context, conversation};
use crate::translate::{Encoding, ProviderKind, Target};
use crate::wire::json::Writer;

/// Longest key and value of a label.
const LABEL_LONGEST: usize = 63;

/// Writes `request` for `target`.
///
/// # Errors
/// When the history breaks the client's own rules, or holds media the target cannot take.
pub fn encode_request(mut request: Request<'_>, target: &Target<'_>, encoding: &mut Encoding) -> Result<(), Refusal> {
    let Encoding { body, losses, adaptations } = encoding;
    adaptations.legacy_calls = request.legacy_calls;
    let mut context = Context { from: request.from, target, losses, adaptations };
    let labels = extras(std::mem::take(&mut request.extras), &mut context);
    unsaid(&request, &mut context);

    let mut turns = std::mem::take(&mut request.turns);
    conversation::pair(&mut turns, context.losses)?;
    let turns = history::sendable(turns, &mut context);
    let mut conversation = conversation::alternate(turns, context.losses)?;

    let offer = tools::offer(std::mem::take(&mut request.tools), request.tool_choice.take(), &mut context)?;
    let format = config::form(&mut request, &offer, &mut conversation.system, &mut context);

    let mut w = Writer::new(body);
    w.begin_object();
    instructions(&conversation.system, &mut w);
    contents::write(&conversation.turns, &mut w, &mut context)?;
    tools::write(&offer, &mut w, &mut context);
    config::write(&request, &format, &mut w, &mut context)?;
    tier(&request, &mut w, &mut context);
    if let Some(labels) = labels {
        w.raw_field("labels", &Raw::from(labels));
    }
    w.end_object();
    Ok(())
}

/// Notes every field this shape has no place for, and makes labels of the client's tags where the provider takes them.
fn extras(extras: Vec<Extra<'_>>, context: &mut Context<'_>) -> Option<Vec<u8>> {
    let mut labels = None;
    for extra in extras {
        if extra.field.is("metadata") && context.from != Shape::Messages && context.target.kind == ProviderKind::Vertex {
            labels = self::labels(&extra.value);
            if labels.is_some() {
                continue;
            }
        }
        context.losses.note(extra.field.decode().into_owned(), extra.weight, "a generate-content provider has no such field");
    }
    labels
}

/// The client's tags as labels, when all of them fit the provider's narrow alphabet.
fn labels(tags: &Raw<'_>) -> Option<Vec<u8>> {
    let fits = |text: &str| {
        text.len() <= LABEL_LONGEST
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-')
    };
    let mut out = Vec::new();
    let mut w = Writer::new(&mut out);
    w.begin_object();
    for tag in tags.value().members() {
        let (key, value) = (tag.key().to_ascii_lowercase(), tag.as_str()?.to_ascii_lowercase());
        let starts = key.starts_with(|c: char| c.is_ascii_lowercase());
        if !(fits(&key) && starts && fits(&value)) {
            return None;
        }
        w.str_field(&key, &value);
    }
    w.end_object();
    Some(out)
}

/// Notes the neutral fields this shape has no place for.
fn unsaid(request: &Request<'_>, context: &mut Context<'_>) {
    if request.user.is_some() {
        let reason = "a generate-content provider takes no tag of the end user";
        context.lose(["user", "metadata.user_id", "user", "user"], Weight::Minor, reason);
    }
    if request.verbosity.is_some() {
        let reason = "a generate-content provider cannot be told how wordy to be";
        context.lose(["verbosity", "verbosity", "verbosity", "text.verbosity"], Weight::Minor, reason);
    }
    if request.parallel_tool_calls == Some(false) && !request.legacy_calls {
        let names = ["parallel_tool_calls", "tool_choice.disable_parallel_tool_use", "parallelToolCalls", "parallel_tool_calls"];
        context.lose(names, Weight::Minor, "a generate-content provider cannot be limited to one call at a time");
    }
}

fn instructions(system: &[Text<'_>], w: &mut Writer<'_>) {
    if system.is_empty() {
        return;
    }
    w.object("systemInstruction", |w| {
        w.array("parts", |w| {
            for text in system {
                w.begin_object();
                w.text_field("text", text);
                w.end_object();
            }
        });
    });
}

/// The service tier, in the vendor's words.
fn tier(request: &Request<'_>, w: &mut Writer<'_>, context: &mut Context<'_>) {
    let Some(tier) = &request.service_tier else { return };
    let word = match &*tier.decode().to_ascii_lowercase() {
        "auto" | "" => return,
        "flex" => "flex",
        "priority" => "priority",
        "default" | "standard" | "standard_only" => "standard",
        _ => {
            let reason = "a generate-content provider has no such tier";
            return context.lose(["service_tier", "service_tier", "serviceTier", "service_tier"], Weight::Minor, reason);
        }
    };
    w.str_field("serviceTier", word);
}

/// The form of the answer as this request can ask for it.
enum Form<'a> {
    /// Any text, or what the instructions ask for.
    Free,
    /// As the client asked.
    Asked(OutputFormat<'a>),
}
