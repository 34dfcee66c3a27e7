//! Requests of the chat_completions shape: whatever the bytes, every target gets JSON or the client a refusal.

#![no_main]

#[path = "../common.rs"]
mod common;

use libfuzzer_sys::fuzz_target;
use svc_filters::shape::Shape;

fuzz_target!(|data: &[u8]| common::request(Shape::ChatCompletions, data));
