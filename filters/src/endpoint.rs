//! Which endpoint a method and path name, and the shape its caller speaks.
//!
//! Paths are compared as received: nothing is normalised or redirected, so the path that was authorised is the path that
//! was dispatched.

use std::borrow::Cow;

use crate::passage::BodyKind;
use crate::shape::Shape;

/// An endpoint of the data plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// `POST /v1/chat/completions`
    ChatCompletions,
    /// `POST /v1/completions`
    Completions,
    /// `POST /v1/responses`
    Responses,
    /// `POST /v1/embeddings`
    Embeddings,
    /// `POST /v1/images/generations`
    ImagesGenerations,
    /// `POST /v1/images/edits`
    ImagesEdits,
    /// `POST /v1/images/variations`
    ImagesVariations,
    /// `POST /v1/audio/speech`
    AudioSpeech,
    /// `POST /v1/audio/transcriptions`
    AudioTranscriptions,
    /// `POST /v1/audio/translations`
    AudioTranslations,
    /// `POST /v1/moderations`
    Moderations,
    /// `POST /v1/messages`
    Messages,
    /// `POST /v1/messages/count_tokens`
    MessagesCountTokens,
    /// `POST /<version>/models/<model>:generateContent`
    GenerateContent,
    /// `POST /<version>/models/<model>:streamGenerateContent`
    StreamGenerateContent,
    /// `POST /<version>/models/<model>:countTokens`
    GenerateCountTokens,
    /// `POST /<version>/models/<model>:embedContent`
    EmbedContent,
    /// `POST /<version>/models/<model>:batchEmbedContents`
    BatchEmbedContents,
    /// `GET /<version>/models`
    ListModels,
    /// `GET /<version>/models/<model>`
    GetModel,
    /// `GET /v1/translation-matrix`
    TranslationMatrix,
}

/// Paths of the chat-completions vendor under `/v1`.
const CHAT_PATHS: [(&str, Endpoint); 11] = [
    ("/chat/completions", Endpoint::ChatCompletions),
    ("/completions", Endpoint::Completions),
    ("/responses", Endpoint::Responses),
    ("/embeddings", Endpoint::Embeddings),
    ("/images/generations", Endpoint::ImagesGenerations),
    ("/images/edits", Endpoint::ImagesEdits),
    ("/images/variations", Endpoint::ImagesVariations),
    ("/audio/speech", Endpoint::AudioSpeech),
    ("/audio/transcriptions", Endpoint::AudioTranscriptions),
    ("/audio/translations", Endpoint::AudioTranslations),
    ("/moderations", Endpoint::Moderations),
];

/// Verbs of the generate-content vendor, as they follow the colon.
const VERBS: [(&str, Endpoint); 5] = [
    ("generateContent", Endpoint::GenerateContent),
    ("streamGenerateContent", Endpoint::StreamGenerateContent),
    ("countTokens", Endpoint::GenerateCountTokens),
    ("embedContent", Endpoint::EmbedContent),
    ("batchEmbedContents", Endpoint::BatchEmbedContents),
];

/// Versions under which the generate-content paths are served.
const GENERATE_VERSIONS: [&str; 3] = ["/v1beta", "/v1alpha", "/v1"];

/// Versions under which the paths of the generate-content vendor's cloud are served.
const CLOUD_VERSIONS: [&str; 3] = ["/v1beta1", "/v1beta", "/v1"];

impl Endpoint {
    /// Those whose requests go to a model.
    pub const ROUTED: [Self; 18] = [
        Self::ChatCompletions,
        Self::Completions,
        Self::Responses,
        Self::Embeddings,
        Self::ImagesGenerations,
        Self::ImagesEdits,
        Self::ImagesVariations,
        Self::AudioSpeech,
        Self::AudioTranscriptions,
        Self::AudioTranslations,
        Self::Moderations,
        Self::Messages,
        Self::MessagesCountTokens,
        Self::GenerateContent,
        Self::StreamGenerateContent,
        Self::GenerateCountTokens,
        Self::EmbedContent,
        Self::BatchEmbedContents,
    ];

    /// The endpoint of a name, among those whose requests go to a model.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ROUTED.into_iter().find(|endpoint| endpoint.as_str() == name)
    }

    /// The name used in the request log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ChatCompletions => "chat_completions",
            Self::Completions => "completions",
            Self::Responses => "responses",
            Self::Embeddings => "embeddings",
            Self::ImagesGenerations => "images_generations",
            Self::ImagesEdits => "images_edits",
            Self::ImagesVariations => "images_variations",
            Self::AudioSpeech => "audio_speech",
            Self::AudioTranscriptions => "audio_transcriptions",
            Self::AudioTranslations => "audio_translations",
            Self::Moderations => "moderations",
            Self::Messages => "messages",
            Self::MessagesCountTokens => "count_tokens",
            Self::GenerateContent => "generate_content",
            Self::StreamGenerateContent => "stream_generate_content",
            Self::GenerateCountTokens => "generate_count_tokens",
            Self::EmbedContent => "embed_content",
            Self::BatchEmbedContents => "batch_embed_contents",
            Self::ListModels => "list_models",
            Self::GetModel => "get_model",
            Self::TranslationMatrix => "translation_matrix",
        }
    }

    /// The shape of the endpoint's answers and errors. Discovery is decided by header, see [`discovery_shape`].
    #[must_use]
    pub const fn shape(self) -> Shape {
        match self {
            Self::Messages | Self::MessagesCountTokens => Shape::Messages,
            Self::GenerateContent
            | Self::StreamGenerateContent
            | Self::GenerateCountTokens
            | Self::EmbedContent
            | Self::BatchEmbedContents => Shape::GenerateContent,
            Self::ChatCompletions
            | Self::Completions
            | Self::Embeddings
            | Self::ImagesGenerations
            | Self::ImagesEdits
            | Self::ImagesVariations
            | Self::AudioSpeech
            | Self::AudioTranscriptions
            | Self::AudioTranslations
            | Self::Moderations
            | Self::ListModels
            | Self::GetModel
            | Self::TranslationMatrix => Shape::ChatCompletions,
            Self::Responses => Shape::Responses,
        }
    }

    /// Whose fields its bodies have.
    #[must_use]
    pub const fn body_kind(self) -> BodyKind {
        match self {
            Self::ChatCompletions => BodyKind::ChatCompletions,
            Self::Completions => BodyKind::Completions,
            Self::Responses => BodyKind::Responses,
            Self::Embeddings => BodyKind::Embeddings,
            Self::ImagesGenerations | Self::ImagesEdits | Self::ImagesVariations => BodyKind::Images,
            Self::AudioSpeech | Self::AudioTranscriptions | Self::AudioTranslations => BodyKind::Audio,
            Self::Moderations => BodyKind::Moderations,
            Self::Messages => BodyKind::Messages,
            Self::MessagesCountTokens => BodyKind::CountTokens,
            Self::GenerateContent
            | Self::StreamGenerateContent
            | Self::GenerateCountTokens
            | Self::EmbedContent
            | Self::BatchEmbedContents
            | Self::ListModels
            | Self::GetModel
            | Self::TranslationMatrix => BodyKind::GenerateContent,
        }
    }

    /// Whether its requests can be translated to other shapes.
    #[must_use]
    pub const fn translates(self) -> bool {
        matches!(self, Self::ChatCompletions | Self::Messages | Self::Responses | Self::GenerateContent | Self::StreamGenerateContent)
    }

    /// Whether it counts the tokens of a request.
    #[must_use]
    pub const fn counts(self) -> bool {
        matches!(self, Self::MessagesCountTokens | Self::GenerateCountTokens)
    }

    /// The endpoint a provider of a shape is asked at.
    #[must_use]
    pub const fn of_shape(shape: Shape, stream: bool) -> Self {
        match (shape, stream) {
            (Shape::ChatCompletions, _) => Self::ChatCompletions,
            (Shape::Messages, _) => Self::Messages,
            (Shape::Responses, _) => Self::Responses,
            (Shape::GenerateContent, false) => Self::GenerateContent,
            (Shape::GenerateContent, true) => Self::StreamGenerateContent,
        }
    }

    /// The path below a chat-completions provider's base URL, for endpoints of that vendor.
    #[must_use]
    pub fn chat_path(self) -> Option<&'static str> {
        CHAT_PATHS.iter().find(|(_, endpoint)| *endpoint == self).map(|(path, _)| *path)
    }

    /// The verb after the colon, for endpoints of the generate-content vendor.
    #[must_use]
    pub fn verb(self) -> Option<&'static str> {
        VERBS.iter().find(|(_, endpoint)| *endpoint == self).map(|(verb, _)| *verb)
    }
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route<'a> {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Shape of answers and errors.
    pub shape: Shape,
    /// The model named in the path, percent-decoded and without a leading `models/`.
    pub path_model: Option<Cow<'a, str>>,
}

/// Why a method and path lead nowhere. The shape is that of the error's body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteError {
    /// No endpoint has this path.
    UnknownPath(Shape),
    /// The endpoint exists under another method, named here.
    WrongMethod(Shape, &'static str),
    /// The model segment of the path cannot be a model name.
    InvalidModel(Shape),
    /// The endpoint is known and not served; the sentence says where to turn instead.
    NotServed(Shape, &'static str),
}

/// Finds the endpoint for a method and a path without its query.
///
/// # Errors
/// When no endpoint has the path, the method is another one, or the path's model segment is malformed.
pub fn route<'a>(method: &str, path: &'a str) -> Result<Route<'a>, RouteError> {
    if let Some(rest) = path.strip_prefix("/v1/messages") {
        return match rest {
            "" => posted(method, Endpoint::Messages),
            "/count_tokens" => posted(method, Endpoint::MessagesCountTokens),
            _ => Err(RouteError::UnknownPath(Shape::Messages)),
        };
    }
    if path == "/v1/translation-matrix" {
        expect_method(method, "GET", Shape::ChatCompletions)?;
        return Ok(Route { endpoint: Endpoint::TranslationMatrix, shape: Shape::ChatCompletions, path_model: None });
    }
    if let Some(found) = path.strip_prefix("/v1").and_then(|rest| CHAT_PATHS.iter().find(|(suffix, _)| *suffix == rest)) {
        return posted(method, found.1);
    }
    for version in CLOUD_VERSIONS {
        if let Some(rest) = path.strip_prefix(version)
            && (rest.starts_with("/projects/") || rest.starts_with("/publishers/"))
        {
            return cloud(method, rest);
        }
    }
    for version in GENERATE_VERSIONS {
        if let Some(rest) = path.strip_prefix(version).and_then(|rest| rest.strip_prefix("/models")) {
            return models(method, rest, if version == "/v1" { Shape::ChatCompletions } else { Shape::GenerateContent });
        }
    }
    let generate = path.starts_with("/v1beta/") || path.starts_with("/v1alpha/");
    Err(RouteError::UnknownPath(if generate { Shape::GenerateContent } else { Shape::ChatCompletions }))
}

/// The shape of a model list, from the headers that tell the vendors' SDKs apart: the messages vendor's version header wins,
/// then the generate-content vendor's key or client header, then the shape of the path.
#[must_use]
pub fn discovery_shape(path_shape: Shape, headers: &http::HeaderMap) -> Shape {
    if headers.contains_key("anthropic-version") {
        Shape::Messages
    } else if headers.contains_key("x-goog-api-key") || headers.contains_key("x-goog-api-client") {
        Shape::GenerateContent
    } else {
        path_shape
    }
}

fn posted<'a>(method: &str, endpoint: Endpoint) -> Result<Route<'a>, RouteError> {
    expect_method(method, "POST", endpoint.shape())?;
    Ok(Route { endpoint, shape: endpoint.shape(), path_model: None })
}

fn models<'a>(method: &str, rest: &'a str, shape: Shape) -> Result<Route<'a>, RouteError> {
    if rest.is_empty() {
        expect_method(method, "GET", shape)?;
        return Ok(Route { endpoint: Endpoint::ListModels, shape, path_model: None });
    }
    let Some(segment) = rest.strip_prefix('/') else { return Err(RouteError::UnknownPath(shape)) };
    let verb = segment.rsplit_once(':').and_then(|(model, verb)| Some((model, VERBS.iter().find(|(name, _)| *name == verb)?.1)));
    if let Some((model, endpoint)) = verb {
        expect_method(method, "POST", Shape::GenerateContent)?;
        let path_model = Some(model_name(model, Shape::GenerateContent)?);
        return Ok(Route { endpoint, shape: Shape::GenerateContent, path_model });
    }
    if method == "POST" && segment.contains(':') {
        return Err(RouteError::UnknownPath(Shape::GenerateContent));
    }
    expect_method(method, "GET", shape)?;
    Ok(Route { endpoint: Endpoint::GetModel, shape, path_model: Some(model_name(segment, shape)?) })
}

/// A path of the vendor's cloud below its version. Project and location are not looked at: the provider's own decide.
fn cloud<'a>(method: &str, path: &'a str) -> Result<Route<'a>, RouteError> {
    let unknown = RouteError::UnknownPath(Shape::GenerateContent);
    let place = path.strip_prefix("/projects/").map(|rest| {
        let (_, rest) = rest.split_once('/')?;
        let (_, rest) = rest.strip_prefix("locations/")?.split_once('/')?;
        Some(rest)
    });
    let rest = match place {
        Some(rest) => rest.ok_or(unknown.clone())?,
        None => path.trim_start_matches('/'),
    };
    let (publisher, segment) = match rest.strip_prefix("endpoints/") {
        Some(segment) => ("google", segment),
        None => rest.strip_prefix("publishers/").and_then(|rest| rest.split_once("/models/")).ok_or(unknown.clone())?,
    };
    let (model, verb) = segment.rsplit_once(':').ok_or(unknown.clone())?;
    match (publisher, verb) {
        ("anthropic", "rawPredict" | "streamRawPredict") => Err(RouteError::NotServed(
            Shape::Messages,
            "The cloud's form of the messages shape is not served; send the request to /v1/messages.",
        )),
        ("google", _) => {
            let (_, endpoint) = VERBS.iter().find(|(name, _)| *name == verb).ok_or(unknown)?;
            expect_method(method, "POST", Shape::GenerateContent)?;
            let path_model = Some(model_name(model, Shape::GenerateContent)?);
            Ok(Route { endpoint: *endpoint, shape: Shape::GenerateContent, path_model })
        }
        _ => Err(unknown),
    }
}

fn expect_method(method: &str, expected: &'static str, shape: Shape) -> Result<(), RouteError> {
    if method == expected { Ok(()) } else { Err(RouteError::WrongMethod(shape, expected)) }
}

/// Decodes the model segment of a path. Names that could step out of the segment once placed in an upstream URL are refused.
fn model_name(segment: &str, shape: Shape) -> Result<Cow<'_, str>, RouteError> {
    let decoded = percent_decode(segment).ok_or(RouteError::InvalidModel(shape))?;
    let name = match decoded {
        Cow::Borrowed(text) => Cow::Borrowed(text.strip_prefix("models/").unwrap_or(text)),
        Cow::Owned(text) => Cow::Owned(text.strip_prefix("models/").map(str::to_owned).unwrap_or(text)),
    };
    let safe = !name.is_empty()
        && name.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
        && !name.chars().any(|c| c.is_control() || matches!(c, '?' | '#' | '%' | '\\'));
    if safe { Ok(name) } else { Err(RouteError::InvalidModel(shape)) }
}

fn percent_decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        if first == b'%' {
            let (digits, after) = tail.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = after;
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests;
