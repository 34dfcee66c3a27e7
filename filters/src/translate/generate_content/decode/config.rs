//! `generationConfig`: limits, sampling, the form of the answer and thinking.

use super::{extra, named};
use crate::canonical::{OutputFormat, Refusal, Request, Text, Thinking, Weight};
use crate::translate::generate_content::fields::{Path, boolean, camel, list, number, object, positive, text, whole};
use crate::translate::map::Effort;
use crate::wire::json::{Kind, Member, Value};

/// Fields that together say what form the answer has.
#[derive(Default)]
struct Form<'a> {
    media_type: Option<Text<'a>>,
    schema: Option<Value<'a>>,
    json_schema: Option<Value<'a>>,
}

/// Reads `generationConfig`.
pub(super) fn read<'a>(value: Value<'a>, path: &Path<'_>, request: &mut Request<'a>) -> Result<(), Refusal> {
    let mut form = Form::default();
    for member in object(value, path)?.unwrap_or(Value::NULL).members().filter(|member| member.kind != Kind::Null) {
        if !sampling(&member, path, request)? {
            field(&member, path, request, &mut form)?;
        }
    }
    request.format = format(form, path, request)?;
    Ok(())
}

/// Takes the fields of sampling; false for every other.
fn sampling<'a>(member: &Member<'a>, path: &Path<'_>, request: &mut Request<'a>) -> Result<bool, Refusal> {
    let (value, sampling) = (member.json(), &mut request.sampling);
    match &*camel(member) {
        b"temperature" => sampling.temperature = number(value, &path.key("temperature"))?,
        b"topP" => sampling.top_p = number(value, &path.key("topP"))?,
        b"topK" => sampling.top_k = number(value, &path.key("topK"))?,
        b"presencePenalty" => sampling.presence_penalty = number(value, &path.key("presencePenalty"))?,
        b"frequencyPenalty" => sampling.frequency_penalty = number(value, &path.key("frequencyPenalty"))?,
        b"seed" => sampling.seed = number(value, &path.key("seed"))?,
        b"candidateCount" => sampling.n = positive(value, &path.key("candidateCount"))?,
        b"responseLogprobs" => sampling.logprobs = boolean(value, &path.key("responseLogprobs"))?.unwrap_or_default(),
        b"logprobs" => sampling.top_logprobs = whole(value, &path.key("logprobs"))?.and_then(|count| u64::try_from(count).ok()),
        _ => return Ok(false),
    }
    Ok(true)
}

fn field<'a>(member: &Member<'a>, path: &Path<'_>, request: &mut Request<'a>, form: &mut Form<'a>) -> Result<(), Refusal> {
    let value = member.json();
    match &*camel(member) {
        b"maxOutputTokens" => request.max_output = positive(value, &path.key("maxOutputTokens"))?,
        b"stopSequences" => {
            let at = path.key("stopSequences");
            for (index, stop) in list(value, Kind::String, &at)?.into_iter().enumerate() {
                request.stop.extend(text(stop, &at.index(index))?);
            }
        }
        b"responseMimeType" => form.media_type = text(value, &path.key("responseMimeType"))?,
        b"responseSchema" => form.schema = object(value, &path.key("responseSchema"))?,
        b"responseJsonSchema" => form.json_schema = Some(value),
        b"thinkingConfig" => request.thinking = thinking(value, &path.key("thinkingConfig"))?,
        b"responseModalities" => modalities(value, path, request)?,
        b"responseFormat" => formats(value, &path.key("responseFormat"), request, form)?,
        // `speechConfig`, `imageConfig`, `mediaResolution` and whatever comes later.
        _ => request.extras.push(named(Some("generationConfig"), member, Weight::Minor)),
    }
    Ok(())
}

/// Answers in anything but text are what the caller would miss.
fn modalities<'a>(value: Value<'a>, path: &Path<'_>, request: &mut Request<'a>) -> Result<(), Refusal> {
    let at = path.key("responseModalities");
    for (index, modality) in list(value, Kind::String, &at)?.into_iter().enumerate() {
        let name = text(modality, &at.index(index))?.map(|name| name.decode().to_ascii_uppercase()).unwrap_or_default();
        if !matches!(name.as_str(), "TEXT" | "" | "MODALITY_UNSPECIFIED") {
            request.extras.push(extra("generationConfig.responseModalities", value, Weight::Major));
        }
    }
    Ok(())
}

/// The newer words for the form: one entry for each modality, of which text may have a schema.
fn formats<'a>(value: Value<'a>, path: &Path<'_>, request: &mut Request<'a>, form: &mut Form<'a>) -> Result<(), Refusal> {
    for (index, entry) in list(value, Kind::Object, path)?.into_iter().enumerate() {
        let at = path.index(index);
        for member in object(entry, &at)?.unwrap_or(Value::NULL).members().filter(|member| member.kind != Kind::Null) {
            let at = at.key("text");
            if &*camel(&member) != b"text" {
                request.extras.push(extra("generationConfig.responseFormat", value, Weight::Major));
                continue;
            }
            for member in object(member.json(), &at)?.unwrap_or(Value::NULL).members().filter(|member| member.kind != Kind::Null) {
                match &*camel(&member) {
                    b"mimeType" => form.media_type = text(member.json(), &at.key("mimeType"))?,
                    b"schema" => form.json_schema = Some(member.json()),
                    _ => request.extras.push(named(Some("generationConfig.responseFormat.text"), &member, Weight::Minor)),
                }
            }
        }
    }
    Ok(())
}

fn format<'a>(form: Form<'a>, path: &Path<'_>, request: &mut Request<'a>) -> Result<OutputFormat<'a>, Refusal> {
    let Form { media_type, schema, json_schema } = form;
    let schema = match (schema, json_schema) {
        (Some(_), Some(_)) => {
            return Err(path.key("responseJsonSchema").invalid("only one of `responseSchema` and `responseJsonSchema` can be given"));
        }
        (Some(schema), None) => Some((schema, true)),
        (None, json) => json.map(|schema| (schema, false)),
    };
    let kind = media_type.as_ref().map(|kind| kind.decode().to_ascii_lowercase()).unwrap_or_default();
    Ok(match (kind.as_str(), schema) {
        // A choice of words is the schema of one of them.
        ("" | "application/json" | "application_json" | "text/x.enum", Some((schema, vendor_schema))) => {
            OutputFormat::Schema { name: None, description: None, schema: schema.raw(), vendor_schema, strict: None }
        }
        ("application/json" | "application_json", None) => OutputFormat::JsonObject,
        ("" | "text/plain", None) => OutputFormat::Text,
        ("text/plain", Some(_)) => {
            return Err(path.key("responseMimeType").invalid("a schema needs `application/json` or `text/x.enum`"));
        }
        ("text/x.enum", None) => return Err(path.key("responseSchema").invalid("`text/x.enum` needs a schema")),
        _ => {
            if let Some(kind) = media_type {
                let mut value = vec![b'"'];
                kind.escape_into(&mut value);
                value.push(b'"');
                let field = Text::from("generationConfig.responseMimeType");
                request.extras.push(crate::canonical::Extra { field, value: value.into(), weight: Weight::Major });
            }
            OutputFormat::Text
        }
    })
}

/// Reads `thinkingConfig`, which says how much by a budget or by a level.
fn thinking<'a>(value: Value<'a>, path: &Path<'_>) -> Result<Thinking<'a>, Refusal> {
    let mut thinking = Thinking::default();
    let Some(value) = object(value, path)? else { return Ok(thinking) };
    let mut shown = false;
    for member in value.members().filter(|member| member.kind != Kind::Null) {
        let value = member.json();
        match &*camel(&member) {
            b"includeThoughts" => shown = boolean(value, &path.key("includeThoughts"))?.unwrap_or_default(),
            b"thinkingBudget" => thinking.budget = whole(value, &path.key("thinkingBudget"))?.map(|budget| budget.max(-1)),
            b"thinkingLevel" => thinking.effort = level(value, &path.key("thinkingLevel"))?,
            _ => {}
        }
    }
    if thinking.budget.is_some() && thinking.effort.is_some() {
        return Err(path.invalid("only one of `thinkingBudget` and `thinkingLevel` can be given"));
    }
    thinking.shown = Some(shown);
    Ok(thinking)
}

fn level<'a>(value: Value<'_>, path: &Path<'_>) -> Result<Option<Text<'a>>, Refusal> {
    let Some(level) = text(value, path)? else { return Ok(None) };
    if level.is("") || level.is("THINKING_LEVEL_UNSPECIFIED") {
        return Ok(None);
    }
    match Effort::parse(&level.decode()) {
        Some(effort) => Ok(Some(Text::from(effort.as_str()))),
        None => Err(path.invalid("expected `MINIMAL`, `LOW`, `MEDIUM`, `HIGH` or `XHIGH`")),
    }
}
