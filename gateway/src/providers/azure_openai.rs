//! The chat-completions vendor's models on Azure: deployments named in the path, or the newer form that looks like the vendor's.

mod entra;
mod stream;

pub(super) use entra::Entra;
pub(super) use stream::Chunks;

use http::{HeaderMap, HeaderName, header};
use pingora::Result;
use pingora::http::ResponseHeader;
use svc_filters::endpoint::Endpoint;
use svc_filters::shape::Shape;

use super::answer::Unwrapping;
use super::openai::PASSED;
use super::request::Dispatch;
use super::transport::{Transport, encoded, pass};

const API_KEY: HeaderName = HeaderName::from_static("api-key");
/// The newest version of the deployments form that is not a preview.
const DEFAULT_VERSION: &str = "2024-10-21";
/// The first version of the deployments form whose streams tell usage when asked.
const STREAM_OPTIONS_SINCE: &str = "2024-09-01";

#[derive(Debug)]
pub(super) struct AzureOpenai {
    version: Option<String>,
    v1: bool,
}

impl AzureOpenai {
    /// The form follows the base path: one that ends in `/openai/v1` speaks the newer one.
    pub(super) fn new(base_path: &str, version: Option<String>) -> Self {
        Self { version, v1: base_path.ends_with("/openai/v1") }
    }

    /// The query of the newer form, which needs a version for previews only.
    fn v1_query(&self) -> String {
        self.version.as_ref().map_or_else(String::new, |version| format!("?api-version={}", encoded(version, b"")))
    }
}

impl Transport for AzureOpenai {
    fn shape(&self, _: &str) -> Shape {
        Shape::ChatCompletions
    }

    fn path(&self, base: &str, dispatch: &Dispatch<'_>) -> String {
        let operation = dispatch.endpoint.chat_path().unwrap_or_default();
        if self.v1 {
            return format!("{base}{operation}{}", self.v1_query());
        }
        let base = base.strip_suffix("/openai").unwrap_or(base);
        if dispatch.endpoint == Endpoint::Responses {
            // The deployments form never had it; every resource serves the newer form beside it.
            return format!("{base}/openai/v1{operation}");
        }
        let version = self.version.as_deref().unwrap_or(DEFAULT_VERSION);
        format!("{base}/openai/deployments/{}{operation}?api-version={}", encoded(dispatch.model, b""), encoded(version, b""))
    }

    fn key_header(&self, key: &str) -> (HeaderName, String) {
        (API_KEY, key.to_owned())
    }

    fn headers(&self, headers: &mut HeaderMap, dispatch: &Dispatch<'_>) -> Result<()> {
        pass(headers, dispatch.headers, &PASSED);
        Ok(())
    }

    fn unwrapping(&self, endpoint: Endpoint, head: &mut ResponseHeader) -> Result<Option<Unwrapping>> {
        let content_type = head.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if endpoint != Endpoint::ChatCompletions || !head.status.is_success() || !content_type.starts_with("text/event-stream") {
            return Ok(None);
        }
        head.remove_header(&header::CONTENT_LENGTH);
        Ok(Some(Unwrapping::chunks(Chunks::default())))
    }

    fn takes_stream_options(&self) -> bool {
        self.v1 || self.version.as_deref().is_none_or(|version| version >= STREAM_OPTIONS_SINCE)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use svc_filters::wire::pieces::Pieces;

    use super::*;

    fn path(base: &str, version: Option<&str>, endpoint: Endpoint) -> String {
        let headers = HeaderMap::new();
        let dispatch = Dispatch {
            endpoint,
            model: "my deployment",
            stream: false,
            headers: &headers,
            query: None,
            body: &Pieces::default(),
            authorisation: None,
        };
        AzureOpenai::new(base, version.map(str::to_owned)).path(base, &dispatch)
    }

    #[test]
    fn deployments_are_named_in_the_path_with_a_version() {
        for (base, version, endpoint, expected) in [
            ("", None, Endpoint::ChatCompletions, "/openai/deployments/my%20deployment/chat/completions?api-version=2024-10-21"),
            (
                "/openai",
                Some("2025-01-01-preview"),
                Endpoint::Embeddings,
                "/openai/deployments/my%20deployment/embeddings?api-version=2025-01-01-preview",
            ),
            ("", None, Endpoint::AudioTranscriptions, "/openai/deployments/my%20deployment/audio/transcriptions?api-version=2024-10-21"),
            ("", Some("2024-10-21"), Endpoint::Responses, "/openai/v1/responses"),
        ] {
            assert_eq!(path(base, version, endpoint), expected);
        }
    }

    #[test]
    fn the_newer_form_looks_like_the_vendors_own() {
        assert_eq!(path("/openai/v1", None, Endpoint::ChatCompletions), "/openai/v1/chat/completions");
        assert_eq!(path("/gate/openai/v1", None, Endpoint::Responses), "/gate/openai/v1/responses");
        assert_eq!(path("/openai/v1", Some("preview"), Endpoint::ImagesGenerations), "/openai/v1/images/generations?api-version=preview");
    }

    #[test]
    fn old_versions_are_not_asked_for_usage() {
        let takes = |base: &str, version: Option<&str>| AzureOpenai::new(base, version.map(str::to_owned)).takes_stream_options();
        assert!(takes("", None) && takes("", Some("2024-10-21")) && takes("/openai/v1", Some("preview")));
        assert!(!takes("", Some("2024-02-01")));
    }
}
