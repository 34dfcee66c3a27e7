//! The strict scanner accepts what serde_json accepts, and walking never panics.

#![no_main]

use std::collections::HashMap;

use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;
use svc_filters::wire::json;

fuzz_target!(|body: &[u8]| {
    let ours = json::outline(body, json::DEEPEST).is_ok();
    let _ = json::members(body).map(|member| member.key().len()).sum::<usize>();
    let _ = json::elements(body).count();
    if let Ok(text) = std::str::from_utf8(body) {
        let theirs = serde_json::from_str::<HashMap<String, IgnoredAny>>(text).is_ok();
        assert!(ours == theirs || text.contains("\\u") || text.matches(['[', '{']).count() >= json::DEEPEST);
    } else {
        assert!(!ours);
    }
});
