//! Calls of the sidecar: as few as its bounds allow, over connections that are kept.

use std::time::{Duration, Instant};

use http::{HeaderName, HeaderValue, header};
use serde_json::json;
use svc_filters::guardrails::Judgement;

use super::answer;
use super::failure::Failure;
use super::join;
use crate::conf;
use crate::fetch::{Call, FetchError, Fetcher};

/// The longest answer that is read.
const LONGEST: usize = 4 << 20;
/// Calls of one request to one model at the same time.
const AT_ONCE: usize = 4;
/// How long the sidecar may take, in milliseconds.
const DEADLINE: HeaderName = HeaderName::from_static("x-deadline-ms");

/// Where the sidecar is, and within which bounds it is asked.
pub(super) struct Client {
    url: String,
    authorization: Option<HeaderValue>,
    deadline: Duration,
    max_texts: usize,
    max_bytes: usize,
    kept: Fetcher,
    /// For calls on other threads than those that serve requests: a connection belongs to where it was made.
    once: Fetcher,
}

/// What is to be sent, in calls that each keep within the bounds.
pub(super) struct Calls {
    pub(super) list: Vec<Body>,
}

/// One call.
pub(super) struct Body {
    pub(super) body: Vec<u8>,
    texts: usize,
}

impl Client {
    pub(super) fn new(url: &str, conf: &conf::GuardrailModels) -> Result<Self, FetchError> {
        let url = format!("{url}/v1/classify");
        let bearer = (!conf.token.is_empty()).then(|| HeaderValue::from_str(&format!("Bearer {}", conf.token.reveal())));
        let mut authorization = bearer.transpose().map_err(|_| FetchError::Http("the token cannot be sent".to_owned()))?;
        authorization.iter_mut().for_each(|value| value.set_sensitive(true));
        Ok(Self {
            authorization,
            deadline: *conf.deadline,
            max_texts: conf.max_texts,
            max_bytes: conf.max_bytes.as_usize(),
            kept: Fetcher::keeping(&url, LONGEST)?,
            once: Fetcher::new(None).reading(LONGEST),
            url,
        })
    }

    /// The calls that show the texts to a model.
    pub(super) fn calls<'t>(&self, model: &str, threshold: f64, texts: impl Iterator<Item = &'t str>) -> Result<Calls, Failure> {
        let head = json!({"model": model, "threshold": threshold}).to_string();
        let head = head.strip_suffix('}').unwrap_or_default().to_owned() + ",\"texts\":[";
        let mut calls = Calls { list: Vec::new() };
        for text in texts {
            let text = serde_json::to_vec(text).map_err(|_| Failure::Unclear)?;
            let room = self.max_bytes.saturating_sub(text.len() + "]}".len());
            match calls.list.last_mut().filter(|last| last.texts < self.max_texts && last.body.len() < room) {
                Some(last) => {
                    last.body.push(b',');
                    last.body.extend_from_slice(&text);
                    last.texts += 1;
                }
                None if head.len() > room => return Err(Failure::TooLong),
                None => calls.list.push(Body { body: [head.as_bytes(), &text].concat(), texts: 1 }),
            }
        }
        calls.list.iter_mut().for_each(|call| call.body.extend_from_slice(b"]}"));
        Ok(calls)
    }

    /// Makes the calls within the deadline, which began at `began`. Gives a judgement of each text.
    pub(super) async fn make(&self, calls: Calls, began: Instant, keep: bool) -> Result<Vec<Judgement>, Failure> {
        let mut judged = Vec::new();
        let mut calls = calls.list.into_iter().peekable();
        while calls.peek().is_some() {
            for answered in join::all(calls.by_ref().take(AT_ONCE).map(|call| self.call(call, began, keep))).await {
                judged.extend(answered?);
            }
        }
        Ok(judged)
    }

    async fn call(&self, body: Body, began: Instant, keep: bool) -> Result<Vec<Judgement>, Failure> {
        let left = self.deadline.saturating_sub(began.elapsed());
        let millis = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        if millis == 0 {
            return Err(Failure::Late);
        }
        let mut call = Call::json(&self.url, body.body).within(left).with_header(DEADLINE, HeaderValue::from(millis));
        if let Some(value) = &self.authorization {
            call = call.with_header(header::AUTHORIZATION, value.clone());
        }
        let fetcher = if keep { &self.kept } else { &self.once };
        let fetched = fetcher.fetch(&call).await.map_err(Failure::Call)?;
        answer::read(fetched.status, &fetched.body, body.texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conf::{ByteSize, GuardrailModels};

    fn bodies(max_texts: usize, max_bytes: u64, texts: &[&str]) -> Option<Vec<serde_json::Value>> {
        let conf = GuardrailModels { max_texts, max_bytes: ByteSize(max_bytes), ..GuardrailModels::default() };
        let client = Client::new("http://127.0.0.1:1", &conf).unwrap();
        let calls = client.calls("m\"x", 0.25, texts.iter().copied()).ok()?;
        assert!(calls.list.iter().all(|call| call.body.len() as u64 <= max_bytes));
        Some(calls.list.iter().map(|call| serde_json::from_slice(&call.body).unwrap()).collect())
    }

    #[test]
    fn texts_go_in_as_few_calls_as_fit() {
        let one = bodies(64, 4096, &["a\n", "é\"", "c"]).unwrap();
        assert_eq!(one, [json!({"model": "m\"x", "threshold": 0.25, "texts": ["a\n", "é\"", "c"]})]);
        let texts = |calls: Vec<serde_json::Value>| calls.iter().map(|call| call["texts"].as_array().unwrap().len()).collect::<Vec<_>>();
        assert_eq!(texts(bodies(2, 4096, &["a", "b", "c"]).unwrap()), [2, 1]);
        let long = "x".repeat(600);
        assert_eq!(texts(bodies(64, 1024, &["a", &long, &long, "b"]).unwrap()), [2, 2]);
        assert_eq!(bodies(64, 1024, &["a", &"x".repeat(1024)]), None, "a text is never cut");
    }
}
