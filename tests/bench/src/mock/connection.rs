//! One client connection: requests in, answers out, one at a time.

use std::io;
use std::time::Duration;

use memchr::memmem;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until};

use super::Served;
use super::answers::{self, Answers};
use super::events::{self, StreamKind};
use super::request::RequestReader;
use crate::stamp;
use crate::stream_shape::StreamShape;

enum Reply<'a> {
    Whole(&'a [u8]),
    Stats,
    Stream(StreamKind, StreamShape),
}

/// Serves the connection until the client closes it.
pub(super) async fn run(mut stream: TcpStream, answers: &Answers, served: &Served) -> io::Result<()> {
    let mut reader = RequestReader::new();
    while reader.next(&mut stream).await? {
        Served::add(&served.requests, 1);
        match choose(&reader, answers) {
            Reply::Whole(answer) => stream.write_all(answer).await?,
            Reply::Stats => stream.write_all(&answers::ok(&served.to_json())).await?,
            Reply::Stream(kind, shape) => write_stream(&mut stream, kind, shape, served).await?,
        }
        if reader.is_last {
            return stream.shutdown().await;
        }
    }
    Ok(())
}

fn choose<'a>(request: &RequestReader, answers: &'a Answers) -> Reply<'a> {
    let path = request.target.split('?').next().unwrap_or_default();
    let shape = || {
        let named = StreamShape::find(path.as_bytes()).or_else(|| StreamShape::find(&request.body));
        named.unwrap_or(StreamShape::DEFAULT)
    };
    let streamed = || asks_for_stream(&request.body);
    if path.ends_with("/chat/completions") {
        let with_usage = memmem::find(&request.body, b"\"include_usage\"").is_some();
        if streamed() {
            Reply::Stream(StreamKind::ChatCompletions { with_usage }, shape())
        } else {
            Reply::Whole(&answers.chat_completions)
        }
    } else if path.ends_with("/messages") {
        if streamed() { Reply::Stream(StreamKind::Messages, shape()) } else { Reply::Whole(&answers.messages) }
    } else if path.ends_with(":streamGenerateContent") {
        Reply::Stream(StreamKind::GenerateContent, shape())
    } else if path.ends_with(":generateContent") {
        Reply::Whole(&answers.generate_content)
    } else if path == "/stats" {
        Reply::Stats
    } else if path.ends_with("/models") {
        Reply::Whole(&answers.models)
    } else {
        Reply::Whole(&answers.unknown_path)
    }
}

/// Whether the body says `"stream": true`. The bodies of the benchmark are its own, so looking for the bytes is enough.
fn asks_for_stream(body: &[u8]) -> bool {
    const NAME: &[u8] = b"\"stream\"";
    memmem::find_iter(body, NAME).any(|at| {
        let value = body.get(at + NAME.len()..).unwrap_or_default().trim_ascii_start();
        value.strip_prefix(b":").is_some_and(|value| value.trim_ascii_start().starts_with(b"true"))
    })
}

/// Writes each event by itself, as a model does that has one more word to say, at times counted from the start of the answer.
async fn write_stream(stream: &mut TcpStream, kind: StreamKind, shape: StreamShape, served: &Served) -> io::Result<()> {
    Served::add(&served.streams, 1);
    let mut out = events::HEAD.to_vec();
    kind.opening().iter().for_each(|event| events::chunk(event, &mut out));
    stream.write_all(&out).await?;
    let mut due = Instant::now();
    for _ in 0..shape.deltas {
        if shape.pause > Duration::ZERO {
            due += shape.pause;
            sleep_until(due).await;
        }
        out.clear();
        kind.delta(stamp::now_ns(), &mut out);
        stream.write_all(&out).await?;
        Served::add(&served.deltas, 1);
    }
    let closing = kind.closing(shape.deltas);
    for (index, event) in closing.iter().enumerate() {
        out.clear();
        events::chunk(event, &mut out);
        if index + 1 == closing.len() {
            out.extend_from_slice(events::END);
        }
        stream.write_all(&out).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_true_stream_member_asks_for_a_stream() {
        assert!(asks_for_stream(br#"{"stream":true}"#));
        assert!(asks_for_stream(br#"{"stream_options":{}, "stream" : true}"#));
        assert!(!asks_for_stream(br#"{"stream": false}"#));
        assert!(!asks_for_stream(br#"{"content":"a stream is true"}"#));
    }
}
