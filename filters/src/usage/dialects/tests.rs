use proptest::prelude::*;

use super::*;
use crate::usage::LARGEST;

fn vector(numbers: [u64; 5], reasoning: Option<u64>) -> Usage {
    let [input_uncached, cache_read, cache_write_5m, cache_write_1h, output] = numbers;
    Usage { input_uncached, cache_read, cache_write_5m, cache_write_1h, output, reasoning, cost_nano: None, suspicious: false }
}

fn messages(parts: &[&str]) -> Usage {
    let mut usage = MessagesUsage::default();
    for part in parts {
        usage.merge(part.as_bytes());
    }
    usage.usage().unwrap()
}

fn chat(text: &str) -> Usage {
    read_chat(text.as_bytes()).expect(text)
}

fn generate(text: &str) -> Usage {
    read_generate_content(text.as_bytes()).expect(text)
}

#[test]
fn one_call_reads_the_same_in_every_shape() {
    let expected = vector([40, 64, 16, 0, 31], Some(12));
    let details = r#""completion_tokens_details":{"reasoning_tokens":12}}"#;
    let prompt = r#"{"prompt_tokens":120,"completion_tokens":31,"total_tokens":151,"#;
    let cache = r#""prompt_tokens_details":{"cached_tokens":64,"cache_write_tokens":16},"#;
    assert_eq!(chat(&format!("{prompt}{cache}{details}")), expected);
    let responses = r#"{"input_tokens":120,"input_tokens_details":{"cached_tokens":64,"cache_write_tokens":16},"output_tokens":31,"output_tokens_details":{"reasoning_tokens":12},"total_tokens":151}"#;
    assert_eq!(chat(responses), expected);
    let start = r#"{"input_tokens":40,"cache_read_input_tokens":64,"cache_creation_input_tokens":16,"output_tokens":1}"#;
    let delta = r#"{"output_tokens":31,"output_tokens_details":{"thinking_tokens":12}}"#;
    assert_eq!(messages(&[start, delta]), expected);
    let metadata =
        r#"{"promptTokenCount":120,"cachedContentTokenCount":64,"candidatesTokenCount":19,"thoughtsTokenCount":12,"totalTokenCount":151}"#;
    assert_eq!(generate(metadata), vector([56, 64, 0, 0, 31], Some(12)));
}

#[test]
fn what_an_aggregator_charges_comes_with_its_usage() {
    let told = chat(r#"{"prompt_tokens":7,"completion_tokens":5,"cost":0.00014,"cost_details":{"upstream_inference_cost":0.5}}"#);
    assert_eq!(told, Usage { cost_nano: Some(140_000), ..vector([7, 0, 0, 0, 5], None) });
    assert_eq!(chat(r#"{"prompt_tokens":7,"completion_tokens":5}"#).cost_nano, None);
}

#[test]
fn compatible_variants_of_chat_usage_are_understood() {
    let hit = r#"{"prompt_tokens":100,"completion_tokens":5,"prompt_cache_hit_tokens":60,"prompt_cache_miss_tokens":40}"#;
    assert_eq!(chat(hit), vector([40, 60, 0, 0, 5], None));
    assert_eq!(
        chat(r#"{"prompt_cache_hit_tokens":60,"prompt_cache_miss_tokens":40,"completion_tokens":5}"#),
        vector([40, 60, 0, 0, 5], None)
    );
    let beside = r#"{"prompt_tokens":100,"completion_tokens":5,"cache_read_input_tokens":60,"cache_creation_input_tokens":10}"#;
    assert_eq!(chat(beside), vector([30, 60, 10, 0, 5], None));
    let exclusive = r#"{"prompt_tokens":3,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":900}}"#;
    assert_eq!(chat(exclusive), vector([3, 900, 0, 0, 5], None));
    let outside = r#"{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":50}}"#;
    assert_eq!(chat(outside), vector([0, 4, 50, 0, 5], None));
    assert_eq!(chat(r#"{"prompt_tokens":10.0,"completion_tokens":5e0,"prompt_tokens_details":null}"#), vector([10, 0, 0, 0, 5], None));
    assert_eq!(chat(r#"{"prompt_tokens":7,"total_tokens":7}"#), vector([7, 0, 0, 0, 0], None));
    for nothing in ["null", "{}", r#"{"type":"duration","seconds":3}"#, "[1]", ""] {
        assert_eq!(read_chat(nothing.as_bytes()), None, "{nothing}");
    }
}

#[test]
fn cache_writes_split_by_lifetime() {
    let split = r#"{"input_tokens":1,"cache_creation_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"output_tokens":2}"#;
    assert_eq!(messages(&[split]), vector([1, 0, 10, 20, 2], None));
    let only_split = r#"{"input_tokens":1,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20}}"#;
    assert_eq!(messages(&[only_split]), vector([1, 0, 10, 20, 0], None));
    assert_eq!(
        messages(&[split, r#"{"input_tokens":null,"cache_read_input_tokens":9,"output_tokens":50}"#]),
        vector([1, 9, 10, 20, 50], None)
    );
}

#[test]
fn thoughts_are_added_once() {
    let inclusive = r#"{"promptTokenCount":10,"candidatesTokenCount":30,"thoughtsTokenCount":12,"totalTokenCount":40}"#;
    assert_eq!(generate(inclusive), vector([10, 0, 0, 0, 30], Some(12)));
    let with_tools =
        r#"{"promptTokenCount":10,"toolUsePromptTokenCount":5,"candidatesTokenCount":30,"thoughtsTokenCount":12,"totalTokenCount":57}"#;
    assert_eq!(generate(with_tools), vector([15, 0, 0, 0, 42], Some(12)));
    assert_eq!(generate(r#"{"promptTokenCount":10}"#), vector([10, 0, 0, 0, 0], None));
}

#[test]
fn absurd_values_are_clamped_or_ignored_and_flagged() {
    let cases = [
        (r#"{"prompt_tokens":-5,"completion_tokens":1}"#, 0, 1),
        (r#"{"prompt_tokens":2.7,"completion_tokens":1}"#, 2, 1),
        (r#"{"prompt_tokens":99999999999999999999999,"completion_tokens":1}"#, LARGEST, 1),
        (r#"{"prompt_tokens":9007199254740993,"completion_tokens":1}"#, LARGEST, 1),
        (r#"{"prompt_tokens":1e999,"completion_tokens":1}"#, LARGEST, 1),
        (r#"{"prompt_tokens":"12","completion_tokens":1}"#, 0, 1),
        (r#"{"prompt_tokens":{},"completion_tokens":1}"#, 0, 1),
    ];
    for (text, input, output) in cases {
        let usage = chat(text);
        assert_eq!((usage.input_uncached, usage.output, usage.suspicious), (input, output, true), "{text}");
    }
    let reasoning = chat(r#"{"prompt_tokens":1,"completion_tokens":3,"completion_tokens_details":{"reasoning_tokens":9}}"#);
    assert_eq!((reasoning.reasoning, reasoning.suspicious), (Some(3), true));
}

proptest! {
    #[test]
    fn no_numbers_overflow(numbers in prop::collection::vec("-?[0-9]{1,25}(\\.[0-9])?(e[0-9]{1,3})?", 9)) {
        let n = |at: usize| &numbers[at];
        let text = format!(
            "{{\"prompt_tokens\":{},\"completion_tokens\":{},\"prompt_tokens_details\":{{\"cached_tokens\":{},\"cache_write_tokens\":{}}},\"promptTokenCount\":{},\"toolUsePromptTokenCount\":{},\"thoughtsTokenCount\":{},\"totalTokenCount\":{},\"cache_creation_input_tokens\":{}}}",
            n(0), n(1), n(2), n(3), n(4), n(5), n(6), n(7), n(8)
        );
        let mut merged = MessagesUsage::default();
        merged.merge(text.as_bytes());
        for usage in [read_chat(text.as_bytes()), read_generate_content(text.as_bytes()), merged.usage()].into_iter().flatten() {
            prop_assert!(usage.total() < 1 << 60);
        }
    }
}
