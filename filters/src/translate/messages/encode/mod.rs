//! Writing a request for a provider of this shape.

mod blocks;
mod media;
mod plan;
mod prepare;
mod sampling;
mod terms;
#[cfg(test)]
mod tests;
mod thinking;
mod tools;

use self::plan::{Form, Picked, Plan};
use self::prepare::Context;
use self::terms::Terms;
use self::thinking::Mode;
use crate::canonical::{Losses, Number, Refusal, Request, Role, Text, Weight};
use crate::shape::Shape;
use crate::translate::map::Conversation;
use crate::translate::{Encoding, ProviderKind, Target};
use crate::wire::json::{Value, Writer};

/// Longest tag of an end user.
const TAG: usize = 256;

/// Writes a request in this shape. Model and stream are written as the vendor itself wants them; the transport of Bedrock and
/// Vertex takes them out.
///
/// # Errors
/// When the conversation breaks rules no provider of this shape would forgive.
pub fn encode_request(mut request: Request<'_>, target: &Target<'_>, encoding: &mut Encoding) -> Result<(), Refusal> {
    let Encoding { body, losses, adaptations } = encoding;
    adaptations.legacy_calls = request.legacy_calls;
    let context = Context { from: request.from, target, terms: Terms::of(request.from) };
    let conversation = prepare::conversation(std::mem::take(&mut request.turns), &context, losses)?;
    let begun = conversation.turns.last().is_some_and(|turn| turn.role == Role::Assistant);
    if begun && !target.capabilities.prefill {
        let message = "the model does not take a conversation whose last message is the assistant's (prefill)";
        return Err(Refusal::unsupported(context.terms.messages(), message));
    }
    let plan = Plan::make(&request, &conversation.turns, &context, losses, adaptations)?;
    body.reserve(256 + conversation.turns.len() * 128);
    let mut writer = Writer::new(body);
    writer.begin_object();
    writer.str_field("model", target.model);
    writer.whole_field("max_tokens", plan.max_tokens);
    system(&conversation, &plan, &mut writer);
    blocks::turns(&conversation.turns, &mut writer, adaptations);
    tools::declare(&conversation.turns, &plan, &context, &mut writer, losses, adaptations);
    asked(&plan, &mut writer);
    tags(&request, &context, &mut writer, losses);
    writer.end_object();
    Ok(())
}

fn system(conversation: &Conversation<'_>, plan: &Plan<'_, '_>, w: &mut Writer<'_>) {
    let instruction = if let Form::Asked(instruction) = &plan.form { Some(Text::from(instruction.as_str())) } else { None };
    if conversation.system.is_empty() && instruction.is_none() {
        return;
    }
    w.array("system", |w| {
        for text in conversation.system.iter().chain(&instruction) {
            blocks::text(text, w);
        }
    });
}

fn asked(plan: &Plan<'_, '_>, w: &mut Writer<'_>) {
    match plan.thinking {
        Mode::Unsaid => {}
        Mode::Off => w.object("thinking", |w| w.str_field("type", "disabled")),
        Mode::Budget(budget) => w.object("thinking", |w| {
            w.str_field("type", "enabled");
            w.whole_field("budget_tokens", budget);
        }),
        Mode::Adaptive { summarised } => w.object("thinking", |w| {
            w.str_field("type", "adaptive");
            if summarised {
                w.str_field("display", "summarized");
            }
        }),
    }
    let bound = if let Form::Bound(schema) = &plan.form { Some(schema) } else { None };
    if plan.effort.is_some() || bound.is_some() {
        w.object("output_config", |w| {
            if let Some(effort) = plan.effort {
                w.str_field("effort", effort.as_str());
            }
            if let Some(schema) = bound {
                w.object("format", |w| {
                    w.str_field("type", "json_schema");
                    w.key("schema");
                    w.raw(schema);
                });
            }
        });
    }
    let sampling = &plan.sampling;
    for (name, value) in [("temperature", sampling.temperature), ("top_p", sampling.top_p), ("top_k", sampling.top_k)] {
        match (value, value.and_then(|value| whole(name, value))) {
            (_, Some(count)) => w.whole_field(name, count),
            (Some(value), None) => w.number_field(name, value),
            (None, None) => {}
        }
    }
    choice(plan, w);
}

/// Generate-content clients write the count of candidates as a fraction, which this vendor refuses.
fn whole(name: &str, value: Number<'_>) -> Option<u64> {
    if name == "top_k" { Value::of(value.0.as_bytes()).u64() } else { None }
}

fn choice(plan: &Plan<'_, '_>, w: &mut Writer<'_>) {
    let picked = match &plan.choice {
        Some(picked) => picked,
        None if plan.single => &Picked::Auto,
        None => return,
    };
    w.object("tool_choice", |w| {
        match picked {
            Picked::Auto => w.str_field("type", "auto"),
            Picked::Any => w.str_field("type", "any"),
            Picked::None => w.str_field("type", "none"),
            Picked::Named(name) => {
                w.str_field("type", "tool");
                w.str_field("name", name);
            }
        }
        if plan.single && *picked != Picked::None {
            w.bool_field("disable_parallel_tool_use", true);
        }
    });
}

fn tags(request: &Request<'_>, context: &Context<'_>, w: &mut Writer<'_>, losses: &mut Losses) {
    let stops: Vec<&Text<'_>> = request.stop.iter().filter(|stop| !stop.is_blank()).collect();
    if stops.len() < request.stop.len() {
        losses.note(context.terms.stop, Weight::Minor, "a stop sequence may not be blank");
    }
    if !stops.is_empty() {
        w.array("stop_sequences", |w| stops.iter().for_each(|stop| w.text(stop)));
    }
    if let Some(user) = request.user.as_ref().filter(|user| !user.is_blank()) {
        match tag(user) {
            Some(tag) => w.object("metadata", |w| w.str_field("user_id", &tag)),
            None => losses.note(context.terms.user, Weight::Minor, "the vendor refuses e-mail addresses and telephone numbers"),
        }
    }
    if let Some(asked) = &request.service_tier {
        match tier(asked, context) {
            Some(tier) => w.str_field("service_tier", tier),
            None => losses.note(context.terms.service_tier, Weight::Minor, "the provider has no such tier"),
        }
    }
    if request.stream {
        w.bool_field("stream", true);
    }
}

/// The tag of an end user as the vendor takes it; `None` where it looks like personal data.
fn tag(user: &Text<'_>) -> Option<String> {
    let user = user.decode();
    let user = user.trim();
    let (before, after) = user.rsplit_once('@').unwrap_or_default();
    let email = !before.is_empty() && after.contains('.') && !user.contains(char::is_whitespace);
    let digits = user.chars().filter(char::is_ascii_digit).count();
    let phone = digits >= 7 && user.chars().all(|c| c.is_ascii_digit() || "+-(). ".contains(c)) && user.starts_with(['+', '(', '0']);
    (!email && !phone).then(|| user.chars().take(TAG).collect())
}

fn tier(asked: &Text<'_>, context: &Context<'_>) -> Option<&'static str> {
    if matches!(context.target.kind, ProviderKind::Bedrock | ProviderKind::Vertex) {
        return None;
    }
    match (&*asked.decode().to_ascii_lowercase(), context.from) {
        ("auto" | "priority", _) => Some("auto"),
        ("default" | "flex" | "scale" | "standard", Shape::ChatCompletions | Shape::Responses | Shape::GenerateContent)
        | ("standard_only", Shape::Messages) => Some("standard_only"),
        _ => None,
    }
}
