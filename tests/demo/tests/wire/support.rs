//! A client of few lines: what it sends and sees is exactly what is on the wire.

use std::net::SocketAddr;
use std::time::Duration;

use svc_demo::{Demo, Options};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const DEADLINE: Duration = Duration::from_secs(10);

/// What came back before the connection ended, and how it ended.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) text: String,
    pub(crate) end: std::io::Result<()>,
}

impl Exchange {
    pub(crate) fn status(&self) -> &str {
        self.text.get(9..12).unwrap_or_default()
    }
}

pub(crate) async fn demo(keys: &[&str]) -> Demo {
    let keys = keys.iter().map(|key| (*key).to_owned()).collect();
    Demo::start(Options { keys, ..Options::default() }).await.expect("a free port")
}

/// Sends one request and reads until the other side closes.
pub(crate) async fn send(address: SocketAddr, method: &str, path: &str, headers: &[&str], body: &str) -> Exchange {
    let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    let length = body.len();
    let request = format!("{method} {path} HTTP/1.1\r\nhost: demo\r\nconnection: close\r\n{lines}content-length: {length}\r\n\r\n{body}");
    tokio::time::timeout(DEADLINE, exchange(address, request)).await.expect("an answer before the deadline")
}

async fn exchange(address: SocketAddr, request: String) -> Exchange {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(request.as_bytes()).await.expect("a request sent");
    let mut bytes = Vec::new();
    let end = stream.read_to_end(&mut bytes).await.map(|_| ());
    Exchange { text: String::from_utf8_lossy(&bytes).into_owned(), end }
}

/// A post with JSON.
pub(crate) async fn post(demo: &Demo, path: &str, headers: &[&str], body: &str) -> Exchange {
    let headers = [headers, &["content-type: application/json"]].concat();
    send(demo.address(), "POST", path, &headers, body).await
}

pub(crate) async fn chat(demo: &Demo, text: &str, stream: bool) -> Exchange {
    let body = serde_json::json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": text}]});
    post(demo, "/v1/chat/completions", &["authorization: Bearer good"], &body.to_string()).await
}
