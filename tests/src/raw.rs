//! HTTP/1.1 as bytes on a socket, for requests no client library would send.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// An answer as received.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Head as text, status line included.
    pub head: String,
    /// Body, chunks joined.
    pub body: Vec<u8>,
    /// Whether the body reached its end.
    pub complete: bool,
}

impl Answer {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// When it is not.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A connection to a server under test.
pub struct Connection {
    stream: TcpStream,
    pending: Vec<u8>,
}

impl Connection {
    /// Connects.
    ///
    /// # Panics
    /// When nobody listens.
    #[must_use]
    pub fn open(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).expect("the server listens"))
    }

    /// Connects; `None` when nobody listens.
    #[must_use]
    pub fn try_open(address: SocketAddr) -> Option<Self> {
        TcpStream::connect(address).ok().map(Self::over)
    }

    fn over(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a positive time");
        stream.set_write_timeout(Some(Duration::from_secs(30))).expect("a positive time");
        stream.set_nodelay(true).expect("a TCP socket");
        Self { stream, pending: Vec::new() }
    }

    /// The port the server sees.
    ///
    /// # Panics
    /// When the socket is gone.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.stream.local_addr().expect("it is connected").port()
    }

    /// Sends bytes. A server that stopped reading is no failure: its answer tells more.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.stream.write_all(bytes.as_ref());
    }

    /// Sends a `POST` with a length.
    pub fn post(&mut self, path: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) {
        let body = body.as_ref();
        let mut head = format!("POST {path} HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        self.send(head);
        self.send(body);
    }

    /// Sends a `POST` in chunks of the given size.
    pub fn post_chunked(&mut self, path: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>, size: usize) {
        let mut head = format!("POST {path} HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        self.send(head);
        for chunk in body.as_ref().chunks(size) {
            self.send(format!("{:x}\r\n", chunk.len()));
            self.send(chunk);
            self.send("\r\n");
        }
        self.send("0\r\n\r\n");
    }

    /// Reads one answer. `None` when the server closed without one.
    pub fn answer(&mut self) -> Option<Answer> {
        loop {
            let head = self.read_head()?;
            let status: u16 = head.split_whitespace().nth(1)?.parse().ok()?;
            if is_interim(status) {
                continue;
            }
            let mut answer = Answer { status, head, body: Vec::new(), complete: false };
            self.read_body(&mut answer);
            return Some(answer);
        }
    }

    /// Reads the head of an answer and leaves its body to [`Self::piece`].
    pub fn begin(&mut self) -> Option<Answer> {
        loop {
            let head = self.read_head()?;
            let status: u16 = head.split_whitespace().nth(1)?.parse().ok()?;
            if !is_interim(status) {
                return Some(Answer { status, head, body: Vec::new(), complete: false });
            }
        }
    }

    /// Reads the next chunk of a chunked body; empty at its end, `None` when the connection broke off.
    pub fn piece(&mut self) -> Option<Vec<u8>> {
        let size = self.chunk_size()?;
        let mut piece = self.take(size + 2)?;
        piece.truncate(size);
        Some(piece)
    }

    /// Lets reads give up after this time.
    ///
    /// # Panics
    /// When the time is zero.
    pub fn set_patience(&mut self, patience: Duration) {
        self.stream.set_read_timeout(Some(patience)).expect("a positive time");
    }

    /// Reads up to the end of the next head, interim ones included.
    pub fn read_head(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.pending.windows(4).position(|window| window == b"\r\n\r\n") {
                let head: Vec<u8> = self.pending.drain(..end + 4).collect();
                return Some(String::from_utf8_lossy(&head).trim_end().to_owned());
            }
            if !self.fill() {
                return None;
            }
        }
    }

    /// Reads more bytes; `false` at the end.
    pub fn fill(&mut self) -> bool {
        let mut buffer = [0; 65536];
        match self.stream.read(&mut buffer) {
            Ok(0) | Err(_) => false,
            Ok(count) => {
                self.pending.extend_from_slice(&buffer[..count]);
                true
            }
        }
    }

    /// Bytes received and not yet taken.
    #[must_use]
    pub fn pending(&self) -> &[u8] {
        &self.pending
    }

    /// Whether the server closes the connection within a few seconds.
    pub fn is_closed(&mut self) -> bool {
        self.set_patience(Duration::from_secs(5));
        let mut buffer = [0; 65536];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => return !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
            }
        }
    }

    fn read_body(&mut self, answer: &mut Answer) {
        if let Some(length) = answer.header("content-length").and_then(|text| text.parse::<usize>().ok()) {
            while self.pending.len() < length && self.fill() {}
            answer.complete = self.pending.len() >= length;
            answer.body = self.pending.drain(..length.min(self.pending.len())).collect();
        } else if answer.header("transfer-encoding").is_some() {
            while let Some(size) = self.chunk_size() {
                if size == 0 {
                    answer.complete = self.take(2).is_some();
                    return;
                }
                let Some(chunk) = self.take(size + 2) else { return };
                answer.body.extend_from_slice(&chunk[..size]);
            }
        } else if answer.status != 204 && answer.status != 304 {
            while self.fill() {}
            answer.body = std::mem::take(&mut self.pending);
            answer.complete = true;
        }
    }

    fn chunk_size(&mut self) -> Option<usize> {
        loop {
            if let Some(end) = self.pending.windows(2).position(|window| window == b"\r\n") {
                let line: Vec<u8> = self.pending.drain(..end + 2).collect();
                return usize::from_str_radix(std::str::from_utf8(&line[..end]).ok()?.trim(), 16).ok();
            }
            if !self.fill() {
                return None;
            }
        }
    }

    fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        while self.pending.len() < count {
            if !self.fill() {
                return None;
            }
        }
        Some(self.pending.drain(..count).collect())
    }
}

/// Sends one `POST` with a key and JSON on a connection of its own.
///
/// # Panics
/// When there is no answer.
#[must_use]
pub fn post(address: SocketAddr, path: &str, key: &str, body: &Value) -> Answer {
    let mut connection = Connection::open(address);
    let authorization = format!("Bearer {key}");
    connection.post(path, &[("authorization", &authorization), ("content-type", "application/json")], body.to_string());
    connection.answer().expect("an answer")
}

/// Sends one `GET` with headers on a connection of its own.
///
/// # Panics
/// When there is no answer.
#[must_use]
pub fn get(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut connection = Connection::open(address);
    let mut head = format!("GET {path} HTTP/1.1\r\nhost: test\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    connection.send(format!("{head}\r\n"));
    connection.answer().expect("an answer")
}

/// Whether a head is followed by another one.
fn is_interim(status: u16) -> bool {
    (100..200).contains(&status) && status != 101
}
