//! Everything of a request but the conversation and the tools.

use super::tools::Plan;
use crate::canonical::{OutputFormat, Refusal, Request, Text, Weight};
use crate::translate::chat_completions::kin::{bounded, complies, tier_for};
use crate::translate::map::context::{Context, Names};
use crate::translate::map::{Effort, effort};
use crate::wire::json::Writer;

/// Smallest limit the vendor takes.
const LEAST: u64 = 16;

pub(super) fn write(request: &Request<'_>, tools: &Plan<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) -> Result<(), Refusal> {
    if let Some(limit) = request.max_output {
        if limit == 0 {
            let names = ["max_completion_tokens", "max_tokens", "generationConfig.maxOutputTokens", "max_output_tokens"];
            return Err(context.unsupported(names, "the provider cannot give an empty answer"));
        }
        w.whole_field("max_output_tokens", limit.max(LEAST));
    }
    let effort = reasoning(request, tools.searches(), context, w);
    sampling(request, effort, context, w);
    dropped(request, context);
    text(request, context, w);
    if let Some(user) = request.user.as_ref().filter(|user| !user.is_empty()) {
        w.text_field("safety_identifier", &bounded(user));
    }
    if let Some(tier) = &request.service_tier {
        w.text_field("service_tier", &tier_for(request.from, tier));
    }
    w.bool_field("store", false);
    w.array("include", |w| {
        w.str("reasoning.encrypted_content");
        if tools.searches() {
            w.str("web_search_call.action.sources");
        }
        if request.sampling.logprobs {
            w.str("message.output_text.logprobs");
        }
    });
    if request.stream {
        w.bool_field("stream", true);
    }
    Ok(())
}

fn reasoning(request: &Request<'_>, searches: bool, context: &mut Context<'_>, w: &mut Writer<'_>) -> Option<Effort> {
    let capabilities = &context.target.capabilities;
    // Models do not search with the least effort.
    let effort =
        effort(&request.thinking, capabilities).map(|effort| if searches && effort == Effort::Minimal { Effort::Low } else { effort });
    if !capabilities.reasoning_model {
        if effort.is_some_and(|effort| effort != Effort::None) {
            let names: Names = ["reasoning_effort", "thinking", "generationConfig.thinkingConfig", "reasoning.effort"];
            context.lose(names, Weight::Minor, "the model does not reason");
        }
        return effort;
    }
    let shown = request.thinking.shown == Some(true) || (request.thinking.shown.is_none() && effort.is_some());
    if effort.is_some() || shown {
        w.object("reasoning", |w| {
            if let Some(effort) = effort {
                w.str_field("effort", effort.as_str());
            }
            if shown && effort != Some(Effort::None) {
                w.str_field("summary", "auto");
            }
        });
    }
    effort
}

fn sampling(request: &Request<'_>, effort: Option<Effort>, context: &mut Context<'_>, w: &mut Writer<'_>) {
    let free = context.target.capabilities.sampling || effort == Some(Effort::None);
    let temperature: Names = ["temperature", "temperature", "generationConfig.temperature", "temperature"];
    let top_p: Names = ["top_p", "top_p", "generationConfig.topP", "top_p"];
    for (name, number, names) in [("temperature", request.sampling.temperature, temperature), ("top_p", request.sampling.top_p, top_p)] {
        match number {
            Some(number) if free => w.number_field(name, number),
            Some(_) => context.lose(names, Weight::Minor, "the model does not take it"),
            None => {}
        }
    }
    if let Some(top) = request.sampling.top_logprobs.filter(|_| request.sampling.logprobs) {
        w.whole_field("top_logprobs", top);
    }
}

/// What this dialect has no field for.
fn dropped(request: &Request<'_>, context: &mut Context<'_>) {
    let reason = "the responses dialect has no such field";
    let sampling = &request.sampling;
    let lost: [(bool, Names, Weight); 6] = [
        (sampling.top_k.is_some(), ["top_k", "top_k", "generationConfig.topK", "top_k"], Weight::Minor),
        (sampling.seed.is_some(), ["seed", "seed", "generationConfig.seed", "seed"], Weight::Minor),
        (sampling.presence_penalty.is_some(), ["presence_penalty", "", "generationConfig.presencePenalty", ""], Weight::Minor),
        (sampling.frequency_penalty.is_some(), ["frequency_penalty", "", "generationConfig.frequencyPenalty", ""], Weight::Minor),
        (sampling.n.is_some_and(|n| n > 1), ["n", "n", "generationConfig.candidateCount", "n"], Weight::Major),
        (!request.stop.is_empty(), ["stop", "stop_sequences", "generationConfig.stopSequences", "stop"], Weight::Minor),
    ];
    for (said, names, weight) in lost {
        if said {
            context.lose(names, weight, reason);
        }
    }
}

fn text(request: &Request<'_>, context: &mut Context<'_>, w: &mut Writer<'_>) {
    let verbosity = request.verbosity.as_ref().filter(|_| context.target.capabilities.reasoning_model);
    if request.verbosity.is_some() && verbosity.is_none() {
        context.lose(["verbosity", "verbosity", "verbosity", "text.verbosity"], Weight::Minor, "the model does not take it");
    }
    if verbosity.is_none() && request.format == OutputFormat::Text {
        return;
    }
    w.object("text", |w| {
        match &request.format {
            OutputFormat::Text => {}
            OutputFormat::JsonObject => w.object("format", |w| w.str_field("type", "json_object")),
            OutputFormat::Schema { name, description, schema, strict, .. } => w.object("format", |w| {
                w.str_field("type", "json_schema");
                w.text_field("name", name.as_ref().unwrap_or(&Text::from("output")));
                if let Some(description) = description {
                    w.text_field("description", description);
                }
                w.raw_field("schema", schema);
                w.bool_field("strict", strict.unwrap_or(false) && complies(schema.value()));
            }),
        }
        if let Some(verbosity) = verbosity {
            w.text_field("verbosity", verbosity);
        }
    });
}
