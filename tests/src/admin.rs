//! `/admin` as an operator calls it, with a memory of every answer.

use std::net::SocketAddr;
use std::sync::Mutex;

use serde_json::Value;

use crate::gateway::ADMIN_SECRET;
use crate::raw::{Answer, Connection};

/// The content type of bodies.
pub const JSON: (&str, &str) = ("content-type", "application/json");

/// A caller with the admin secret.
pub struct Admin {
    address: SocketAddr,
    told: Mutex<Vec<String>>,
}

impl Admin {
    /// A caller of the gateway at an address.
    #[must_use]
    pub const fn new(address: SocketAddr) -> Self {
        Self { address, told: Mutex::new(Vec::new()) }
    }

    /// Sends a request with the admin secret and these headers.
    ///
    /// # Panics
    /// When there is no answer.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Answer {
        let authorization = format!("Bearer {ADMIN_SECRET}");
        let headers: Vec<(&str, &str)> = headers.iter().copied().chain([("authorization", authorization.as_str())]).collect();
        let answer = send(self.address, method, path, &headers, body);
        self.told.lock().expect("not poisoned").push(format!("{}\n{}", answer.head, answer.text()));
        answer
    }

    /// Sends a JSON body.
    pub fn call(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.send(method, path, &[JSON], body.to_string())
    }

    /// Sends a request without a body.
    pub fn bare(&self, method: &str, path: &str) -> Answer {
        self.send(method, path, &[], "")
    }

    /// Reads JSON that is expected to be there.
    ///
    /// # Panics
    /// When it is not.
    pub fn get(&self, path: &str) -> Value {
        let answer = self.bare("GET", path);
        assert_eq!(answer.status, 200, "GET {path}: {}", answer.text());
        answer.json()
    }

    /// Every head and body so far.
    ///
    /// # Panics
    /// Never.
    #[must_use]
    pub fn told(&self) -> Vec<String> {
        self.told.lock().expect("not poisoned").clone()
    }

    /// Checks that an answer is a problem of a status and code.
    ///
    /// # Panics
    /// When it is not.
    pub fn expect_problem(case: &str, answer: &Answer, status: u16, code: &str) {
        let told = format!("{case}: {}\n{}", answer.head, answer.text());
        assert_eq!(answer.status, status, "{told}");
        assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{told}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{told}");
        assert!(answer.header("x-svc-request-id").is_some(), "{told}");
        let body = answer.json();
        assert_eq!((body["status"].as_u64(), body["code"].as_str()), (Some(u64::from(status)), Some(code)), "{told}");
        assert!(body["title"].is_string() && body["detail"].is_string(), "a problem says what is wrong: {told}");
    }
}

/// Sends a request with exactly these headers beside host and length, on a connection of its own.
///
/// # Panics
/// When there is no answer.
#[must_use]
pub fn send(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Answer {
    let body = body.as_ref();
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: test\r\n");
    if !body.is_empty() {
        head.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut connection = Connection::open(address);
    connection.send(format!("{head}\r\n"));
    connection.send(body);
    connection.answer().unwrap_or_else(|| panic!("{method} {path} is not answered"))
}
