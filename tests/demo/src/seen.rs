//! What arrived: the last requests, for tests to look at.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use axum::http::request::Parts;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use parking_lot::Mutex;
use serde::Serialize;
use sha2::{Digest, Sha256};

const TEXT_BYTES: usize = 64 * 1024;

/// One request as it arrived.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Entry {
    pub(crate) number: u64,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    /// In order of arrival, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) http_version: String,
    pub(crate) body_bytes: usize,
    pub(crate) body_sha256: String,
    /// At most the first 64 KiB.
    pub(crate) body: String,
    pub(crate) status: Option<u16>,
    /// `open`, `complete` or `abandoned`: whether the answer was sent to its end.
    pub(crate) answer: &'static str,
}

impl Entry {
    pub(crate) fn new(number: u64, parts: &Parts, body: &Bytes) -> Self {
        let header = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        Self {
            number,
            method: parts.method.to_string(),
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().map(str::to_owned),
            headers: parts.headers.iter().map(header).collect(),
            http_version: format!("{:?}", parts.version),
            body_bytes: body.len(),
            body_sha256: hex(&Sha256::digest(body)),
            body: String::from_utf8_lossy(body.get(..TEXT_BYTES).unwrap_or(body)).into_owned(),
            status: None,
            answer: "open",
        }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The last requests, oldest first.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    entries: Arc<Mutex<VecDeque<Entry>>>,
    most: usize,
}

impl Seen {
    pub(crate) fn new(most: usize) -> Self {
        Self { entries: Arc::default(), most }
    }

    pub(crate) fn add(&self, entry: Entry) {
        let mut entries = self.entries.lock();
        entries.push_back(entry);
        while entries.len() > self.most {
            entries.pop_front();
        }
    }

    pub(crate) fn clear(&self) {
        self.entries.lock().clear();
    }

    /// The last of the requests whose body contains a text, which may be empty.
    pub(crate) fn last(&self, count: usize, containing: &str) -> Vec<Entry> {
        let entries = self.entries.lock();
        let fitting: Vec<&Entry> = entries.iter().filter(|entry| entry.body.contains(containing)).collect();
        fitting.iter().skip(fitting.len().saturating_sub(count)).map(|entry| (*entry).clone()).collect()
    }

    /// Follows the answer to a request; dropped before its end, the caller has gone.
    pub(crate) fn follow(&self, number: u64) -> Ending {
        Ending { seen: self.clone(), number, answer: "abandoned" }
    }

    fn change(&self, number: u64, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.entries.lock().iter_mut().rev().find(|entry| entry.number == number) {
            change(entry);
        }
    }
}

/// Writes down how an answer ended, when it does.
#[derive(Debug)]
pub(crate) struct Ending {
    seen: Seen,
    number: u64,
    answer: &'static str,
}

impl Ending {
    pub(crate) fn status(&self, status: u16) {
        self.seen.change(self.number, |entry| entry.status = Some(status));
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.seen.change(self.number, |entry| entry.answer = self.answer);
    }
}

/// A body that notices its own end.
#[derive(Debug)]
pub(crate) struct Followed {
    body: Body,
    sent: u64,
    length: Option<u64>,
    ending: Ending,
}

impl Followed {
    pub(crate) fn new(body: Body, length: Option<u64>, mut ending: Ending) -> Self {
        if body.is_end_stream() || length == Some(0) {
            ending.answer = "complete";
        }
        Self { body, sent: 0, length, ending }
    }

    fn note(&mut self, data: usize) {
        self.sent += u64::try_from(data).unwrap_or(u64::MAX);
        if self.length == Some(self.sent) || self.body.is_end_stream() {
            self.ending.answer = "complete";
        }
    }
}

impl HttpBody for Followed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        match &polled {
            Poll::Ready(None) => self.ending.answer = "complete",
            Poll::Ready(Some(Ok(frame))) => self.note(frame.data_ref().map_or(0, Bytes::len)),
            _ => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(|| self.body.size_hint(), SizeHint::with_exact)
    }
}
