//! A server that answers as a test says: token services, metadata services, and providers with a trait no emulator has.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// One request as it arrived.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Method.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Vec<u8>,
}

impl Asked {
    /// The first value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// What is answered.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Status.
    pub status: u16,
    /// Headers beside the length.
    pub headers: Vec<(&'static str, String)>,
    /// Body.
    pub body: Vec<u8>,
}

impl Reply {
    /// An answer of JSON, or of any other text that a test wants to pass for it.
    #[must_use]
    pub fn json(status: u16, body: impl ToString) -> Self {
        Self { status, headers: vec![("content-type", "application/json".to_owned())], body: body.to_string().into_bytes() }
    }

    /// Adds a header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }
}

/// A running stub. Its threads end with the test process.
pub struct Stub {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Stub {
    /// Starts one.
    ///
    /// # Panics
    /// When there is no free port.
    #[must_use]
    pub fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answer, seen) = (Arc::new(answer), asked.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, seen) = (answer.clone(), seen.clone());
                thread::spawn(move || serve(stream, &*answer, &seen));
            }
        });
        Self { address, asked }
    }

    /// Base URL without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything it was asked, oldest first.
    ///
    /// # Panics
    /// Never.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("not poisoned").clone()
    }
}

fn serve(stream: TcpStream, answer: &dyn Fn(&Asked) -> Reply, seen: &Mutex<Vec<Asked>>) {
    let Ok(mut writer) = stream.try_clone() else { return };
    let mut reader = BufReader::new(stream);
    while let Some(asked) = read(&mut reader) {
        seen.lock().expect("not poisoned").push(asked.clone());
        let reply = answer(&asked);
        let mut head = format!("HTTP/1.1 {} Stub\r\ncontent-length: {}\r\n", reply.status, reply.body.len());
        for (name, value) in &reply.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        if writer.write_all(&[head.as_bytes(), &reply.body].concat()).is_err() {
            return;
        }
    }
}

/// Reads one request; `None` at the end of the connection.
pub(crate) fn read(reader: &mut impl BufRead) -> Option<Asked> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { method, target, headers, body })
}
