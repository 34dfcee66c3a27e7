//! Model discovery: the models a key may call, in the list shape its SDK expects.

use std::sync::LazyLock;

use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use pingora::Result;
use pingora::http::ResponseHeader;
use pingora::proxy::Session;
use serde_json::{Value, json};
use svc_filters::auth::{Key, may_call};
use svc_filters::endpoint::Endpoint;
use svc_filters::routing::Model;
use svc_filters::shape::Shape;
use svc_filters::translate;
use svc_filters::verdict::{Code, Rejection};

use crate::exchange::Exchange;
use crate::phases::logging;
use crate::rescue;
use crate::store::{RequestOutcome, Snapshot};

/// Page sizes where the client names none, and the largest it may name, as the vendors have them.
const MESSAGES_PAGE: (usize, usize) = (20, 1000);
const GENERATE_PAGE: (usize, usize) = (50, 1000);

/// One name a model can be called by.
struct Listed<'a> {
    name: &'a str,
    model: &'a Model,
}

/// Answers `GET /` and its like without looking at anything.
///
/// # Errors
/// When the client is gone.
pub async fn landing(session: &mut Session, exchange: &mut Exchange) -> Result<()> {
    exchange.settled = true;
    send(session, exchange, &json!({"service": "svc", "status": "ok"})).await
}

/// Answers a list or a single model.
///
/// # Errors
/// When the client is gone. The inner error is the answer for an unknown model or a wrong parameter.
pub async fn answer(
    session: &mut Session,
    exchange: &mut Exchange,
    snapshot: &Snapshot,
    name: Option<&str>,
) -> Result<Result<(), Rejection>> {
    let Some(key) = exchange.key.clone() else { return Ok(Err(Rejection::new(Code::KeyNotFound, "No API key was given."))) };
    let listed = callable(snapshot, &key);
    let query = session.req_header().uri.query().unwrap_or_default().to_owned();
    let built = match (exchange.endpoint, name) {
        (Some(Endpoint::GetModel), Some(name)) => one(exchange.shape, &listed, name),
        _ => page(exchange.shape, &listed, &query),
    };
    match built {
        Ok(value) => {
            send(session, exchange, &value).await?;
            Ok(Ok(()))
        }
        Err(rejection) => Ok(Err(rejection)),
    }
}

/// Answers what every pair of client and provider supports.
///
/// # Errors
/// When the client is gone.
pub async fn matrix(session: &mut Session, exchange: &mut Exchange) -> Result<()> {
    static MATRIX: LazyLock<Value> = LazyLock::new(|| json!({"object": "list", "data": translate::matrix()}));
    send(session, exchange, &MATRIX).await
}

/// Every name the key may call: canonical names in declaration order, each followed by its aliases.
fn callable<'a>(snapshot: &'a Snapshot, key: &Key) -> Vec<Listed<'a>> {
    let mut listed = Vec::new();
    for model in snapshot.policy.models.iter() {
        if may_call(key, &model.name, &snapshot.policy) {
            listed.push(Listed { name: &model.name, model });
            listed.extend(model.aliases.iter().map(|alias| Listed { name: alias, model }));
        }
    }
    listed
}

fn one(shape: Shape, listed: &[Listed<'_>], name: &str) -> Result<Value, Rejection> {
    let found = listed.iter().find(|entry| entry.name == name);
    let unknown = || Rejection::new(Code::ModelNotFound, format!("The model `{name}` does not exist.")).with_param("model");
    found.map(|entry| entry_in(shape, entry)).ok_or_else(unknown)
}

fn page(shape: Shape, listed: &[Listed<'_>], query: &str) -> Result<Value, Rejection> {
    match shape {
        Shape::ChatCompletions | Shape::Responses => {
            let data: Vec<Value> = listed.iter().map(|entry| entry_in(shape, entry)).collect();
            Ok(json!({"object": "list", "data": data}))
        }
        Shape::Messages => messages_page(listed, query),
        Shape::GenerateContent => generate_page(listed, query),
    }
}

fn messages_page(listed: &[Listed<'_>], query: &str) -> Result<Value, Rejection> {
    let limit = number(query, "limit", MESSAGES_PAGE)?;
    let place = |name: &str| {
        let id = parameter(query, name)?;
        Some(
            listed
                .iter()
                .position(|entry| entry.name == id)
                .ok_or_else(|| Rejection::invalid(format!("`{name}` names no model of this list.")).with_param(name.to_owned())),
        )
    };
    let (start, end) = match (place("after_id").transpose()?, place("before_id").transpose()?) {
        (Some(after), _) => (after + 1, listed.len().min(after + 1 + limit)),
        (None, Some(before)) => (before.saturating_sub(limit), before),
        (None, None) => (0, listed.len().min(limit)),
    };
    let more =
        if parameter(query, "before_id").is_some() && parameter(query, "after_id").is_none() { start > 0 } else { end < listed.len() };
    let slice = listed.get(start..end).unwrap_or_default();
    let data: Vec<Value> = slice.iter().map(|entry| entry_in(Shape::Messages, entry)).collect();
    Ok(json!({
        "data": data,
        "has_more": more,
        "first_id": slice.first().map(|entry| entry.name),
        "last_id": slice.last().map(|entry| entry.name),
    }))
}

fn generate_page(listed: &[Listed<'_>], query: &str) -> Result<Value, Rejection> {
    let size = number(query, "pageSize", GENERATE_PAGE)?;
    let start = match parameter(query, "pageToken") {
        Some(token) if !token.is_empty() => {
            token.parse::<usize>().map_err(|_| Rejection::invalid("`pageToken` is not one of this service.").with_param("pageToken"))?
        }
        _ => 0,
    };
    let end = listed.len().min(start.saturating_add(size));
    let models: Vec<Value> =
        listed.get(start..end).unwrap_or_default().iter().map(|entry| entry_in(Shape::GenerateContent, entry)).collect();
    let mut value = json!({"models": models});
    if end < listed.len()
        && let Some(object) = value.as_object_mut()
    {
        object.insert("nextPageToken".to_owned(), Value::String(end.to_string()));
    }
    Ok(value)
}

fn entry_in(shape: Shape, entry: &Listed<'_>) -> Value {
    let name = entry.name;
    match shape {
        Shape::ChatCompletions | Shape::Responses => {
            let owner = entry.model.targets.first().map_or("svc", |target| &*target.provider);
            json!({"id": name, "object": "model", "created": entry.model.created_at, "owned_by": owner})
        }
        Shape::Messages => json!({
            "type": "model", "id": name, "display_name": name, "created_at": rfc3339(entry.model.created_at),
        }),
        Shape::GenerateContent => json!({
            "name": format!("models/{name}"),
            "baseModelId": entry.model.name,
            "displayName": name,
            "version": "1",
            "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
        }),
    }
}

fn rfc3339(unix_seconds: i64) -> String {
    let format = &time::format_description::well_known::Rfc3339;
    time::OffsetDateTime::from_unix_timestamp(unix_seconds).ok().and_then(|at| at.format(format).ok()).unwrap_or_default()
}

fn parameter(query: &str, name: &str) -> Option<String> {
    form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

fn number(query: &str, name: &'static str, (default, most): (usize, usize)) -> Result<usize, Rejection> {
    let Some(text) = parameter(query, name) else { return Ok(default) };
    match text.parse::<usize>() {
        Ok(number) if number >= 1 => Ok(number.min(most)),
        _ => Err(Rejection::invalid(format!("`{name}` has to be a whole number from 1 to {most}.")).with_param(name)),
    }
}

async fn send(session: &mut Session, exchange: &mut Exchange, value: &Value) -> Result<()> {
    let body = Bytes::from(value.to_string());
    exchange.answer.status = 200;
    exchange.answer.bytes = body.len() as u64;
    logging::settle(exchange, RequestOutcome::Complete);
    let mut head = ResponseHeader::build(StatusCode::OK, Some(5))?;
    head.insert_header(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))?;
    head.insert_header(header::CONTENT_LENGTH, HeaderValue::from(body.len()))?;
    exchange.identify(&mut head)?;
    rescue::respond(session, head, body).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn models(count: usize) -> Vec<Model> {
        let model = |index: usize| Model {
            name: format!("m{index}").into(),
            aliases: Vec::new(),
            targets: Vec::new(),
            fallbacks: Vec::new(),
            affinity: false,
            created_at: 1_700_000_000,
            translation: None,
        };
        (0..count).map(model).collect()
    }

    fn listed(models: &[Model]) -> Vec<Listed<'_>> {
        models.iter().map(|model| Listed { name: &model.name, model }).collect()
    }

    #[test]
    fn pages_of_the_messages_shape_reach_every_model_once() {
        let models = models(45);
        let listed = listed(&models);
        let mut seen: Vec<Arc<str>> = Vec::new();
        let mut query = String::new();
        loop {
            let page = messages_page(&listed, &query).expect("a page");
            let names = page["data"].as_array().expect("a list").iter().map(|entry| Arc::from(entry["id"].as_str().expect("an id")));
            seen.extend(names);
            if page["has_more"] == false {
                break;
            }
            query = format!("after_id={}", page["last_id"].as_str().expect("an id"));
        }
        assert_eq!(seen, models.iter().map(|model| model.name.clone()).collect::<Vec<_>>());
    }

    #[test]
    fn a_page_before_an_id_ends_right_before_it() {
        let models = models(10);
        let page = messages_page(&listed(&models), "before_id=m5&limit=3").expect("a page");
        assert_eq!((page["first_id"].as_str(), page["last_id"].as_str()), (Some("m2"), Some("m4")));
        assert_eq!(page["has_more"], true);
    }

    #[test]
    fn an_empty_list_has_null_ends() {
        let page = messages_page(&[], "").expect("a page");
        assert_eq!(page, json!({"data": [], "has_more": false, "first_id": null, "last_id": null}));
    }

    #[test]
    fn pages_of_the_generate_content_shape_carry_a_token_until_the_last() {
        let models = models(5);
        let first = generate_page(&listed(&models), "pageSize=3").expect("a page");
        assert_eq!(first["nextPageToken"], "3");
        let last = generate_page(&listed(&models), "pageSize=3&pageToken=3").expect("a page");
        assert!(last.get("nextPageToken").is_none());
        assert_eq!(last["models"][0]["name"], "models/m3");
        assert!(generate_page(&[], "pageToken=x").is_err());
    }
}
