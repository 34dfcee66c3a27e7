//! The facts of a JSON request.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::{Facts, FactsError, UsageRequest};
use crate::passage::BodyKind;
use crate::wire::json::{Document, Kind, Member, Span, elements, members};

static IMAGE_URL: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"image_url\""));
static INPUT_IMAGE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"input_image\""));
static IMAGE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"image\""));
static GENERATE_FILES: LazyLock<[Finder<'static>; 4]> =
    LazyLock::new(|| [&b"\"inlineData\""[..], b"\"fileData\"", b"\"inline_data\"", b"\"file_data\""].map(Finder::new));

/// Reads the members of one request.
pub(super) struct Reading<'b> {
    kind: BodyKind,
    body: &'b [u8],
    facts: Facts,
    fallback_user: Option<String>,
    fallback_limit: Option<u64>,
    asked_usage: Option<UsageRequest>,
}

impl<'b> Reading<'b> {
    pub(super) fn new(kind: BodyKind, body: &'b [u8]) -> Self {
        Self { kind, body, facts: Facts::default(), fallback_user: None, fallback_limit: None, asked_usage: None }
    }

    pub(super) fn read(mut self, document: &Document<'_>) -> Result<Facts, FactsError> {
        for member in document.members() {
            self.member(member)?;
        }
        let mut facts = self.facts;
        facts.places.resources = self.kind == BodyKind::GenerateContent;
        facts.end_user = facts.end_user.or(self.fallback_user);
        facts.max_output = facts.max_output.or(self.fallback_limit);
        if facts.stream && takes_usage(self.kind) {
            let end = document.members().last().map(|member| member.span.end);
            facts.places.usage = self.asked_usage.or(end.map(UsageRequest::Insert)).unwrap_or_default();
        }
        Ok(facts)
    }

    fn member(&mut self, member: &Member<'_>) -> Result<(), FactsError> {
        let name = member.name();
        if matches!((&*name, self.kind), (b"labels", BodyKind::GenerateContent) | (b"metadata", _)) {
            self.facts.places.metadata = member.span;
        }
        match (&*name, self.kind) {
            (b"model", _) => self.model(member)?,
            (_, BodyKind::GenerateContent) => self.generate_member(member),
            (b"stream", _) if streams(self.kind) => self.facts.stream = boolean(member, "stream")?,
            (b"stream_format", BodyKind::Audio) => self.facts.stream |= member.value() == b"\"sse\"",
            (b"stream_options", kind) if takes_usage(kind) => {
                let (request, asks) = UsageRequest::of_options(member.value(), member.span, member.kind);
                self.asked_usage = Some(request);
                self.facts.asks_usage = asks;
            }
            (b"metadata", BodyKind::Messages | BodyKind::CountTokens) => self.facts.end_user = nested_text(member, "user_id"),
            (b"user", _) => self.facts.end_user = text(member),
            (b"safety_identifier", _) => self.fallback_user = text(member),
            (b"max_completion_tokens" | b"max_output_tokens", _) => self.facts.max_output = number(member),
            (b"max_tokens", _) => self.fallback_limit = number(member),
            (b"tools" | b"functions", _) => self.facts.has_tools |= offers(member),
            (b"messages" | b"input", _) => self.facts.has_images |= self.has_images(member),
            _ => {}
        }
        Ok(())
    }

    fn generate_member(&mut self, member: &Member<'_>) {
        match &*member.name() {
            b"generationConfig" | b"generation_config" => {
                let limit = members(member.value()).find(|inner| inner.is("maxOutputTokens") || inner.is("max_output_tokens"));
                self.facts.max_output = limit.and_then(|inner| number(&inner));
            }
            b"tools" => self.facts.has_tools |= offers(member),
            b"contents" | b"content" => self.facts.has_images |= self.has_images(member),
            b"generateContentRequest" | b"generate_content_request" => self.nested_models(member.value(), member.span.start),
            b"requests" => {
                for request in elements(member.value()) {
                    self.nested_models(request.value, member.span.start + request.span.start);
                }
            }
            _ => {}
        }
    }

    /// Notes the models named by a request inside this one, so that they change along.
    fn nested_models(&mut self, request: &[u8], base: usize) {
        let named = members(request).filter(|member| member.kind == Kind::String && member.is("model"));
        self.facts.places.models.extend(named.map(|member| member.span.shifted(base)));
    }

    fn model(&mut self, member: &Member<'_>) -> Result<(), FactsError> {
        let name = text(member).ok_or(FactsError::WrongType { field: "model", expected: "a string" })?;
        self.facts.model = Some(name);
        self.facts.places.models.push(member.span);
        Ok(())
    }

    /// Whether a picture's marker occurs. Quotes inside strings are escaped, so that only whole strings match.
    fn has_images(&self, member: &Member<'_>) -> bool {
        let Span { start, end } = member.span;
        let value = self.body.get(start..end).unwrap_or_default();
        match self.kind {
            BodyKind::ChatCompletions => IMAGE_URL.find(value).is_some(),
            BodyKind::Responses => INPUT_IMAGE.find(value).is_some(),
            BodyKind::Messages | BodyKind::CountTokens => IMAGE.find(value).is_some(),
            BodyKind::GenerateContent => GENERATE_FILES.iter().any(|finder| finder.find(value).is_some()),
            _ => false,
        }
    }
}

/// Whether bodies of this kind say themselves that they want a stream.
const fn streams(kind: BodyKind) -> bool {
    !matches!(kind, BodyKind::Embeddings | BodyKind::Moderations | BodyKind::CountTokens | BodyKind::GenerateContent)
}

/// Whether streams of this kind give usage only when asked.
const fn takes_usage(kind: BodyKind) -> bool {
    matches!(kind, BodyKind::ChatCompletions | BodyKind::Completions)
}

fn boolean(member: &Member<'_>, field: &'static str) -> Result<bool, FactsError> {
    match member.kind {
        Kind::Null => Ok(false),
        _ => member.as_bool().ok_or(FactsError::WrongType { field, expected: "a boolean" }),
    }
}

fn text(member: &Member<'_>) -> Option<String> {
    member.as_str().map(std::borrow::Cow::into_owned)
}

fn nested_text(member: &Member<'_>, name: &str) -> Option<String> {
    members(member.value()).filter(|inner| inner.is(name)).last().and_then(|inner| text(&inner))
}

fn number(member: &Member<'_>) -> Option<u64> {
    std::str::from_utf8(member.value()).ok()?.parse().ok()
}

fn offers(member: &Member<'_>) -> bool {
    elements(member.value()).next().is_some()
}
