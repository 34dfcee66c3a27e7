//! Errors: each provider's error, written for every client. A fixture's name begins with its HTTP status.

use serde_json::{Value, json};
use svc_filters::translate::failure_for;

use crate::{SHAPES, compare, fixtures, report};

#[test]
fn every_error_reads_as_golden_at_every_client() {
    let (mut differences, mut count) = (Vec::new(), 0);
    for upstream in SHAPES {
        for (name, body) in fixtures("errors", upstream) {
            count += 1;
            let status = name.split('_').next().and_then(|status| status.parse().ok()).expect("a status");
            let written: serde_json::Map<String, Value> = SHAPES
                .into_iter()
                .map(|client| {
                    let (status, body) = failure_for(client, upstream, status, &body, "req-1");
                    (client.to_string(), json!({ "status": status, "body": serde_json::from_slice::<Value>(&body).expect("JSON") }))
                })
                .collect();
            differences.extend(compare("errors", upstream, &name, &Value::Object(written)));
        }
    }
    report(&differences, count);
}
