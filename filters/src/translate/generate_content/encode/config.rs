//! `generationConfig`: limits, sampling and the form of the answer.

use super::tools::Offer;
use super::{Context, Form, thinking};
use crate::canonical::{Number, OutputFormat, Raw, Refusal, Request, Text, Weight};
use crate::translate::generate_content::schema;
use crate::wire::json::Writer;

/// Most stop sequences the vendor takes.
const STOPS: usize = 5;
const FORMAT: [&str; 4] = ["response_format", "output_config.format", "generationConfig.responseSchema", "text.format"];
const DESCRIPTION: [&str; 4] = [
    "response_format.json_schema.description",
    "output_config.format.description",
    "generationConfig.responseSchema.description",
    "text.format.description",
];
const STOP: [&str; 4] = ["stop", "stop_sequences", "generationConfig.stopSequences", "stop"];
const LIMIT: [&str; 4] = ["max_completion_tokens", "max_tokens", "generationConfig.maxOutputTokens", "max_output_tokens"];

/// What form of answer can be asked for. Models before the third generation refuse JSON together with tools: then the
/// instructions ask for it.
pub(super) fn form<'a>(request: &mut Request<'a>, offer: &Offer<'_>, system: &mut Vec<Text<'a>>, context: &mut Context<'_>) -> Form<'a> {
    let format = std::mem::take(&mut request.format);
    let asks = !offer.is_empty() && !context.target.capabilities.mixed_tools;
    match format {
        OutputFormat::Text => Form::Free,
        OutputFormat::JsonObject if asks => {
            system.push(Text::from("Answer with one JSON object only."));
            context.lose(FORMAT, Weight::Minor, "this model cannot be bound to JSON beside tools; the instructions ask for it");
            Form::Free
        }
        OutputFormat::Schema { schema, .. } if asks => {
            system.push(Text::from(format!("Answer with JSON of this schema only:\n{}", schema.as_text())));
            context.lose(FORMAT, Weight::Minor, "this model cannot be bound to a schema beside tools; the instructions ask for it");
            Form::Free
        }
        format @ (OutputFormat::JsonObject | OutputFormat::Schema { .. }) => Form::Asked(format),
    }
}

/// Writes `generationConfig`, if anything belongs there.
pub(super) fn write(request: &Request<'_>, form: &Form<'_>, w: &mut Writer<'_>, context: &mut Context<'_>) -> Result<(), Refusal> {
    if request.max_output == Some(0) {
        let message = "a limit of 0, which only warms a cache, is not known to a generate-content provider";
        return Err(Refusal::unsupported(context.term(LIMIT), message));
    }
    let mut config = Vec::new();
    let mut inner = Writer::new(&mut config);
    inner.begin_object();
    sampling(request, &mut inner, context);
    if let Some(limit) = request.max_output {
        inner.whole_field("maxOutputTokens", limit);
    }
    stops(&request.stop, &mut inner, context);
    self::format(form, &mut inner, context);
    thinking::write(request, &mut inner, context);
    inner.end_object();
    if config != b"{}" {
        w.raw_field("generationConfig", &Raw::from(config));
    }
    Ok(())
}

fn sampling(request: &Request<'_>, w: &mut Writer<'_>, context: &mut Context<'_>) {
    let (sampling, capabilities) = (&request.sampling, context.target.capabilities);
    let mut put = |name: &'static str, number: Option<Number<'_>>, takes: bool, names: [&'static str; 4]| match number {
        Some(number) if takes => w.number_field(name, number),
        Some(_) => context.lose(names, Weight::Minor, "this model does not take it"),
        None => {}
    };
    put(
        "temperature",
        sampling.temperature,
        capabilities.sampling,
        ["temperature", "temperature", "generationConfig.temperature", "temperature"],
    );
    put("topP", sampling.top_p, capabilities.sampling, ["top_p", "top_p", "generationConfig.topP", "top_p"]);
    put("topK", sampling.top_k, capabilities.sampling, ["top_k", "top_k", "generationConfig.topK", "top_k"]);
    let presence = ["presence_penalty", "presence_penalty", "generationConfig.presencePenalty", "presence_penalty"];
    put("presencePenalty", sampling.presence_penalty, capabilities.penalties, presence);
    let frequency = ["frequency_penalty", "frequency_penalty", "generationConfig.frequencyPenalty", "frequency_penalty"];
    put("frequencyPenalty", sampling.frequency_penalty, capabilities.penalties, frequency);
    // The vendor's seeds have 32 bits.
    let seed_fits = sampling.seed.is_none_or(|seed| seed.whole().is_some_and(|seed| i32::try_from(seed).is_ok()));
    put("seed", sampling.seed, seed_fits, ["seed", "seed", "generationConfig.seed", "seed"]);
    if let Some(n) = sampling.n.filter(|n| *n > 1) {
        w.whole_field("candidateCount", n);
    }
    if sampling.logprobs {
        w.bool_field("responseLogprobs", true);
        if let Some(top) = sampling.top_logprobs.filter(|top| *top > 0) {
            w.whole_field("logprobs", top);
        }
    }
}

fn stops(stop: &[Text<'_>], w: &mut Writer<'_>, context: &mut Context<'_>) {
    let mut told = stop.iter().filter(|text| !text.is_empty()).peekable();
    if told.peek().is_none() {
        return;
    }
    w.array("stopSequences", |w| told.by_ref().take(STOPS).for_each(|text| w.text(text)));
    if told.next().is_some() {
        context.lose(STOP, Weight::Minor, "a generate-content provider takes five; the first five were sent");
    }
}

fn format(form: &Form<'_>, w: &mut Writer<'_>, context: &mut Context<'_>) {
    match form {
        Form::Free | Form::Asked(OutputFormat::Text) => {}
        Form::Asked(OutputFormat::JsonObject) => w.str_field("responseMimeType", "application/json"),
        Form::Asked(OutputFormat::Schema { schema, vendor_schema, description, .. }) => {
            if description.is_some() {
                context.lose(DESCRIPTION, Weight::Silent, "only the schema itself is sent");
            }
            w.str_field("responseMimeType", "application/json");
            let converted = schema::of_answer(schema, *vendor_schema, context.target.capabilities.json_schema);
            let name = if converted.own { "responseSchema" } else { "responseJsonSchema" };
            w.raw_field(name, &Raw(converted.json));
        }
    }
}
