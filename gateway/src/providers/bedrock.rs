//! The messages vendor's models on Amazon Bedrock, by `InvokeModel`.

mod answer;
mod environment;
mod sign;
mod signer;

pub(super) use answer::{Counted, Frames, Refused};
pub(super) use sign::AwsKeys;
pub(super) use signer::{Signer, Signing};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use pingora::Result;
use pingora::http::ResponseHeader;
use svc_filters::endpoint::Endpoint;
use svc_filters::shape::Shape;
use svc_filters::verdict::{Code, Rejection};
use svc_filters::wire::json::{Kind, Member, encode_string, members};
use svc_filters::wire::pieces::Pieces;

use super::answer::Unwrapping;
use super::betas::{Betas, Cloud};
use super::edit::{Editing, Fate, whole};
use super::request::Dispatch;
use super::transport::{Draft, Prepared, Transport, encoded, no_such_endpoint};

const VERSION: &str = "bedrock-2023-05-31";
const EVENT_STREAM: &str = "application/vnd.amazon.eventstream";
/// Fields of a request that the service takes.
const FIELDS: [&str; 13] = [
    "context_management",
    "max_tokens",
    "messages",
    "metadata",
    "output_config",
    "stop_sequences",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
];
/// Kinds of ARN that do not tell whose model it is.
const NAMELESS: [&str; 4] = [":application-inference-profile/", ":provisioned-model/", ":custom-model-deployment/", ":prompt/"];

#[derive(Debug)]
pub(super) struct Bedrock;

impl Transport for Bedrock {
    fn shape(&self, _: &str) -> Shape {
        Shape::Messages
    }

    fn path(&self, base: &str, dispatch: &Dispatch<'_>) -> String {
        let (model, operation) = match (dispatch.endpoint, dispatch.stream) {
            (Endpoint::MessagesCountTokens, _) => (foundation(dispatch.model), "count-tokens"),
            (_, true) => (dispatch.model, "invoke-with-response-stream"),
            (_, false) => (dispatch.model, "invoke"),
        };
        format!("{base}/model/{}/{operation}", encoded(model, b""))
    }

    fn key_header(&self, key: &str) -> (HeaderName, String) {
        (header::AUTHORIZATION, format!("Bearer {key}"))
    }

    fn headers(&self, headers: &mut HeaderMap, dispatch: &Dispatch<'_>) -> Result<()> {
        let json = HeaderValue::from_static("application/json");
        let streams = dispatch.stream && dispatch.endpoint == Endpoint::Messages;
        headers.insert(header::CONTENT_TYPE, json.clone());
        headers.insert(header::ACCEPT, if streams { HeaderValue::from_static(EVENT_STREAM) } else { json });
        Ok(())
    }

    fn prepare(&self, draft: &Draft<'_>) -> std::result::Result<Prepared, Rejection> {
        if !is_of_the_family(draft.model) {
            let message =
                format!("The model `{}` is of a family that is not served through Bedrock; only the messages vendor's are.", draft.model);
            return Err(Rejection::new(Code::UnsupportedTranslation, message).with_param("model"));
        }
        match draft.endpoint {
            Endpoint::Messages => Ok(invocation(draft, false)),
            Endpoint::MessagesCountTokens => Ok(counting(draft)),
            other => Err(no_such_endpoint("bedrock", other)),
        }
    }

    fn unwrapping(&self, endpoint: Endpoint, head: &mut ResponseHeader) -> Result<Option<Unwrapping>> {
        let content_type = head.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let unwrapping = if !head.status.is_success() {
            let refused = Refused::of(head);
            head.set_status(StatusCode::from_u16(refused.status()).unwrap_or(StatusCode::BAD_GATEWAY))?;
            head.insert_header(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))?;
            Unwrapping::refused(refused)
        } else if content_type.starts_with(EVENT_STREAM) {
            head.insert_header(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"))?;
            Unwrapping::frames(Frames::default())
        } else if endpoint == Endpoint::MessagesCountTokens {
            Unwrapping::counted(Counted::default())
        } else {
            return Ok(None);
        };
        head.remove_header(&header::CONTENT_LENGTH);
        Ok(Some(unwrapping))
    }
}

/// The region in the name of one of the vendor's hosts.
pub(super) fn region_of(host: &str) -> Option<String> {
    let rest = host.strip_prefix("bedrock-runtime.").or_else(|| host.strip_prefix("bedrock-runtime-fips."))?;
    let (region, domain) = rest.split_once('.')?;
    (domain.starts_with("amazonaws.com") || domain.starts_with("api.aws")).then(|| region.to_owned())
}

/// Whether the model is one of the messages vendor's, as far as its name tells.
fn is_of_the_family(model: &str) -> bool {
    model.contains("anthropic.") || (model.starts_with("arn:") && NAMELESS.iter().any(|kind| model.contains(kind)))
}

/// The model behind a profile's name or ARN, where that tells it: tokens are counted by models only.
fn foundation(model: &str) -> &str {
    model.find("anthropic.").and_then(|at| model.get(at..)).unwrap_or(model)
}

/// The body of an invocation: what the path says leaves it, what the vendor has in headers enters it.
fn invocation(draft: &Draft<'_>, counts: bool) -> Prepared {
    let mut betas = Betas::of(draft.headers, Cloud::Bedrock);
    let body = draft.body.whole();
    let own = members(&body).find(|member| member.is("anthropic_beta"));
    for name in own.iter().flat_map(|own| svc_filters::wire::json::elements(own.value())) {
        if name.kind == Kind::String {
            betas.add(&svc_filters::wire::json::decode_string(name.value), Cloud::Bedrock);
        }
    }
    let mut editing = Editing::new(&body);
    for name in &betas.refused {
        editing.omit(format!("anthropic-beta {name}"));
    }
    editing.add("anthropic_version", |out| encode_string(VERSION, out));
    if !betas.taken.is_empty() {
        editing.add("anthropic_beta", |out| write_betas(&betas.taken, out));
    }
    if counts && !members(&body).any(|member| member.is("max_tokens")) {
        // A field an invocation must have and a count has not; thinking needs more of it than its budget.
        editing.add("max_tokens", |out| out.extend_from_slice((thinking_budget(&body) + 1).to_string().as_bytes()));
    }
    editing.sift(whole(&body), "", |member| fate(member, &betas));
    editing.sift_nested(|member| match &*member.name() {
        b"eager_input_streaming" => Fate::Omit,
        b"defer_loading" if !betas.has("tool-search-tool") => Fate::Omit,
        _ => Fate::Keep,
    });
    let (body, omitted) = editing.finish();
    Prepared { body, omitted }
}

fn fate(member: &Member<'_>, betas: &Betas) -> Fate {
    match &*member.name() {
        b"model" | b"stream" | b"anthropic_version" | b"anthropic_beta" => Fate::Drop,
        b"context_management" if !(betas.has("context-management") || betas.has("compact")) => Fate::Omit,
        name if FIELDS.iter().any(|field| field.as_bytes() == name) => Fate::Keep,
        _ => Fate::Omit,
    }
}

fn write_betas(names: &[String], out: &mut Vec<u8>) {
    out.push(b'[');
    for (index, name) in names.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        encode_string(name, out);
    }
    out.push(b']');
}

fn thinking_budget(body: &[u8]) -> u64 {
    let thinking = members(body).find(|member| member.is("thinking"));
    let budget = thinking.and_then(|thinking| members(thinking.value()).find(|member| member.is("budget_tokens")));
    budget.and_then(|budget| std::str::from_utf8(budget.value()).ok()?.parse().ok()).unwrap_or(0)
}

/// The invocation whose tokens are to be counted, in its wrapping.
fn counting(draft: &Draft<'_>) -> Prepared {
    let Prepared { body, omitted } = invocation(draft, true);
    let wrapped = format!(r#"{{"input":{{"invokeModel":{{"body":"{}"}}}}}}"#, STANDARD.encode(body.whole()));
    Prepared { body: Pieces::from(Bytes::from(wrapped)), omitted }
}

#[cfg(test)]
mod tests;
