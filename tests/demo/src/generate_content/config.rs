//! `generationConfig`: its fields and what models of one generation or another refuse of them.

use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::generate_content::{NONE, SHAPE, list, object, schema, tools};
use crate::generation::gemini;
use crate::refusal::Refusal;
use crate::validate::{Fields, Kind, field};
use crate::vendor::Vendor;

const CONFIG: Fields = Fields {
    known: &[
        ("audioTimestamp", Kind::Bool),
        ("candidateCount", Kind::Integer),
        ("enableEnhancedCivicAnswers", Kind::Bool),
        ("frequencyPenalty", Kind::Number),
        ("imageConfig", Kind::Object),
        ("logprobs", Kind::Integer),
        ("maxOutputTokens", Kind::Integer),
        ("mediaResolution", Kind::Text),
        ("presencePenalty", Kind::Number),
        ("responseFormat", Kind::Any),
        ("responseJsonSchema", Kind::Any),
        ("responseLogprobs", Kind::Bool),
        ("responseMimeType", Kind::Text),
        ("responseModalities", Kind::List),
        ("responseSchema", Kind::Object),
        ("seed", Kind::Integer),
        ("speechConfig", Kind::Object),
        ("stopSequences", Kind::List),
        ("temperature", Kind::Number),
        ("thinkingConfig", Kind::Object),
        ("topK", Kind::Number),
        ("topP", Kind::Number),
    ],
    required: &[],
};
const THINKING: Fields =
    Fields { known: &[("includeThoughts", Kind::Bool), ("thinkingBudget", Kind::Integer), ("thinkingLevel", Kind::Text)], required: &[] };
const MOST_STOPS: usize = 5;
const LEVELS: [&str; 5] = ["MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH"];

/// What the settings come down to.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) schema: Option<Value>,
    pub(super) thinking: bool,
}

pub(super) fn of(body: &Map<String, Value>) -> &Map<String, Value> {
    object(body, "generationConfig").unwrap_or(&NONE)
}

/// Whether the caller wants to see the thoughts.
pub(super) fn shows(body: &Map<String, Value>) -> bool {
    object(of(body), "thinkingConfig").and_then(|config| field(SHAPE, config, "includeThoughts")?.as_bool()).unwrap_or(false)
}

pub(super) fn read(call: &Call, body: &Map<String, Value>, model: &str) -> Result<Settings, Refusal> {
    let config = of(body);
    CONFIG.check(SHAPE, "generationConfig", config)?;
    ranges(config)?;
    penalties(config, model)?;
    let thinking = thinking(call, config, model)?;
    let mime = field(SHAPE, config, "responseMimeType").and_then(Value::as_str).unwrap_or("text/plain");
    let before_third = gemini(model).is_some_and(|version| version < (3, 0));
    if mime == "application/json" && before_third && tools::any(body) {
        return Err(Refusal::invalid("Function calling with a response mime type: 'application/json' is unsupported"));
    }
    Ok(Settings { schema: answer_schema(config, mime)?, thinking })
}

fn ranges(config: &Map<String, Value>) -> Result<(), Refusal> {
    let number = |name: &str| field(SHAPE, config, name).and_then(Value::as_f64);
    if number("temperature").is_some_and(|value| !(0.0..=2.0).contains(&value)) {
        return Err(Refusal::invalid(
            "* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0].\n",
        ));
    }
    if number("maxOutputTokens").is_some_and(|value| value < 1.0) {
        return Err(Refusal::invalid(
            "* GenerateContentRequest.generation_config.max_output_tokens: max_output_tokens must be positive.\n",
        ));
    }
    let stops = list(config, "stopSequences");
    if stops.len() > MOST_STOPS || stops.iter().any(|stop| stop.as_str() == Some("")) {
        return Err(Refusal::invalid(format!(
            "* GenerateContentRequest.generation_config.stop_sequences: at most {MOST_STOPS} stop sequences may be given, none of them empty.\n"
        )));
    }
    Ok(())
}

fn penalties(config: &Map<String, Value>, model: &str) -> Result<(), Refusal> {
    let given = ["presencePenalty", "frequencyPenalty"].iter().any(|name| field(SHAPE, config, name).is_some());
    if given && gemini(model).is_some_and(|version| version >= (3, 0)) {
        return Err(Refusal::invalid(format!("Penalty is not enabled for models/{model}")));
    }
    Ok(())
}

fn thinking(call: &Call, config: &Map<String, Value>, model: &str) -> Result<bool, Refusal> {
    let Some(thinking) = object(config, "thinkingConfig") else { return Ok(false) };
    THINKING.check(SHAPE, "generationConfig.thinkingConfig", thinking)?;
    let budget = field(SHAPE, thinking, "thinkingBudget").and_then(Value::as_i64);
    let level = field(SHAPE, thinking, "thinkingLevel").and_then(Value::as_str);
    let shows = field(SHAPE, thinking, "includeThoughts").and_then(Value::as_bool).unwrap_or(false);
    if budget.is_some() && level.is_some() {
        return Err(Refusal::invalid("You can only set one of thinking budget and thinking level."));
    }
    if let Some(level) = level.filter(|level| !LEVELS.contains(&level.to_uppercase().as_str())) {
        let path = "generation_config.thinking_config.thinking_level";
        return Err(Refusal::invalid(format!("Invalid value at '{path}' (type.googleapis.com/ThinkingLevel), \"{level}\"")));
    }
    let version = gemini(model);
    if level.is_some() && version.is_some_and(|version| version < (3, 0)) {
        return Err(Refusal::invalid("Thinking level is not supported for this model."));
    }
    if version.is_some_and(|version| version < (2, 5)) {
        return Err(Refusal::invalid("Unable to submit request because thinking is not supported by this model."));
    }
    if shows && budget == Some(0) && call.vendor == Vendor::Vertex {
        return Err(Refusal::invalid(
            "Unable to submit request because thinking_config.include_thoughts is only enabled when thinking is enabled.",
        ));
    }
    if let Some(budget) = budget.filter(|budget| *budget >= 0) {
        ranged(budget, model)?;
    }
    Ok(budget != Some(0) && (shows || budget.is_some() || level.is_some()))
}

fn ranged(budget: i64, model: &str) -> Result<(), Refusal> {
    let Some((2, 5)) = gemini(model) else { return Ok(()) };
    let (least, most) = match (model.contains("pro"), model.contains("lite")) {
        (true, _) => (128, 32_768),
        (_, true) => (512, 24_576),
        _ => (1, 24_576),
    };
    let off = budget == 0 && !model.contains("pro");
    if off || (least..=most).contains(&budget) {
        return Ok(());
    }
    let message = format!("The thinking budget {budget} is invalid. Please choose a value between {least} and {most}.");
    Err(Refusal::invalid(message))
}

fn answer_schema(config: &Map<String, Value>, mime: &str) -> Result<Option<Value>, Refusal> {
    let (own, json) = (field(SHAPE, config, "responseSchema"), field(SHAPE, config, "responseJsonSchema"));
    if own.is_some() && json.is_some() {
        return Err(Refusal::invalid("Only one of response_schema and response_json_schema may be set."));
    }
    if !matches!(mime, "text/plain" | "application/json" | "text/x.enum") {
        return Err(Refusal::invalid(format!(
            "* GenerateContentRequest.generation_config.response_mime_type: unknown mime type {mime}.\n"
        )));
    }
    if (own.is_some() || json.is_some()) && mime == "text/plain" {
        let message =
            "* GenerateContentRequest.generation_config.response_schema: only allowed when response_mime_type is application/json.\n";
        return Err(Refusal::invalid(message));
    }
    if let Some(own) = own {
        schema::proto(own, "generationConfig.responseSchema")?;
    }
    let any = (mime == "application/json").then(|| json!({"type": "object"}));
    Ok(own.or(json).cloned().or(any))
}
