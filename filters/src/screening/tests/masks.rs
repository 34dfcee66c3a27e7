//! What is masked, byte for byte.

use super::*;
use crate::wire::json::{self, Span};

fn masked(rules: &RuleSet, kind: BodyKind, body: &str) -> String {
    let masked =
        screen_request(rules, Body::Json(kind, body.as_bytes())).apply(body.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap());
    let masked = masked.unwrap_or_else(|| body.to_owned());
    assert!(json::scan(masked.as_bytes(), 128, |_| {}).is_ok(), "no JSON any more: {masked}");
    masked
}

/// The content of a user's message after its mask.
fn content(rules: &RuleSet, written: &str) -> String {
    around(rules, BodyKind::ChatCompletions, r#" { "messages" : [ {"content": "#, written, ",\t\"role\":\"us\\u0065r\"} ]\n}\n")
}

/// Arguments of an earlier call after their mask.
fn arguments(rules: &RuleSet, written: &str) -> String {
    let (before, after) = (r#"{"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":"#, "}}]}]}");
    around(rules, BodyKind::ChatCompletions, before, written, after)
}

fn around(rules: &RuleSet, kind: BodyKind, before: &str, written: &str, after: &str) -> String {
    let masked = masked(rules, kind, &format!("{before}{written}{after}"));
    let inner = masked.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    inner.unwrap_or_else(|| panic!("what stands around it has changed: {masked}")).to_owned()
}

#[test]
fn matches_behind_escapes_are_masked_and_everything_else_stays_as_written() {
    for (written, expected) in [
        (r#""pay 4111111111111111 now""#, r#""pay [card] now""#),
        (r#""\/\u00e9 \u0034111 1111 1111 111\u0031\ud83d\ude00\n""#, r#""\/\u00e9 [card]\ud83d\ude00\n""#),
        (r#""\\4111111111111111\"""#, r#""\\[card]\"""#),
        (r#""é４１１１1111１１１１1111 \"""#, r#""é[card] \"""#),
        (r#""4111\u200b11111111\u200b1111\ud800""#, r#""[card]\ud800""#),
        (r#""4111111111111111 \t 5555-5555-5555-4444""#, r#""[card] \t [card]""#),
        (r#"["4111111111111111",{"type":"text","text":"4111111111111111"}]"#, r#"["[card]",{"type":"text","text":"[card]"}]"#),
        (r#""4111 1111 1111 1112 \u0034""#, r#""4111 1111 1111 1112 \u0034""#),
    ] {
        assert_eq!(content(&cards(), written), expected);
    }
}

#[test]
fn a_replacement_is_escaped_as_its_place_needs() {
    let rules = RuleSet::new(vec![rule("a\"b", None, mask("<\"{rule}\\\n\u{1}é😀>"), Places::ALL)]).unwrap();
    let once = r#"<\"a\"b\\\n\u0001é😀>"#;
    assert_eq!(content(&rules, r#""x 4111111111111111""#), format!("\"x {once}\""));
    let twice = r#"<\\\"a\\\"b\\\\\\n\\u0001é😀>"#;
    assert_eq!(arguments(&rules, r#""{\"a\":\"x 4111111111111111\"}""#), format!(r#""{{\"a\":\"x {twice}\"}}""#));
}

#[test]
fn arguments_are_masked_where_they_are_escaped_twice() {
    for (written, expected) in [
        (r#""{\"a\":\"4111111111111111\",\"b\":[4111111111111111, 4.5]}""#, r#""{\"a\":\"[card]\",\"b\":[\"[card]\", 4.5]}""#),
        // Escapes of the arguments that are themselves written with escapes.
        (r#""{\u0022\u0061\":\"4111\\\u007500201111\u00201111 1111 \\\u00750065\/\"}""#, r#""{\u0022\u0061\":\"[card] \\\u00750065\/\"}""#),
        (r#""{\"a\":\"4111\\u00201111\\u00201111 1111\\n\\\"\"}""#, r#""{\"a\":\"[card]\\n\\\"\"}""#),
        (r#""{\"4111111111111111\":\"x\"}""#, r#""{\"4111111111111111\":\"x\"}""#),
        (r#""4111111111111111""#, r#""\"[card]\"""#),
        (r#""4111 1111 1111 1111 is no JSON""#, r#""[card] is no JSON""#),
        (r#""{\"a\":\"cut off 4111\\u00201111 11111111""#, r#""{\"a\":\"cut off [card]""#),
        (r#"{"a":{"b":"4111111111111111","c":4111111111111111}}"#, r#"{"a":{"b":"[card]","c":"[card]"}}"#),
        (
            r#""{\"a\":\"4111111111111111 4111111111111111\",\"b\":\"5555555555554444\"}""#,
            r#""{\"a\":\"[card] [card]\",\"b\":\"[card]\"}""#,
        ),
    ] {
        assert_eq!(arguments(&cards(), written), expected);
    }
}

#[test]
fn a_field_of_a_form_is_masked_as_it_is_written() {
    let body = b"prompt=\"4111111111111111\\u0034\"&file=4111111111111111";
    let prompt = [Span { start: 7, end: 31 }];
    let screened = screen_request(&cards(), Body::Form(&prompt, body));
    assert_eq!(screened.apply(body).as_deref(), Some(&b"prompt=\"[card]\\u0034\"&file=4111111111111111"[..]));
    assert_eq!((screened.texts, screened.report.places), (1, Places::NONE.with(Place::Messages)));
    let elsewhere = RuleSet::new(vec![rule("card", None, mask("x"), Places::NONE.with(Place::System))]).unwrap();
    assert_eq!(screen_request(&elsewhere, Body::Form(&prompt, body)).texts, 0);
}

#[test]
fn what_is_decided_and_counted_is_told() {
    let block = rule("stop", Some("forbidden"), Action::Block, Places::NONE.with(Place::ToolResults));
    let note = rule("note", Some("forbidden|noted"), Action::LogOnly, Places::PROMPT);
    let rules = RuleSet::new(vec![note, block, rule("card", None, mask("x"), Places::NONE.with(Place::Answer))]).unwrap();
    let screened = |body: &str| screen_request(&rules, Body::Json(BodyKind::ChatCompletions, body.as_bytes()));
    let mild = screened(r#"{"messages":[{"role":"user","content":"forbidden 4111111111111111"},{"role":"system","content":"noted"}]}"#);
    assert_eq!(
        mild.findings.iter().map(|found| (found.rule, found.place, found.chars)).collect::<Vec<_>>(),
        [(0, Place::Messages, 9), (0, Place::System, 5)]
    );
    assert_eq!((mild.texts, mild.report.bytes, mild.report.places), (2, 31, Places::NONE.with(Place::Messages).with(Place::System)));
    assert_eq!(mild.decision.as_ref().map(|decision| decision.action().clone()), Some(Action::LogOnly));
    assert!(!mild.masks() && mild.apply(b"").is_none());
    let strict = screened(r#"{"messages":[{"role":"tool","content":"forbidden"}]}"#);
    assert_eq!(strict.decision.map(|decision| decision.rule.name().to_string()).as_deref(), Some("stop"));
}

#[test]
fn places_that_no_rule_looks_at_are_not_looked_at() {
    let rules = RuleSet::new(vec![rule("card", None, mask("x"), Places::NONE.with(Place::Answer))]).unwrap();
    let body = br#"{"messages":[{"role":"user","content":"4111111111111111"}]}"#;
    assert_eq!(screen_request(&rules, Body::Json(BodyKind::ChatCompletions, body)).texts, 0);
    let body = br#"{"choices":[{"message":{"content":"4111111111111111","reasoning":"4111111111111111"}}]}"#;
    let screened = screen_answer(&rules, BodyKind::ChatCompletions, body);
    assert_eq!((screened.texts, screened.findings.len()), (1, 1));
    assert_eq!(screened.apply(body).as_deref(), Some(&br#"{"choices":[{"message":{"content":"x","reasoning":"4111111111111111"}}]}"#[..]));
}

#[test]
fn media_ids_and_signatures_are_left_alone_whatever_they_look_like() {
    let rules = RuleSet::new(vec![rule("any", Some("[A-Za-z0-9+/]{8}"), mask("gone"), Places::ALL)]).unwrap();
    let picture = "iVBORw0KGgo4111111111111111AAAA/+abcdefgh==";
    for (kind, body) in [
        (
            BodyKind::ChatCompletions,
            r#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,@"}},{"type":"input_audio","input_audio":{"data":"@","format":"wav"}},{"type":"file","file":{"file_data":"data:application/pdf;base64,@"}}]},{"role":"tool","tool_call_id":"@","content":""}]}"#,
        ),
        (
            BodyKind::Messages,
            r#"{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"@"}},{"type":"document","source":{"type":"base64","data":"@","media_type":"application/pdf"}},{"type":"tool_result","tool_use_id":"@","content":[{"type":"image","source":{"data":"@","type":"base64"}}]}]},{"role":"assistant","content":[{"type":"redacted_thinking","data":"@"},{"type":"thinking","thinking":"","signature":"@"}]}]}"#,
        ),
        (
            BodyKind::GenerateContent,
            r#"{"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"@"}},{"inline_data":{"data":"@"}},{"text":"","thoughtSignature":"@"},{"functionResponse":{"id":"@","name":"@","response":{},"parts":[{"inlineData":{"data":"@"}}]}}]}]}"#,
        ),
        (
            BodyKind::Responses,
            r#"{"input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,@"},{"type":"input_file","file_data":"data:application/pdf;base64,@"}]},{"type":"reasoning","id":"@","summary":[],"encrypted_content":"@"},{"type":"image_generation_call","id":"@","result":"@"},{"type":"function_call_output","call_id":"@","output":[{"type":"input_image","image_url":"data:image/png;base64,@"}]}]}"#,
        ),
    ] {
        let body = body.replace('@', picture);
        assert_eq!(masked(&rules, kind, &body), body, "{kind:?}");
        let with_text = body.replacen(
            '[',
            r#"[{"type":"text","role":"user","content":"abcdefgh","text":"abcdefgh","parts":[{"text":"abcdefgh"}]},"#,
            1,
        );
        assert_ne!(masked(&rules, kind, &with_text), with_text, "the rule finds nothing at all in {kind:?}");
    }
}
