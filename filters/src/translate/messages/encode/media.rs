//! Pictures and documents a messages provider takes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::prepare::Context;
use super::terms::Place;
use crate::canonical::{Block, Document, Losses, Media, Refusal, Source, Text, Weight};
use crate::shape::Shape;
use crate::translate::ProviderKind;
use crate::translate::map::media::{data_url, sniff};

const PICTURES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const PDF: &str = "application/pdf";

/// A picture, or what its bytes turn out to be; `None` where it is of a kind that cannot be sent.
pub(super) fn image<'a>(media: Media<'a>, context: &Context<'_>, place: Place, losses: &mut Losses) -> Result<Option<Block<'a>>, Refusal> {
    if media.detail.as_ref().is_some_and(|detail| !detail.is("auto")) {
        losses.note(context.terms.detail, Weight::Minor, "the messages dialect has no level of detail");
    }
    let document = Document { source: media.source, title: None, context: None };
    attached(document, context.terms.image, context, place, losses)
}

/// A document, or what its bytes turn out to be; `None` where it is of a kind that cannot be sent.
pub(super) fn document<'a>(
    document: Document<'a>,
    context: &Context<'_>,
    place: Place,
    losses: &mut Losses,
) -> Result<Option<Block<'a>>, Refusal> {
    attached(document, context.terms.document, context, place, losses)
}

fn attached<'a>(
    mut file: Document<'a>,
    field: &'static str,
    context: &Context<'_>,
    place: Place,
    losses: &mut Losses,
) -> Result<Option<Block<'a>>, Refusal> {
    if let Source::Url { url, .. } = &file.source
        && let Some((media_type, data)) = data_url(url)
    {
        file.source = Source::Base64 { media_type: media_type.into_owned(), data: data.into_owned() };
    }
    let picture = field == context.terms.image;
    let mut lost = |reason: &'static str| {
        losses.note(field, Weight::Major, reason);
        Ok(None)
    };
    match file.source {
        Source::Base64 { media_type, data } => match inline(media_type, data) {
            Some(source) if is_picture(&source) => Ok(Some(Block::Image(Media { source, detail: None }))),
            Some(source) => Ok(Some(Block::Document(Document { source, ..file }))),
            None => lost("the messages dialect takes JPEG, PNG, GIF and WebP pictures, PDF and text"),
        },
        Source::Url { url, media_type } if fetches(&url, context) => {
            let picture = picture && !media_type.as_ref().is_some_and(|kind| kind.is(PDF));
            Ok(Some(block(Document { source: Source::Url { url, media_type }, ..file }, picture)))
        }
        Source::Url { .. } => Err(Refusal::unsupported(place.to_string(), "the provider does not fetch files from this address")),
        Source::File { shape: Shape::Messages, .. }
            if context.from == Shape::Messages && context.target.kind == ProviderKind::Anthropic =>
        {
            Ok(Some(block(file, picture)))
        }
        Source::File { .. } => lost("a file in one vendor's store is unknown to every other vendor"),
        Source::Text(_) | Source::Blocks(_) => Ok(Some(Block::Document(file))),
    }
}

fn block(file: Document<'_>, picture: bool) -> Block<'_> {
    if picture { Block::Image(Media { source: file.source, detail: None }) } else { Block::Document(file) }
}

/// Whether the provider itself gets a file from that address.
fn fetches(url: &Text<'_>, context: &Context<'_>) -> bool {
    let secure = url.decode().get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
    let direct = !matches!(context.target.kind, ProviderKind::Bedrock | ProviderKind::Vertex);
    secure && direct && context.target.capabilities.url_images
}

/// What the bytes are, whatever the client says they are; `None` where that cannot be sent.
fn inline<'a>(media_type: Text<'a>, data: Text<'a>) -> Option<Source<'a>> {
    let kind = match sniff(&data) {
        Some(kind) => kind.to_owned(),
        None => media_type.decode().to_ascii_lowercase(),
    };
    let kind = if kind == "image/jpg" { "image/jpeg" } else { &*kind };
    if kind == PDF || PICTURES.contains(&kind) {
        return Some(Source::Base64 { media_type: Text::from(kind.to_owned()), data });
    }
    if kind.starts_with("text/") || kind == "application/json" {
        let bytes = STANDARD.decode(data.decode().as_bytes()).ok()?;
        return String::from_utf8(bytes).ok().map(|text| Source::Text(Text::from(text)));
    }
    None
}

fn is_picture(source: &Source<'_>) -> bool {
    matches!(source, Source::Base64 { media_type, .. } if !media_type.is(PDF))
}
