//! Token counts where no provider of the client's shape could tell them: estimates, marked as such.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, header};
use pingora::Result;
use pingora::http::ResponseHeader;
use pingora::proxy::Session;
use serde_json::json;
use svc_filters::shape::Shape;
use svc_filters::tokens;

use super::logging;
use crate::exchange::Exchange;
use crate::rescue;
use crate::store::RequestOutcome;

/// Tells that a count is not the provider's own.
const TOKEN_COUNT: HeaderName = HeaderName::from_static("x-svc-token-count");

/// Answers with an estimate.
///
/// # Errors
/// When the client is gone.
pub async fn answer(session: &mut Session, exchange: &mut Exchange) -> Result<()> {
    let model = exchange.attempts.first().map(|target| target.upstream_model.clone()).unwrap_or_else(|| "".into());
    let request = exchange.body.clone();
    // A long request takes long to count; others are served on this thread meanwhile.
    let count = tokio::task::spawn_blocking(move || tokens::of_request(&model, &request)).await.unwrap_or(exchange.body_length / 4);
    let value = match exchange.shape {
        Shape::GenerateContent => json!({"totalTokens": count}),
        Shape::ChatCompletions | Shape::Messages | Shape::Responses => json!({"input_tokens": count}),
    };
    let body = Bytes::from(value.to_string());
    exchange.answer.status = 200;
    exchange.answer.bytes = body.len() as u64;
    logging::settle(exchange, RequestOutcome::Complete);
    let mut head = ResponseHeader::build(StatusCode::OK, Some(6))?;
    head.insert_header(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))?;
    head.insert_header(header::CONTENT_LENGTH, HeaderValue::from(body.len()))?;
    head.insert_header(TOKEN_COUNT, HeaderValue::from_static("estimated"))?;
    exchange.identify(&mut head)?;
    rescue::respond(session, head, body).await
}
