//! Everything of a request but the conversation and the tools.

use sha2::{Digest, Sha256};

use super::tools::Plan;
use super::{schema, thinking};
use crate::canonical::{OutputFormat, Raw, Refusal, Request, Text, Weight};
use crate::shape::Shape;
use crate::translate::ProviderKind;
use crate::translate::map::Effort;
use crate::translate::map::context::{Context, Names};
use crate::wire::json::{Value, Writer};

/// Most stop sequences.
const STOPS: usize = 4;
/// Longest tag of an end user.
const USER_LONGEST: usize = 64;
/// Longest name of a schema.
const NAME_LONGEST: usize = 64;

pub(super) fn write(request: &Request<'_>, tools: &Plan<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    limit(request, context, w)?;
    let effort = thinking::settle(request, !tools.is_empty(), context);
    sampling(request, effort, context, w);
    stop(request, context, w);
    if let Some(effort) = effort {
        w.str_field("reasoning_effort", effort.as_str());
    }
    format(request, context, w);
    words(request, context, w);
    if request.stream {
        w.bool_field("stream", true);
        if context.target.quirks.stream_options {
            w.object("stream_options", |w| w.bool_field("include_usage", true));
        }
    }
    Ok(())
}

fn limit(request: &Request<'_>, context: &Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    let Some(limit) = request.max_output else { return Ok(()) };
    if limit == 0 {
        let names = ["max_completion_tokens", "max_tokens", "generationConfig.maxOutputTokens", "max_output_tokens"];
        return Err(context.unsupported(names, "the provider cannot give an empty answer"));
    }
    w.whole_field(if context.target.quirks.max_completion_tokens { "max_completion_tokens" } else { "max_tokens" }, limit);
    Ok(())
}

fn sampling(request: &Request<'_>, effort: Option<Effort>, context: &mut Context<'_>, w: &mut Writer<'_>) {
    let (sampling, capabilities) = (&request.sampling, context.target.capabilities);
    let free = capabilities.sampling || effort == Some(Effort::None);
    let numbers: [(&str, _, bool, Names); 6] = [
        ("temperature", sampling.temperature, free, ["temperature", "temperature", "generationConfig.temperature", "temperature"]),
        ("top_p", sampling.top_p, free, ["top_p", "top_p", "generationConfig.topP", "top_p"]),
        ("top_k", sampling.top_k, context.target.quirks.top_k, ["top_k", "top_k", "generationConfig.topK", "top_k"]),
        ("presence_penalty", sampling.presence_penalty, capabilities.penalties, PRESENCE),
        ("frequency_penalty", sampling.frequency_penalty, capabilities.penalties, FREQUENCY),
        ("seed", sampling.seed, true, ["seed", "seed", "generationConfig.seed", "seed"]),
    ];
    for (name, number, taken, names) in numbers {
        match number {
            Some(number) if taken => w.number_field(name, number),
            Some(_) => context.lose(names, Weight::Minor, "the model does not take it"),
            None => {}
        }
    }
    if let Some(n) = sampling.n.filter(|n| *n > 1) {
        w.whole_field("n", n);
    }
    if sampling.logprobs && free {
        w.bool_field("logprobs", true);
        if let Some(top) = sampling.top_logprobs {
            w.whole_field("top_logprobs", top);
        }
    } else if sampling.logprobs {
        let names = ["logprobs", "logprobs", "generationConfig.responseLogprobs", "top_logprobs"];
        context.lose(names, Weight::Major, "the model does not tell log probabilities");
    }
}

const PRESENCE: Names = ["presence_penalty", "presence_penalty", "generationConfig.presencePenalty", "presence_penalty"];
const FREQUENCY: Names = ["frequency_penalty", "frequency_penalty", "generationConfig.frequencyPenalty", "frequency_penalty"];

fn stop(request: &Request<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) {
    let names = ["stop", "stop_sequences", "generationConfig.stopSequences", "stop"];
    let mut stops = request.stop.iter().filter(|stop| !stop.is_empty()).peekable();
    if stops.peek().is_none() {
        return;
    }
    if context.target.capabilities.reasoning_model && context.target.quirks.vendor {
        return context.lose(names, Weight::Minor, "the model takes no stop sequences");
    }
    w.array("stop", |w| stops.by_ref().take(STOPS).for_each(|stop| w.text(stop)));
    if stops.next().is_some() {
        context.lose(names, Weight::Minor, "only the first four stop sequences are taken");
    }
}

fn format(request: &Request<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) {
    match &request.format {
        OutputFormat::Text => {}
        OutputFormat::JsonObject => w.object("response_format", |w| w.str_field("type", "json_object")),
        OutputFormat::Schema { name, description, schema, vendor_schema, strict } => {
            let (schema, wrapped) = schema::answer(schema, *vendor_schema);
            context.adaptations.wrapped |= wrapped;
            let strict = strict.map(|strict| strict && schema::complies(Value::of(&schema)));
            w.object("response_format", |w| {
                w.str_field("type", "json_schema");
                w.object("json_schema", |w| {
                    w.str_field("name", &schema_name(name.as_ref()));
                    if let Some(description) = description {
                        w.text_field("description", description);
                    }
                    w.raw_field("schema", &Raw::from(&*schema));
                    if let Some(strict) = strict {
                        w.bool_field("strict", strict);
                    }
                });
            });
        }
    }
}

fn schema_name(name: Option<&Text<'_>>) -> String {
    let name = name.map(|name| name.decode().into_owned()).filter(|name| !name.is_empty()).unwrap_or_else(|| "output".to_owned());
    let clean = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    name.chars().take(NAME_LONGEST).map(clean).collect()
}

fn words(request: &Request<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) {
    let vendor = context.target.quirks.vendor;
    if let Some(verbosity) = &request.verbosity {
        if vendor && context.target.capabilities.reasoning_model {
            w.text_field("verbosity", verbosity);
        } else {
            context.lose(["verbosity", "verbosity", "verbosity", "text.verbosity"], Weight::Minor, "the model does not take it");
        }
    }
    if let Some(user) = request.user.as_ref().filter(|user| !user.is_empty()) {
        let tag = if vendor { bounded(user) } else { user.as_ref() };
        w.text_field("user", &tag);
        if vendor && context.target.kind == ProviderKind::Openai {
            w.text_field("safety_identifier", &tag);
        }
    }
    if let Some(tier) = &request.service_tier {
        if vendor {
            w.text_field("service_tier", &tier_for(request.from, tier));
        } else {
            context.lose(
                ["service_tier", "service_tier", "serviceTier", "service_tier"],
                Weight::Minor,
                "the provider has no service tiers",
            );
        }
    }
}

/// The tag, or its hash where it is too long for the vendor.
pub(in crate::translate) fn bounded<'t>(user: &'t Text<'_>) -> Text<'t> {
    let text = user.decode();
    if text.chars().count() <= USER_LONGEST {
        return user.as_ref();
    }
    Text::from(Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

pub(in crate::translate) fn tier_for<'t>(from: Shape, tier: &'t Text<'_>) -> Text<'t> {
    match (from, &*tier.decode()) {
        (Shape::Messages, "standard_only") | (Shape::GenerateContent, "standard") => Text::from("default"),
        _ => tier.as_ref(),
    }
}
