//! Reading one request after the other from a connection.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::framing::Framing;
use crate::head::{BodyFields, MOST_FIELDS, malformed};

const FIRST_CAPACITY: usize = 8 * 1_024;

/// The request that was read last, and the bytes behind it.
#[derive(Debug)]
pub(super) struct RequestReader {
    buffer: Vec<u8>,
    /// Path and query as sent.
    pub(super) target: String,
    pub(super) body: Vec<u8>,
    /// The client will not send another.
    pub(super) is_last: bool,
}

struct Head {
    length: usize,
    target: String,
    fields: BodyFields,
    is_last: bool,
}

impl RequestReader {
    pub(super) fn new() -> Self {
        Self { buffer: Vec::with_capacity(FIRST_CAPACITY), target: String::new(), body: Vec::new(), is_last: false }
    }

    /// Reads the next request; `false` when the client closed the connection instead.
    pub(super) async fn next(&mut self, stream: &mut TcpStream) -> io::Result<bool> {
        let head = loop {
            if let Some(head) = parse_head(&self.buffer)? {
                break head;
            }
            if stream.read_buf(&mut self.buffer).await? == 0 {
                return if self.buffer.is_empty() { Ok(false) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
            }
        };
        if head.fields.expects_continue {
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        self.buffer.drain(..head.length);
        self.target = head.target;
        self.is_last = head.is_last;
        self.read_body(stream, head.fields.request_body()).await?;
        Ok(true)
    }

    async fn read_body(&mut self, stream: &mut TcpStream, mut framing: Framing) -> io::Result<()> {
        self.body.clear();
        loop {
            let used = framing.feed(&self.buffer, |data| self.body.extend_from_slice(data))?;
            self.buffer.drain(..used);
            if framing.is_done() {
                return Ok(());
            }
            if stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

fn parse_head(bytes: &[u8]) -> io::Result<Option<Head>> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    let httparse::Status::Complete(length) = request.parse(bytes).map_err(malformed)? else { return Ok(None) };
    let fields = BodyFields::of(request.headers);
    let is_last = fields.close || request.version == Some(0);
    Ok(Some(Head { length, target: request.path.unwrap_or("/").to_owned(), fields, is_last }))
}
