//! Rewriting a request twice changes nothing more, and the upstream sees one model.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use svc_filters::passage::{BodyKind, Facts};

fuzz_target!(|input: (bool, &[u8])| {
    let (form, bytes) = input;
    let body = Bytes::copy_from_slice(bytes);
    let (kind, content_type) =
        if form { (BodyKind::Audio, "multipart/form-data; boundary=a") } else { (BodyKind::ChatCompletions, "application/json") };
    let Ok(facts) = Facts::read(kind, Some(content_type), &body, 64) else { return };
    let once = facts.rewrite(&body, "upstream", true).whole();
    let again = Facts::read(kind, Some(content_type), &once, 64).expect("a rewritten body is valid");
    assert!(again.model.is_none() || again.model.as_deref() == Some("upstream"));
    assert_eq!(again.rewrite(&once, "upstream", true).whole(), once);
});
