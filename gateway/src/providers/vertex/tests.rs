use bytes::Bytes;
use http::HeaderMap;
use svc_filters::wire::pieces::Pieces;

use super::*;

fn vertex() -> Vertex {
    Vertex::new(Some(Place { project: "acme".to_owned(), location: "europe-west4".to_owned(), user_project: None }))
}

fn path(vertex: &Vertex, base: &str, endpoint: Endpoint, model: &str, query: Option<&str>) -> String {
    let headers = HeaderMap::new();
    let stream = query.is_some();
    vertex.path(base, &Dispatch { endpoint, model, stream, headers: &headers, query, body: &Pieces::default(), authorisation: None })
}

#[test]
fn models_lie_under_the_configured_place() {
    let place = "/v1/projects/acme/locations/europe-west4";
    for (endpoint, model, query, expected) in [
        (Endpoint::GenerateContent, "gemini-2.5-pro", None, "/publishers/google/models/gemini-2.5-pro:generateContent"),
        (
            Endpoint::StreamGenerateContent,
            "gemini-2.5-pro",
            Some("alt=sse"),
            "/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
        ),
        (Endpoint::GenerateCountTokens, "google/gemini-2.5-pro", None, "/publishers/google/models/gemini-2.5-pro:countTokens"),
        (Endpoint::GenerateContent, "1234567890", None, "/endpoints/1234567890:generateContent"),
        (Endpoint::Messages, "claude-sonnet-4-5@20250929", None, "/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict"),
        (Endpoint::Messages, "anthropic/claude-opus-4-1", Some(""), "/publishers/anthropic/models/claude-opus-4-1:streamRawPredict"),
        (Endpoint::MessagesCountTokens, "claude-opus-4-1", None, "/publishers/anthropic/models/count-tokens:rawPredict"),
    ] {
        assert_eq!(path(&vertex(), "", endpoint, model, query), format!("{place}{expected}"));
    }
    let beta = path(&vertex(), "/v1beta1", Endpoint::GenerateContent, "g", None);
    assert_eq!(beta, "/v1beta1/projects/acme/locations/europe-west4/publishers/google/models/g:generateContent");
    let keyed = path(&Vertex::new(None), "", Endpoint::GenerateContent, "g", None);
    assert_eq!(keyed, "/v1/publishers/google/models/g:generateContent", "a key tells its project");
}

#[test]
fn the_shape_follows_the_model() {
    assert_eq!(vertex().shape("claude-sonnet-4-5@20250929"), Shape::Messages);
    assert_eq!(vertex().shape("gemini-2.5-flash"), Shape::GenerateContent);
    assert_eq!(vertex().shape("my-claude-like-tune"), Shape::GenerateContent);
}

fn prepared(endpoint: Endpoint, model: &str, body: &'static str) -> Result<Prepared, Rejection> {
    let (headers, body) = (HeaderMap::new(), Pieces::from(Bytes::from_static(body.as_bytes())));
    vertex().prepare(&Draft { endpoint, model, stream: true, headers: &headers, body: &body })
}

#[test]
fn the_messages_vendors_models_get_their_body_edited() {
    let edited = prepared(
        Endpoint::Messages,
        "claude-sonnet-4-5@20250929",
        r#"{"model":"claude-sonnet-4-5@20250929","stream":true,"speed":"fast","messages":[]}"#,
    );
    let edited = edited.unwrap();
    assert_eq!(&edited.body.whole()[..], br#"{"anthropic_version":"vertex-2023-10-16","stream":true,"messages":[]}"#);
    assert_eq!(edited.omitted, ["speed"]);
    let counted = prepared(Endpoint::MessagesCountTokens, "anthropic/claude-opus-4-1", r#"{"model":"x","messages":[]}"#).unwrap();
    assert_eq!(&counted.body.whole()[..], br#"{"anthropic_version":"vertex-2023-10-16","model":"claude-opus-4-1","messages":[]}"#);
}

#[test]
fn the_vendors_own_models_get_theirs_as_it_is() {
    let body = r#"{ "contents" : [] , "unknown":1e400}"#;
    assert_eq!(&prepared(Endpoint::GenerateContent, "gemini-2.5-pro", body).unwrap().body.whole()[..], body.as_bytes());
}

#[test]
fn what_has_no_counterpart_is_refused() {
    for (endpoint, model) in
        [(Endpoint::BatchEmbedContents, "gemini-embedding-001"), (Endpoint::Embeddings, "g"), (Endpoint::Responses, "claude-x")]
    {
        assert_eq!(prepared(endpoint, model, "{}").unwrap_err().code, Code::UnsupportedTranslation);
    }
    let (headers, body) = (HeaderMap::new(), Pieces::from(Bytes::from_static(b"{}")));
    let draft = Draft { endpoint: Endpoint::Messages, model: "claude-x", stream: false, headers: &headers, body: &body };
    assert!(Vertex::new(None).prepare(&draft).is_err(), "a key has no place for these models");
}
