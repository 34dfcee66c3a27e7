//! Pictures and documents by URL for providers that take none: fetched here, with care, and put in place of the URL.

mod fetch;
mod guard;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use svc_filters::translate::map::media::sniff_bytes;
use svc_filters::translate::{Picture, Target, pictures_to_fetch};
use svc_filters::verdict::Rejection;
use tokio::task::JoinSet;

use crate::exchange::Exchange;
use crate::phases::body::Reserved;
use crate::phases::translation::rejection;

/// The most pictures that are fetched for one request.
const MOST: usize = 20;
/// Words one of which is in every request that names a picture by URL.
const NAMES: [&[u8]; 5] = [b"url", b"uri", b"Uri", b"http://", b"https://"];

/// Pictures fetched for one request, and the memory they hold. Most requests have none, and take no room for them.
#[derive(Debug, Default)]
pub struct Pictures(Option<Box<(Vec<Picture>, Vec<Reserved>)>>);

impl Pictures {
    /// The pictures.
    #[must_use]
    pub fn list(&self) -> &[Picture] {
        self.0.as_ref().map_or(&[], |held| &held.0)
    }

    fn add(&mut self, picture: Picture, memory: Reserved) {
        let (pictures, reserved) = &mut **self.0.get_or_insert_default();
        pictures.push(picture);
        reserved.push(memory);
    }
}

/// Fetches what the target takes no URL for and an earlier try has not fetched.
///
/// # Errors
/// A refusal that names the field whose picture cannot be had.
pub async fn fetch(exchange: &mut Exchange, target: &Target<'_>) -> Result<(), Rejection> {
    if !NAMES.iter().any(|name| memchr::memmem::find(&exchange.body, name).is_some()) {
        return Ok(());
    }
    let stream = exchange.answer.stream;
    let wanted = pictures_to_fetch(exchange.shape, &exchange.body, stream, target)
        .map_err(|refusal| rejection(refusal, exchange.shape, target.shape))?;
    let missing = wanted.into_iter().filter(|(url, _)| !exchange.pictures.list().iter().any(|known| known.url == *url));
    let missing: Vec<(String, String)> = missing.collect();
    if let Some((_, field)) = missing.get(MOST) {
        let message = format!("`{field}`: more than {MOST} pictures would have to be fetched.");
        return Err(Rejection::invalid(message).with_param(field.clone()));
    }
    let mut running = JoinSet::new();
    for (url, field) in missing {
        let gateway = exchange.gateway.clone();
        running.spawn(async move {
            let fetched = fetch::fetch(&url, &gateway.conf.egress.allow).await;
            (url, field, fetched)
        });
    }
    while let Some(joined) = running.join_next().await {
        let Ok((url, field, fetched)) = joined else { return Err(Rejection::invalid("A picture cannot be fetched.")) };
        let (picture, memory) = keep(exchange, url, &field, fetched)?;
        exchange.pictures.add(picture, memory);
    }
    Ok(())
}

fn keep(
    exchange: &Exchange,
    url: String,
    field: &str,
    fetched: Result<Vec<u8>, fetch::FetchError>,
) -> Result<(Picture, Reserved), Rejection> {
    let refuse = |reason: &dyn std::fmt::Display| {
        Rejection::invalid(format!("`{field}`: the picture cannot be fetched: {reason}.")).with_param(field.to_owned())
    };
    let bytes = fetched.map_err(|error| refuse(&error))?;
    let media_type = sniff_bytes(&bytes).ok_or_else(|| refuse(&"it is neither JPEG, PNG, GIF, WebP nor PDF"))?;
    let memory = exchange.gateway.body_memory.hold(bytes.len().saturating_mul(2))?;
    Ok((Picture { url, media_type: media_type.to_owned(), data: STANDARD.encode(&bytes) }, memory))
}
