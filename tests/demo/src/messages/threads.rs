//! Message threads (beta `message-threads-2026-08-12`): the vendor keeps a conversation and the caller sends only what is new.
//!
//! A thread belongs to the credential that created it, keeps system and tools, and each reply is continued at most once.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::refusal::Refusal;

const BETA: &str = "message-threads-2026-08-12";
/// Fields the thread keeps and a continuing request leaves out.
const KEPT: [&str; 2] = ["system", "tools"];
/// Fields that have to stay as they were.
const FIXED: [&str; 4] = ["model", "thinking", "tool_choice", "cache_control"];
const MOST: usize = 1000;

/// Conversations by the id of their last reply. Best effort: all are forgotten when there are too many.
#[derive(Debug, Clone, Default)]
pub(crate) struct Threads(Arc<Mutex<HashMap<String, Thread>>>);

#[derive(Debug)]
struct Thread {
    owner: String,
    betas: String,
    body: Map<String, Value>,
    continued: bool,
}

impl Threads {
    /// The whole conversation a request stands for, and whether its reply is to be kept.
    pub(super) fn resolve(&self, call: &Call, mut body: Map<String, Value>) -> Result<(Map<String, Value>, bool), Refusal> {
        let Some(asked) = body.remove("thread").filter(|thread| !thread.is_null()) else { return Ok((body, false)) };
        if !betas(call).split(',').any(|beta| beta == BETA) {
            return Err(Refusal::invalid("thread: Extra inputs are not permitted"));
        }
        match asked.get("type").and_then(Value::as_str) {
            Some("create") => Ok((body, true)),
            Some("continue") => {
                let previous = asked.get("previous_message_id").and_then(Value::as_str);
                let previous = previous.ok_or_else(|| Refusal::invalid("thread.continue.previous_message_id: Field required"))?;
                Ok((self.continued(call, body, previous)?, true))
            }
            _ => {
                Err(Refusal::invalid("thread: Input tag found using 'type' does not match any of the expected tags: 'create', 'continue'"))
            }
        }
    }

    fn continued(&self, call: &Call, body: Map<String, Value>, previous: &str) -> Result<Map<String, Value>, Refusal> {
        let mut threads = self.0.lock();
        let found = threads.get_mut(previous).filter(|thread| thread.owner == owner(call));
        let thread = found.ok_or_else(|| refused(404, "thread_not_found", format!("No thread was found for {previous}.")))?;
        if let Some(name) = KEPT.iter().find(|name| body.contains_key(**name)) {
            return Err(Refusal::invalid(format!("{name}: cannot be sent when continuing a thread")));
        }
        if thread.continued {
            return Err(refused(400, "thread_already_continued", format!("{previous} has already been continued.")));
        }
        if FIXED.iter().any(|name| thread.body.get(*name) != body.get(*name)) || thread.betas != betas(call) {
            return Err(refused(400, "thread_fingerprint_mismatch", "A field that a thread fixes has changed.".to_owned()));
        }
        thread.continued = true;
        Ok(joined(&thread.body, body))
    }

    /// Keeps a conversation under the id of its reply.
    pub(super) fn keep(&self, call: &Call, mut body: Map<String, Value>, reply: &Value) {
        let Some(id) = reply.get("id").and_then(Value::as_str) else { return };
        if let Some(messages) = body.get_mut("messages").and_then(Value::as_array_mut) {
            messages.push(json!({"role": "assistant", "content": reply.get("content")}));
        }
        let mut threads = self.0.lock();
        if threads.len() >= MOST {
            threads.clear();
        }
        threads.insert(id.to_owned(), Thread { owner: owner(call), betas: betas(call), body, continued: false });
    }
}

fn joined(kept: &Map<String, Value>, mut body: Map<String, Value>) -> Map<String, Value> {
    for name in KEPT {
        if let Some(value) = kept.get(name) {
            body.insert(name.to_owned(), value.clone());
        }
    }
    let messages = |body: &Map<String, Value>| body.get("messages").and_then(Value::as_array).cloned().unwrap_or_default();
    let all = [messages(kept), messages(&body)].concat();
    body.insert("messages".to_owned(), Value::Array(all));
    body
}

fn refused(status: u16, code: &str, message: String) -> Refusal {
    Refusal::new(status, message).detail(json!({"error_code": code}))
}

fn owner(call: &Call) -> String {
    ["x-api-key", "authorization"].into_iter().filter_map(|name| call.header(name)).collect()
}

/// All beta names in order of the alphabet, comma between them.
fn betas(call: &Call) -> String {
    let values = call.headers.get_all("anthropic-beta").iter().filter_map(|value| value.to_str().ok());
    let mut names: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
    names.sort_unstable();
    names.join(",")
}
