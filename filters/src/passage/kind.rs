//! What a body is: whose fields it has and how it is cut.

/// Most bytes held back to tell an answer's framing.
const SNIFFED: usize = 64;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whose fields a body has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BodyKind {
    /// Chat completions.
    ChatCompletions,
    /// Legacy text completions.
    Completions,
    /// Responses.
    Responses,
    /// Embeddings.
    Embeddings,
    /// Image generations, edits and variations.
    Images,
    /// Speech, transcriptions and translations.
    Audio,
    /// Moderations.
    Moderations,
    /// Messages.
    Messages,
    /// Token counting of messages.
    CountTokens,
    /// Every verb of generate content.
    GenerateContent,
}

/// How an answer is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// One JSON document.
    Json,
    /// Server-sent events.
    Sse,
    /// One JSON array whose elements arrive one by one.
    JsonArray,
    /// Bytes that are not looked at.
    Opaque,
    /// Told by the first bytes, for want of a content type.
    Unknown,
}

/// What an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassageKind {
    /// Whose fields it has.
    pub body: BodyKind,
    /// How it is cut.
    pub framing: Framing,
}

impl PassageKind {
    /// The kind of an answer with `content_type`; `streamed` tells whether a stream was asked for.
    #[must_use]
    pub fn of(body: BodyKind, content_type: Option<&str>, streamed: bool) -> Self {
        let framing = match content_type.map(essence) {
            None | Some("") => Framing::Unknown,
            Some(kind) if kind.eq_ignore_ascii_case("text/event-stream") => Framing::Sse,
            Some(kind) if is_json(kind) && streamed && body == BodyKind::GenerateContent => Framing::JsonArray,
            Some(kind) if is_json(kind) => Framing::Json,
            Some(_) => Framing::Opaque,
        };
        Self { body, framing }
    }

    /// The framing the first bytes tell; none when more are needed.
    pub(crate) fn sniffed(self, bytes: &[u8], end: bool) -> Option<Framing> {
        // However much comes at once, the same bytes decide.
        let bytes = bytes.get(..SNIFFED).unwrap_or(bytes);
        if !end && BYTE_ORDER_MARK.starts_with(bytes) {
            return None;
        }
        let start = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes).trim_ascii_start();
        let fields = [&b"data:"[..], b"event:", b"id:", b"retry:", b":"];
        match start.first() {
            Some(b'{') => Some(Framing::Json),
            Some(b'[') if self.body == BodyKind::GenerateContent => Some(Framing::JsonArray),
            Some(b'[') => Some(Framing::Json),
            _ if fields.iter().any(|field| start.starts_with(field)) => Some(Framing::Sse),
            _ if !end && bytes.len() < SNIFFED && fields.iter().any(|field| field.starts_with(start)) => None,
            _ => Some(Framing::Opaque),
        }
    }
}

fn essence(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}

fn is_json(essence: &str) -> bool {
    let ends = |suffix: &str| {
        essence.len().checked_sub(suffix.len()).and_then(|at| essence.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(suffix))
    };
    ends("/json") || ends("+json")
}
