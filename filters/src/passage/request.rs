//! What a request says about itself, and the upstream's model name written into it.

mod json_facts;
mod metadata;
mod traces;

use std::borrow::Cow;

use bytes::Bytes;
use thiserror::Error;

use self::json_facts::Reading;
pub use self::traces::Traces;
use super::BodyKind;
use super::multipart::{self, MultipartError, Part};
use crate::wire::json::{Edit, Fault, Kind, Span, decode_string, encode_string, members, scan};
use crate::wire::pieces::Pieces;

/// What routing, limits and logs need to know about a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The model named in the body, decoded.
    pub model: Option<String>,
    /// The client asks for a stream.
    pub stream: bool,
    /// The client asks for usage at the end of the stream.
    pub asks_usage: bool,
    /// The end user the client names.
    pub end_user: Option<String>,
    /// The output limit, in tokens.
    pub max_output: Option<u64>,
    /// Tools are offered to the model.
    pub has_tools: bool,
    /// Pictures, or for generate content any file, are part of the input.
    pub has_images: bool,
    /// Signs of what models said before; none where the body is a form.
    pub traces: Traces,
    pub(in crate::passage) places: Places,
}

/// Where the editable parts of a request lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::passage) struct Places {
    /// The body is a form, with these texts; otherwise it is JSON.
    form: Option<Vec<Span>>,
    /// Names may be resource names, whose path stays.
    resources: bool,
    /// The values that name the model.
    models: Vec<Span>,
    /// The object of metadata; empty where there is none.
    metadata: Span,
    usage: UsageRequest,
}

/// How usage can be asked of the upstream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::passage) enum UsageRequest {
    /// Not at all, or it is asked already.
    #[default]
    Settled,
    /// By a new member at this offset.
    Insert(usize),
    /// By a value in place of this null.
    Replace(Span),
    /// By a member of the options object that ends here, which is empty or not.
    Member { at: usize, empty: bool },
    /// By turning these values.
    Turn(Vec<Span>),
}

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FactsError {
    /// The body is not the JSON it should be.
    #[error("read the request body: {0}")]
    Json(#[from] Fault),
    /// The body is not the form it should be.
    #[error("read the request body: {0}")]
    Multipart(#[from] MultipartError),
    /// A form where only JSON is understood.
    #[error("read the request body: expected JSON, not a form")]
    UnexpectedForm,
    /// A member of the wrong type.
    #[error("read `{field}`: expected {expected}")]
    WrongType {
        /// The member.
        field: &'static str,
        /// What it should be.
        expected: &'static str,
    },
}

impl Facts {
    /// Where the texts that a model reads lie in a form: the whole of each. `None` where the body is JSON.
    #[must_use]
    pub fn form_texts(&self) -> Option<&[Span]> {
        self.places.form.as_deref()
    }

    /// Reads `body`, which is a form if `content_type` says so and the endpoint takes forms, and otherwise JSON.
    ///
    /// # Errors
    /// When the body is malformed or says what it means in an ambiguous way.
    pub fn read(kind: BodyKind, content_type: Option<&str>, body: &Bytes, max_depth: usize) -> Result<Self, FactsError> {
        match content_type.and_then(multipart::boundary) {
            None => {
                let mut traces = Traces::default();
                let document = scan(body, max_depth, |written| traces.note(written))?;
                Ok(Self { traces, ..Reading::new(kind, body).read(&document)? })
            }
            Some(boundary) if matches!(kind, BodyKind::Audio | BodyKind::Images) => Self::read_form(body, boundary?),
            Some(_) => Err(FactsError::UnexpectedForm),
        }
    }

    fn read_form(body: &[u8], boundary: &str) -> Result<Self, FactsError> {
        let mut facts = Self::default();
        let mut stream = None;
        let mut texts = Vec::new();
        for part in multipart::parts(body, boundary)? {
            match part.name {
                "model" => {
                    facts.places.models.push(part.content);
                    once(&mut facts.model, text_of(body, &part, "model")?.to_owned(), "model")?;
                }
                "stream" => once(&mut stream, text_of(body, &part, "stream")?, "stream")?,
                "user" => once(&mut facts.end_user, text_of(body, &part, "user")?.to_owned(), "user")?,
                "_charset_" if part.text(body).is_none_or(|charset| !multipart::names_utf8(charset)) => {
                    return Err(MultipartError::Charset.into());
                }
                name => match name.split('[').next().and_then(prompt) {
                    Some(prompt) => {
                        part.text(body).ok_or(MultipartError::NotText(prompt))?;
                        texts.push(part.content);
                    }
                    None => facts.has_images |= name == "image" || name.starts_with("image["),
                },
            }
        }
        facts.stream = stream.map_or(Ok(false), flag)?;
        facts.places.form = Some(texts);
        Ok(facts)
    }

    /// `body` with the model replaced by `upstream_model` and, when `ask_for_usage` and the body can ask for it, with usage
    /// asked for. Every other byte stays.
    #[must_use]
    pub fn rewrite(&self, body: &Bytes, upstream_model: &str, ask_for_usage: bool) -> Pieces {
        let mut edits = Vec::new();
        for span in &self.places.models {
            let old = span.of(body);
            if let Some(with) = self.renamed(old, upstream_model) {
                edits.push(Edit::replace(*span, with));
            }
        }
        if ask_for_usage {
            self.places.usage.edit(&mut edits);
        }
        Pieces::spliced(body, &mut edits)
    }

    /// What takes the place of the model value `old`; none when it says the same. A resource path before the name stays.
    fn renamed(&self, old: &[u8], model: &str) -> Option<Vec<u8>> {
        let name = if self.places.form.is_some() { String::from_utf8_lossy(old) } else { decode_string(old) };
        let prefix = match name.rfind("models/") {
            Some(at) if self.places.resources && !model.contains("models/") && is_resource(&name, at) => {
                name.get(..at + "models/".len()).unwrap_or_default()
            }
            _ => "",
        };
        if name.strip_prefix(prefix) == Some(model) {
            return None;
        }
        let new = if prefix.is_empty() { Cow::Borrowed(model) } else { Cow::Owned(format!("{prefix}{model}")) };
        if self.places.form.is_some() {
            return Some(new.into_owned().into_bytes());
        }
        let mut encoded = Vec::with_capacity(new.len() + 2);
        encode_string(&new, &mut encoded);
        Some(encoded)
    }
}

/// Whether the `models/` at `at` is that of a generate-content resource name.
fn is_resource(name: &str, at: usize) -> bool {
    at == 0 || name.starts_with("publishers/") || name.starts_with("projects/")
}

impl UsageRequest {
    fn edit(&self, edits: &mut Vec<Edit<'_>>) {
        match self {
            Self::Settled => {}
            Self::Insert(at) => edits.push(Edit::insert(*at, &br#","stream_options":{"include_usage":true}"#[..])),
            Self::Replace(span) => edits.push(Edit::replace(*span, &br#"{"include_usage":true}"#[..])),
            Self::Member { at, empty: true } => edits.push(Edit::insert(*at, &br#""include_usage":true"#[..])),
            Self::Member { at, empty: false } => edits.push(Edit::insert(*at, &br#","include_usage":true"#[..])),
            Self::Turn(spans) => edits.extend(spans.iter().map(|span| Edit::replace(*span, &b"true"[..]))),
        }
    }

    /// How the value `options` of `stream_options` can be made to ask; whether it asks already.
    fn of_options(options: &[u8], span: Span, kind: Kind) -> (Self, bool) {
        if kind != Kind::Object {
            return (if kind == Kind::Null { Self::Replace(span) } else { Self::Settled }, false);
        }
        let mut end = None;
        let mut asked = None;
        let mut turned = Vec::new();
        for member in members(options) {
            end = Some(span.start + member.span.end);
            if member.is("include_usage") {
                asked = member.as_bool();
                if member.value() != b"true" {
                    turned.push(member.span.shifted(span.start));
                }
            }
        }
        let request = match (end, asked, turned.is_empty()) {
            (_, _, false) => Self::Turn(turned),
            (_, Some(true), true) => Self::Settled,
            (Some(at), _, true) => Self::Member { at, empty: false },
            (None, _, true) => Self::Member { at: span.start + 1, empty: true },
        };
        (request, asked == Some(true))
    }
}

/// The field whose value a model reads, if `name` is that of one.
fn prompt(name: &str) -> Option<&'static str> {
    ["prompt", "input", "instructions"].into_iter().find(|prompt| *prompt == name)
}

fn text_of<'a>(body: &'a [u8], part: &Part<'_>, name: &'static str) -> Result<&'a str, MultipartError> {
    part.text(body).filter(|text| !text.chars().any(char::is_control)).ok_or(MultipartError::NotText(name))
}

fn once<T>(slot: &mut Option<T>, value: T, name: &'static str) -> Result<(), MultipartError> {
    if slot.replace(value).is_some() { Err(MultipartError::Duplicate(name)) } else { Ok(()) }
}

fn flag(text: &str) -> Result<bool, FactsError> {
    match text.trim() {
        "true" | "True" | "TRUE" | "1" => Ok(true),
        "false" | "False" | "FALSE" | "0" | "" => Ok(false),
        _ => Err(FactsError::WrongType { field: "stream", expected: "a boolean" }),
    }
}

#[cfg(test)]
mod tests;
