//! Streams that fail: before their first content another target is asked, after it the client is told inside.

use std::time::Duration;

use svc_tests::faulty::{Step, answers};
use svc_tests::shapes::Shape;

use crate::matrix::{End, Fault, SILENT, error, upstream};
use crate::send_then;

const STATUSES: &[u16] = &[500, 502, 503, 529];
const OVERLOADED: &[u16] = &[500, 503, 529];
const ENDED: &[&str] = &["truncated", "closed", "error"];

/// A stream up to its first content, and what comes then.
fn opened(shape: Shape, then: &str) -> String {
    answers::head(true) + &answers::piece(&answers::opening(shape)) + then
}

/// A stream up to and with its content, and what comes then.
fn begun(shape: Shape, then: &str) -> String {
    opened(shape, &answers::piece(&answers::content(shape))) + then
}

/// An event that is larger than any may be, and has no end.
fn huge() -> String {
    format!("data: {{\"text\": \"{}", "endless ".repeat((17 << 20) / 8))
}

#[test]
fn an_error_event_first_of_all() {
    let answer = |shape, _| vec![Step::send(answers::head(true) + &answers::piece(&answers::error_event(shape)) + answers::LAST)];
    Fault::on_request(answer, upstream(OVERLOADED, OVERLOADED, &["in_band"])).only_stream().run();
}

#[test]
fn an_error_event_before_the_first_content() {
    let answer = |shape, _| vec![Step::send(opened(shape, &answers::piece(&answers::error_event(shape))) + answers::LAST)];
    Fault::on_request(answer, upstream(OVERLOADED, OVERLOADED, &["in_band"])).only_stream().run();
}

#[test]
fn an_end_before_the_first_content() {
    let answer = |shape, _| vec![Step::send(opened(shape, answers::LAST))];
    Fault::on_request(answer, error(STATUSES, ENDED)).only_stream().run();
}

#[test]
fn a_reset_before_the_first_content() {
    let answer = |shape, _| send_then(opened(shape, ""), Step::Reset);
    Fault::on_request(answer, error(STATUSES, ENDED)).only_stream().run();
}

#[test]
fn silence_before_the_first_content() {
    let answer = |shape, _| send_then(opened(shape, ""), Step::Hang);
    Fault::on_request(answer, error(SILENT, &["timeout"])).only_stream().run();
}

#[test]
fn a_malformed_event_before_the_first_content() {
    let answer = |shape, _| vec![Step::send(opened(shape, &answers::piece("data: {\"choices\": [oops\n\n")) + answers::LAST)];
    Fault::on_request(answer, error(STATUSES, &["truncated", "in_band", "error"])).only_stream().run();
}

#[test]
fn an_error_event_after_content() {
    let answer = |shape, _| vec![Step::send(begun(shape, &answers::piece(&answers::error_event(shape))) + answers::LAST)];
    Fault::on_request(answer, End::Broken).only_stream().run();
}

#[test]
fn an_end_after_content_as_if_all_were_said() {
    let answer = |shape, _| vec![Step::send(begun(shape, answers::LAST))];
    Fault::on_request(answer, End::Broken).only_stream().run();
}

#[test]
fn an_end_after_content_without_the_last_chunk() {
    let answer = |shape, _| send_then(begun(shape, ""), Step::Close);
    Fault::on_request(answer, End::Broken).only_stream().run();
}

#[test]
fn a_stream_shorter_than_its_length() {
    let answer = |shape, _| {
        let body = answers::opening(shape) + &answers::content(shape);
        let head = answers::head(true).replace("transfer-encoding: chunked", &format!("content-length: {}", body.len() + 100));
        send_then(head + &body, Step::Close)
    };
    Fault::on_request(answer, End::Broken).only_stream().run();
}

#[test]
fn an_end_in_the_middle_of_an_event() {
    let answer = |shape, _| {
        let cut = answers::content(shape);
        vec![Step::send(begun(shape, &answers::piece(&cut[..cut.len() - 9])) + answers::LAST)]
    };
    Fault::on_request(answer, End::Broken).only_stream().run();
}

#[test]
fn a_reset_after_content() {
    // The reset must not overtake what was sent before it: it comes a little later.
    let answer = |shape, _| vec![Step::send(begun(shape, "")), Step::Pause(Duration::from_millis(200)), Step::Reset];
    Fault::on_request(answer, End::Broken).only_stream().run();
}

#[test]
fn silence_after_content() {
    let answer = |shape, _| send_then(begun(shape, ""), Step::Hang);
    Fault::on_request(answer, End::Broken).only_stream().lets_go().run();
}

#[test]
fn chunks_of_no_size_after_content() {
    let answer = |shape, _| send_then(begun(shape, "zz\r\nwhat?\r\n"), Step::Hang);
    Fault::on_request(answer, End::Broken).only_stream().lets_go().run();
}

#[test]
fn a_malformed_event_after_content() {
    let answer = |shape, _| vec![Step::send(begun(shape, &answers::piece("data: {\"choices\": [oops\n\n")) + answers::LAST)];
    Fault::on_request(answer, End::Broken).only_stream().run();
}

#[test]
fn an_end_that_is_told_twice_does_no_harm() {
    let answer = |shape, _| vec![Step::send(begun(shape, &answers::piece(&answers::ending_twice(shape))) + answers::LAST)];
    Fault::on_request(answer, End::Served("Hello there")).only_stream().patient().run();
}

#[test]
fn an_event_beyond_all_bounds_before_the_first_content() {
    let answer = |shape, _| send_then(opened(shape, &answers::piece(&huge())), Step::Hang);
    Fault::on_request(answer, error(STATUSES, &["error", "closed", "truncated"])).only_stream().patient().lets_go().run();
}

#[test]
fn an_event_beyond_all_bounds_after_content() {
    let answer = |shape, _| send_then(begun(shape, &answers::piece(&huge())), Step::Hang);
    Fault::on_request(answer, End::Broken).only_stream().patient().lets_go().run();
}

#[test]
fn the_record_of_an_error_event_names_it_where_no_other_target_is_left() {
    let answer = |shape, _| vec![Step::send(answers::head(true) + &answers::piece(&answers::error_event(shape)) + answers::LAST)];
    Fault::on_request(answer, upstream(OVERLOADED, OVERLOADED, &["in_band"])).only_stream().strict().run();
}
