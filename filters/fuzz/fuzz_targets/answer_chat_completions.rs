//! Answers in the chat_completions dialect: whatever the bytes and their cuts, every client gets the same, and an error where the end is missing.

#![no_main]

#[path = "../common.rs"]
mod common;

use libfuzzer_sys::fuzz_target;
use svc_filters::shape::Shape;

fuzz_target!(|data: &[u8]| common::answer(Shape::ChatCompletions, data));
