//! A request that is made up, read as a real one is.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use svc_filters::auth::Key;
use svc_filters::endpoint::{Endpoint, Route, RouteError, route};
use svc_filters::filter::Request;
use svc_filters::passage::Facts;
use svc_filters::policy::Policy;
use svc_filters::shape::Shape;

use crate::control::fields::Fields;
use crate::phases::request::asked_model;
use crate::request_id::random_bits;

/// The members it is made of.
pub(super) const FIELDS: [&str; 5] = ["key", "endpoint", "path", "headers", "body"];

/// The request.
#[derive(Debug)]
pub(super) struct Sample {
    /// Id or name of the key.
    pub(super) key: String,
    pub(super) endpoint: Endpoint,
    pub(super) model: Arc<str>,
    pub(super) headers: HeaderMap,
    shape: Shape,
    body: Bytes,
    facts: Facts,
}

impl Sample {
    /// Reads the members; `None` where something is wrong with them, which is noted. `body` is the member as it was written.
    pub(super) fn read(fields: &mut Fields, body: Option<Bytes>, json_depth: usize) -> Option<Self> {
        let key = fields.text("key");
        let key = fields.require("key", key);
        let path = fields.text("path");
        let place = place(fields, path.as_deref());
        let headers = headers(fields);
        let given = fields.value("body").filter(|given| !given.is_null());
        let is_object = given.as_ref().is_some_and(Value::is_object);
        if given.is_some() && !is_object {
            fields.fault("body", "must be an object: the request in the client's own shape");
        }
        fields.require("body", given);
        let (place, body) = (place?, body.filter(|_| is_object)?);
        let facts = Facts::read(place.endpoint.body_kind(), None, &body, json_depth);
        let facts = facts.map_err(|fault| fields.fault("body", format!("is not valid: failed to {fault}"))).ok()?;
        let model = asked_model(&place, &facts);
        let model = model.map_err(|refused| fields.fault("body.model", format!("is refused: {}", refused.message))).ok()?;
        Some(Self { key: key?, endpoint: place.endpoint, shape: place.shape, model, headers, body, facts })
    }

    /// The request as the filter chain sees it.
    pub(super) fn request<'a>(&'a self, policy: &'a Policy, key: Arc<Key>, now: i64, ticks: u64) -> Request<'a> {
        Request {
            now,
            ticks,
            random: random_bits(),
            model: &self.model,
            body: &self.body,
            facts: Some(&self.facts),
            key: Some(key),
            ..Request::new(self.endpoint, self.shape, &self.headers, policy)
        }
    }
}

/// The endpoint, by its name or by its path.
fn place<'p>(fields: &mut Fields, path: Option<&'p str>) -> Option<Route<'p>> {
    let named = fields.has("endpoint");
    let endpoint = fields.choice("endpoint", &Endpoint::ROUTED.map(|endpoint| (endpoint.as_str(), endpoint)));
    let Some(path) = path else {
        let endpoint = if named { endpoint? } else { Endpoint::ChatCompletions };
        return Some(Route { endpoint, shape: endpoint.shape(), path_model: None });
    };
    let (path, _) = path.split_once('?').unwrap_or((path, ""));
    let found = route("POST", path).map_err(|error| {
        let detail = match error {
            RouteError::UnknownPath(_) => "is no endpoint of the gateway",
            RouteError::WrongMethod(..) => "is an endpoint that asks no model",
            RouteError::InvalidModel(_) => "does not hold a valid model name",
            RouteError::NotServed(_, why) => why,
        };
        fields.fault("path", detail);
    });
    let found = found.ok()?;
    if endpoint.is_some_and(|endpoint| endpoint != found.endpoint) {
        fields.fault("endpoint", format!("is not the one of `path`, which is {}", found.endpoint.as_str()));
    }
    Some(found)
}

fn headers(fields: &mut Fields) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let given = match fields.value("headers") {
        None | Some(Value::Null) => return headers,
        Some(Value::Object(given)) => given,
        Some(_) => {
            fields.fault("headers", "must be an object whose values are texts");
            return headers;
        }
    };
    for (name, value) in given {
        let field = format!("headers.{name}");
        let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else {
            fields.fault(&field, "is not the name of a header");
            continue;
        };
        match value.as_str().and_then(|text| HeaderValue::from_str(text).ok()) {
            Some(value) => drop(headers.insert(name, value)),
            None => fields.fault(&field, "must be the text of a header line"),
        }
    }
    headers
}
