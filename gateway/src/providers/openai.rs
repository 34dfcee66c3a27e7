//! The chat-completions vendor and the services that copy its API.

use http::{HeaderMap, HeaderName, header};
use pingora::Result;
use svc_filters::shape::Shape;

use super::request::Dispatch;
use super::transport::{Transport, pass};

/// Client headers a chat-completions provider may see.
pub(super) static PASSED: [HeaderName; 2] = [HeaderName::from_static("openai-beta"), HeaderName::from_static("idempotency-key")];

#[derive(Debug)]
pub(super) struct Openai;

impl Transport for Openai {
    fn shape(&self, _: &str) -> Shape {
        Shape::ChatCompletions
    }

    fn path(&self, base: &str, dispatch: &Dispatch<'_>) -> String {
        [base, dispatch.endpoint.chat_path().unwrap_or_default()].concat()
    }

    fn key_header(&self, key: &str) -> (HeaderName, String) {
        (header::AUTHORIZATION, format!("Bearer {key}"))
    }

    fn headers(&self, headers: &mut HeaderMap, dispatch: &Dispatch<'_>) -> Result<()> {
        pass(headers, dispatch.headers, &PASSED);
        Ok(())
    }
}
