//! A client's request in the words of one target.

use std::sync::Arc;

use bytes::Bytes;
use memchr::memmem;

use super::map::{Wanted, names, wanted};
use super::{Adaptations, ClientView, Encoding, ProviderKind, Target, chat_completions, generate_content, messages, responses};
use crate::canonical::{Block, Choice, Document, Losses, Media, Refusal, Request, Source, Text, Tool, Weight};
use crate::passage::Traces;
use crate::shape::Shape;
use crate::wire::pieces::Pieces;

/// What is done about fields a target has no words for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Policy {
    /// They are left out whatever that does to the answer.
    Lossy,
    /// They are left out unless the caller would get something other than it asked for; then the request is refused.
    #[default]
    Safe,
    /// The request is refused for any of them but hints such as cache marks.
    Strict,
}

impl Policy {
    /// Reads the configuration's word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "lossy" => Some(Self::Lossy),
            "safe" => Some(Self::Safe),
            "strict" => Some(Self::Strict),
            _ => None,
        }
    }

    /// The lightest loss that is refused.
    const fn refuses(self) -> Option<Weight> {
        match self {
            Self::Lossy => None,
            Self::Safe => Some(Weight::Major),
            Self::Strict => Some(Weight::Minor),
        }
    }
}

/// A picture the gateway fetched for a target that takes no URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The URL as the client wrote it, decoded.
    pub url: String,
    /// What its bytes are, such as `image/png`.
    pub media_type: String,
    /// Standard base64.
    pub data: String,
}

/// A request ready for a target, and what its answer will need.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The body to send.
    pub body: Bytes,
    /// The dialect it is written in: `Responses` where a chat provider must be asked through that.
    pub shape: Shape,
    /// What was left out.
    pub losses: Losses,
    /// The provider is asked for a stream, as the client asked.
    pub stream: bool,
    adaptations: Adaptations,
    origin: u32,
    include_usage: bool,
    show_reasoning: bool,
}

/// What an answer needs to know of the client besides what [`Prepared`] knows.
#[derive(Clone, Debug)]
pub struct Viewer {
    /// The client's dialect.
    pub shape: Shape,
    /// The model name the client asked for.
    pub model: Arc<str>,
    /// Id of the request.
    pub request_id: Arc<str>,
    /// Unix seconds.
    pub created: i64,
    /// A generate-content stream is framed as a JSON array rather than as events.
    pub array: bool,
}

impl Prepared {
    /// What an encoder of the answer needs to know.
    pub(super) fn view(&self, viewer: Viewer) -> ClientView {
        ClientView {
            shape: viewer.shape,
            upstream: self.shape,
            origin: self.origin,
            model: viewer.model,
            request_id: viewer.request_id,
            created: viewer.created,
            include_usage: self.include_usage,
            show_reasoning: self.show_reasoning,
            array: viewer.array,
        }
    }

    pub(super) const fn adaptations(&self) -> &Adaptations {
        &self.adaptations
    }
}

/// Whether a client's own bytes can go to the target as they are. `has_tools` tells whether tools are offered, `has_images`
/// whether pictures are.
#[must_use]
pub fn passes(from: Shape, target: &Target<'_>, has_tools: bool, has_images: bool, body: &[u8]) -> bool {
    match (from, target.shape) {
        (Shape::ChatCompletions, Shape::ChatCompletions) => {
            !(has_tools && target.quirks.vendor && target.quirks.responses && target.capabilities.needs_responses)
        }
        (Shape::Responses, Shape::ChatCompletions) => target.quirks.responses,
        // The clouds' copies of the messages vendor fetch no pictures.
        (Shape::Messages, Shape::Messages) => {
            target.kind == ProviderKind::Anthropic || !has_images || memmem::find(body, b"\"url\"").is_none()
        }
        (from, to) => from == to,
    }
}

/// A body that passes (see [`passes`]), without what came into its history while a provider of another shape answered: reasoning
/// and signatures no provider of this shape takes back. `traces` are those of the body. `None` where it stays as it is, which is
/// nearly always.
#[must_use]
pub fn without_foreign_history(shape: Shape, body: &Pieces, traces: Traces, target: &Target<'_>) -> Option<Vec<u8>> {
    match shape {
        Shape::ChatCompletions if !(traces.tagged || traces.reasoning && target.quirks.vendor) => None,
        Shape::ChatCompletions => chat_completions::without_foreign_history(&body.whole(), target),
        Shape::Messages if !traces.assistant => None,
        Shape::Messages => messages::without_foreign_history(&body.whole()),
        Shape::GenerateContent => generate_content::without_foreign_history(&body.whole(), target),
        Shape::Responses => responses::without_foreign_history(&body.whole()),
    }
}

/// A body that passes, without any continuity token: what is worth a second try where a provider refused the first. `None` where
/// there is none.
#[must_use]
pub fn without_signatures(shape: Shape, body: &[u8], target: &Target<'_>) -> Option<Vec<u8>> {
    match shape {
        Shape::GenerateContent => generate_content::without_signatures(body, target),
        Shape::Messages => messages::without_signatures(body),
        Shape::ChatCompletions | Shape::Responses => None,
    }
}

/// Translates a client's request for a target. `stream` is what the verb of a generate-content request says. `pictures` take the
/// place of their URLs.
///
/// # Errors
/// When the request breaks its own shape's rules, or holds what the target has no words for and the policy does not let it go.
pub fn prepare(
    from: Shape,
    body: &[u8],
    stream: bool,
    target: &Target<'_>,
    policy: Policy,
    pictures: &[Picture],
) -> Result<Prepared, Refusal> {
    let mut request = decode(from, body, stream)?;
    put_pictures(&mut request, pictures);
    let target = Target { shape: dialect(&request, target), ..*target };
    let mut encoding = Encoding::default();
    encoding.body.reserve(body.len() + body.len() / 8 + 256);
    let (stream, include_usage) = (request.stream, request.include_usage);
    let show_reasoning = request.thinking.shown.unwrap_or(from != Shape::GenerateContent);
    leave_unknown_tools(&mut request, &target, &mut encoding.losses);
    names::settle(target.shape, &request.tools, &mut encoding.adaptations);
    encode(request, &target, &mut encoding)?;
    judge(&encoding.losses, policy, from, target.shape)?;
    Ok(Prepared {
        body: Bytes::from(encoding.body),
        shape: target.shape,
        losses: encoding.losses,
        stream,
        adaptations: encoding.adaptations,
        origin: target.origin,
        include_usage,
        show_reasoning,
    })
}

/// Leaves out tools that only another vendor runs, where the model has others to call: agents list them always and rarely need
/// them. A request for nothing else is for the encoders to judge.
fn leave_unknown_tools(request: &mut Request<'_>, target: &Target<'_>, losses: &mut Losses) {
    let known = |tool: &Tool<'_>| !matches!(tool, Tool::Unknown { .. });
    let forced = match &request.tool_choice {
        Some(Choice::Named(name)) => !request.tools.iter().filter_map(names::name_of).any(|known| known == name),
        _ => false,
    };
    if request.from == target.shape || forced || !request.tools.iter().any(known) {
        return;
    }
    request.tools.retain(|tool| {
        if let Tool::Unknown { kind, .. } = tool {
            losses.note(format!("tools.{}", kind.decode()), Weight::Minor, "only its own vendor runs this tool");
        }
        known(tool)
    });
}

fn judge(losses: &Losses, policy: Policy, from: Shape, to: Shape) -> Result<(), Refusal> {
    match policy.refuses().and_then(|weight| losses.heaviest_from(weight)) {
        None => Ok(()),
        Some(loss) => Err(Refusal::unsupported(loss.field.to_string(), format!("{} ({from}>{to})", loss.reason))),
    }
}

/// Pictures whose URLs the target cannot take, each once, with the places that name them.
///
/// # Errors
/// When the request breaks its own shape's rules.
pub fn pictures_to_fetch(from: Shape, body: &[u8], stream: bool, target: &Target<'_>) -> Result<Vec<(String, String)>, Refusal> {
    let request = decode(from, body, stream)?;
    let mut wanted: Vec<(String, String)> = Vec::new();
    for (turn_at, turn) in request.turns.iter().enumerate() {
        for (block_at, block) in turn.blocks.iter().enumerate() {
            urls(block, &mut |url| {
                let url = url.decode();
                if !takes_url(target, &url) && !wanted.iter().any(|(known, _)| *known == url) {
                    wanted.push((url.into_owned(), format!("messages[{turn_at}].content[{block_at}]")));
                }
            });
        }
    }
    Ok(wanted)
}

/// Whether a target fetches this URL itself.
fn takes_url(target: &Target<'_>, url: &str) -> bool {
    let fetches = target.capabilities.url_images && !matches!(target.kind, ProviderKind::Bedrock | ProviderKind::Vertex);
    fetches && url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"))
}

fn urls<'a>(block: &Block<'a>, found: &mut dyn FnMut(&Text<'a>)) {
    match block {
        Block::Image(Media { source: Source::Url { url, .. }, .. }) | Block::Document(Document { source: Source::Url { url, .. }, .. }) => {
            found(url);
        }
        Block::ToolResult(result) => result.content.iter().for_each(|inner| urls(inner, found)),
        _ => {}
    }
}

fn put_pictures(request: &mut Request<'_>, pictures: &[Picture]) {
    if pictures.is_empty() {
        return;
    }
    for block in request.turns.iter_mut().flat_map(|turn| &mut turn.blocks) {
        put(block, pictures);
    }
}

fn put(block: &mut Block<'_>, pictures: &[Picture]) {
    let source = match block {
        Block::Image(media) => &mut media.source,
        Block::Document(document) => &mut document.source,
        Block::ToolResult(result) => return result.content.iter_mut().for_each(|inner| put(inner, pictures)),
        _ => return,
    };
    let Source::Url { url, .. } = source else { return };
    if let Some(picture) = pictures.iter().find(|picture| url.is(&picture.url)) {
        *source = Source::Base64 { media_type: Text::from(picture.media_type.clone()), data: Text::from(picture.data.clone()) };
    }
}

/// The dialect to ask the target in: chat providers that serve the responses dialect are asked through it where the other one
/// cannot search the web, or refuses tools with reasoning.
fn dialect(request: &Request<'_>, target: &Target<'_>) -> Shape {
    if target.shape != Shape::ChatCompletions || !target.quirks.responses {
        return target.shape;
    }
    let searches = request.tools.iter().any(|tool| matches!(tool, Tool::WebSearch(_)));
    let reasons = target.quirks.vendor && target.capabilities.needs_responses && wanted(&request.thinking) != Wanted::Off;
    if searches || (reasons && !request.tools.is_empty()) { Shape::Responses } else { Shape::ChatCompletions }
}

/// Reads a request in its dialect.
pub(super) fn decode(from: Shape, body: &[u8], stream: bool) -> Result<Request<'_>, Refusal> {
    match from {
        Shape::ChatCompletions => chat_completions::decode_request(body),
        Shape::Messages => messages::decode_request(body),
        Shape::GenerateContent => generate_content::decode_request(body, stream),
        Shape::Responses => responses::decode_request(body),
    }
}

fn encode(request: Request<'_>, target: &Target<'_>, encoding: &mut Encoding) -> Result<(), Refusal> {
    match target.shape {
        Shape::ChatCompletions => chat_completions::encode_request(request, target, encoding),
        Shape::Messages => messages::encode_request(request, target, encoding),
        Shape::GenerateContent => generate_content::encode_request(request, target, encoding),
        Shape::Responses => responses::encode_request(request, target, encoding),
    }
}
