//! One client connection: a request out, an answer in.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::framing::Framing;
use crate::head::{BodyFields, MOST_FIELDS, malformed};

const CAPACITY: usize = 16 * 1_024;

/// An open connection and what was read from it but not yet used.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// What is known of an answer once all of it was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) first_byte: Instant,
    /// The connection can carry another request.
    pub(super) keeps_open: bool,
}

struct Head {
    length: usize,
    status: u16,
    fields: BodyFields,
    is_http_11: bool,
}

impl Connection {
    pub(super) async fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(CAPACITY) })
    }

    /// Sends `request` and hands the content of the answer's body to `content`, piece by piece as it arrives.
    pub(super) async fn exchange(&mut self, request: &[u8], content: impl FnMut(&[u8])) -> io::Result<Answer> {
        self.stream.write_all(request).await?;
        self.fill("before the answer").await?;
        let first_byte = Instant::now();
        let head = self.read_head().await?;
        let framing = head.fields.answer_body();
        let has_an_end = head.fields.chunked || head.fields.length.is_some();
        let keeps_open = head.is_http_11 && !head.fields.close && has_an_end;
        self.read_body(framing, content).await?;
        if !self.buffer.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "there are bytes after the end of the answer"));
        }
        Ok(Answer { status: head.status, first_byte, keeps_open })
    }

    /// Reads until the final head is there; informational ones before it are dropped.
    async fn read_head(&mut self) -> io::Result<Head> {
        loop {
            match parse_head(&self.buffer)? {
                Some(head) => {
                    self.buffer.drain(..head.length);
                    if head.status >= 200 {
                        return Ok(head);
                    }
                }
                None => self.fill("inside the head").await?,
            }
        }
    }

    async fn read_body(&mut self, mut framing: Framing, mut content: impl FnMut(&[u8])) -> io::Result<()> {
        loop {
            let used = framing.feed(&self.buffer, &mut content)?;
            self.buffer.drain(..used);
            if framing.is_done() {
                return Ok(());
            }
            match self.fill("inside the body").await {
                Err(why) if why.kind() == io::ErrorKind::UnexpectedEof && framing.may_close() => return Ok(()),
                other => other?,
            }
        }
    }

    async fn fill(&mut self, at: &str) -> io::Result<()> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("the connection was closed {at}"))),
            _ => Ok(()),
        }
    }
}

fn parse_head(bytes: &[u8]) -> io::Result<Option<Head>> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut answer = httparse::Response::new(&mut fields);
    let httparse::Status::Complete(length) = answer.parse(bytes).map_err(malformed)? else { return Ok(None) };
    let status = answer.code.unwrap_or_default();
    Ok(Some(Head { length, status, fields: BodyFields::of(answer.headers), is_http_11: answer.version == Some(1) }))
}
