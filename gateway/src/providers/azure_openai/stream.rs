//! Azure's chunks without an id or a delta, which strict clients break on: they get the id of the others, and an empty delta.
//!
//! The first chunk of a stream tells only how the prompt was filtered, and with asynchronous filters some later ones tell only how
//! the answer was; both come with an empty id and object.

use bytes::Bytes;
use memchr::memmem::Finder;
use std::sync::LazyLock;
use svc_filters::wire::json::{Edit, Kind, elements, encode_string, members, splice};
use svc_filters::wire::sse::{Event, Splitter};

const OBJECT: &str = "chat.completion.chunk";

static NO_ID: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"id\":\"\""));

static DELTA: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"delta\""));
static FILTERED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"content_filter"));

/// A stream of chunks on its way to have ids.
#[derive(Debug, Default)]
pub(in crate::providers) struct Chunks {
    splitter: Splitter,
    /// The id of the stream, once it is known.
    id: Option<String>,
    /// Chunks that wait for it.
    held: Vec<Event>,
    broken: bool,
}

impl Chunks {
    pub(in crate::providers) fn push(&mut self, piece: Bytes, end: bool) -> Bytes {
        if self.broken {
            return Bytes::new();
        }
        self.splitter.push(piece);
        let mut out = Vec::new();
        loop {
            match self.splitter.next_event() {
                Ok(Some(event)) => self.take(event, &mut out),
                Ok(None) => break,
                // The answer ends here, unfinished, and whoever reads it says so.
                Err(_) => {
                    self.broken = true;
                    return out.into();
                }
            }
        }
        if end {
            self.finish(&mut out);
        }
        out.into()
    }

    fn take(&mut self, event: Event, out: &mut Vec<u8>) {
        if NO_ID.find(&event.raw).is_some() && is_without_id(&event.data()) {
            match &self.id {
                Some(id) => write(&event, id, out),
                None => self.held.push(event),
            }
            return;
        }
        if self.id.is_none() {
            self.id = id_of(&event.data());
            self.release(out);
        }
        match &self.id {
            Some(id) if DELTA.find(&event.raw).is_none() && FILTERED.find(&event.raw).is_some() => write(&event, id, out),
            _ => out.extend_from_slice(&event.raw),
        }
    }

    /// Writes the chunks that waited.
    fn release(&mut self, out: &mut Vec<u8>) {
        for event in std::mem::take(&mut self.held) {
            match &self.id {
                Some(id) => write(&event, id, out),
                None => out.extend_from_slice(&event.raw),
            }
        }
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        let last = self.splitter.finish();
        if let Some(event) = last {
            self.take(event, out);
        }
        self.release(out);
        out.extend_from_slice(self.splitter.pending());
    }
}

fn is_without_id(data: &[u8]) -> bool {
    members(data).any(|member| member.is("id") && member.value() == b"\"\"")
}

fn id_of(data: &[u8]) -> Option<String> {
    let id = members(data).find(|member| member.kind == Kind::String && member.is("id"))?;
    id.as_str().map(std::borrow::Cow::into_owned)
}

/// Whether a choice says something, but has no delta.
fn bare(choice: &[u8]) -> bool {
    members(choice).next().is_some() && !members(choice).any(|member| member.is("delta"))
}

fn write(event: &Event, id: &str, out: &mut Vec<u8>) {
    let data = event.data();
    let quoted = |text: &str| {
        let mut quoted = Vec::with_capacity(text.len() + 2);
        encode_string(text, &mut quoted);
        quoted
    };
    let empty = members(&data).filter(|member| member.value() == b"\"\"");
    let choices = members(&data).filter(|member| member.is("choices")).flat_map(|member| {
        let start = member.span.start;
        elements(member.value()).filter(|choice| bare(choice.value)).map(move |choice| start + choice.span.start + 1)
    });
    let deltas: Vec<usize> = choices.collect();
    let mut edits: Vec<Edit<'_>> = empty
        .filter_map(|member| match &*member.name() {
            b"id" => Some(Edit::replace(member.span, quoted(id))),
            b"object" => Some(Edit::replace(member.span, quoted(OBJECT))),
            _ => None,
        })
        .collect();
    // A choice without a delta breaks clients that read what it added.
    edits.extend(deltas.into_iter().map(|at| Edit::insert(at, &br#""delta":{},"#[..])));
    out.extend_from_slice(b"data: ");
    out.extend_from_slice(&splice(&data, &mut edits));
    out.extend_from_slice(b"\n\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(stream: &str, size: usize) -> String {
        let mut chunks = Chunks::default();
        let mut out = Vec::new();
        for piece in stream.as_bytes().chunks(size) {
            out.extend_from_slice(&chunks.push(Bytes::copy_from_slice(piece), false));
        }
        out.extend_from_slice(&chunks.push(Bytes::new(), true));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_choice_without_a_delta_gets_an_empty_one() {
        let stream = "data: {\"id\":\"c1\",\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n\
                      data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"content_filter_results\":{}}]}\n\n";
        let expected = stream.replace("{\"index\"", "{\"delta\":{},\"index\"");
        for size in [1, 7, stream.len()] {
            assert_eq!(through(stream, size), expected);
        }
    }

    #[test]
    fn chunks_without_an_id_get_that_of_the_stream_whatever_the_pieces() {
        let stream = "data: {\"choices\":[],\"id\":\"\",\"model\":\"\",\"object\":\"\",\"prompt_filter_results\":[]}\n\n\
                      data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"delta\":{\"content\":\"\\\"id\\\":\\\"\\\"\"}}]}\n\n\
                      data: {\"id\":\"\",\"choices\":[{\"content_filter_offsets\":{\"id\":\"\"}}]}\n\n\
                      data: [DONE]\n\n";
        let expected = "data: {\"choices\":[],\"id\":\"chatcmpl-1\",\"model\":\"\",\"object\":\"chat.completion.chunk\",\"prompt_filter_results\":[]}\n\n\
                        data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"delta\":{\"content\":\"\\\"id\\\":\\\"\\\"\"}}]}\n\n\
                        data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"delta\":{},\"content_filter_offsets\":{\"id\":\"\"}}]}\n\n\
                        data: [DONE]\n\n";
        for size in [1, 5, 64, stream.len()] {
            assert_eq!(through(stream, size), expected, "pieces of {size}");
        }
    }

    #[test]
    fn streams_without_such_chunks_pass_byte_for_byte() {
        for stream in [
            ": comment\r\n\r\ndata:{\"id\":\"a\"}\r\n\r\nevent: x\ndata: [DONE]\n\n",
            "data: {\"error\":{\"message\":\"no\"}}\n\n",
            "data: {\"id\":\"\",\"choices\":[]}\n\n",
            "data: {\"id\":\"a\"}\n\ndata: {\"cut",
        ] {
            assert_eq!(through(stream, 3), stream);
        }
    }
}
