//! Providers that answer with 200 and a body that is no answer.

use std::io::Read;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::read::GzEncoder;
use svc_tests::faulty::{Step, answers};
use svc_tests::shapes::Shape;

use crate::matrix::{End, Fault, SILENT, error, upstream};
use crate::send_then;

const PAGE: &str = "<!doctype html><html><body><h1>Please log in</h1></body></html>";
/// What the record may say of a body that is none.
const BODY: &[&str] = &["truncated", "closed", "error", "in_band", "malformed"];
const STATUSES: &[u16] = &[500, 502, 503, 529];

#[test]
fn an_empty_body() {
    let empty = |_: Shape, stream| vec![Step::send(answers::head(stream) + answers::LAST)];
    Fault::on_request(empty, error(STATUSES, BODY)).run();
}

#[test]
fn a_length_of_nothing() {
    let empty = |_: Shape, _: bool| vec![Step::send(answers::document(200, "application/json", "", ""))];
    Fault::on_request(empty, error(STATUSES, BODY)).run();
}

#[test]
fn malformed_json() {
    let answer = |shape, _| {
        let malformed = answers::whole(shape).replace("\":", "\" =");
        vec![Step::send(answers::document(200, "application/json", "", &malformed))]
    };
    Fault::on_request(answer, error(STATUSES, BODY)).only_whole().run();
}

#[test]
fn json_with_a_bracket_too_few() {
    let answer = |shape, _| {
        let whole = answers::whole(shape);
        vec![Step::send(answers::document(200, "application/json", "", &whole[..whole.len() - 1]))]
    };
    Fault::on_request(answer, error(STATUSES, BODY)).only_whole().run();
}

#[test]
fn json_of_another_kind() {
    let answer = |_: Shape, _: bool| vec![Step::send(answers::document(200, "application/json", "", "[1, 2, 3]"))];
    Fault::on_request(answer, error(STATUSES, BODY)).only_whole().run();
}

#[test]
fn a_body_shorter_than_its_length() {
    let answer = |shape, stream| {
        let body = if stream { answers::opening(shape) } else { answers::whole(shape) };
        let head = answers::head(stream).replace("transfer-encoding: chunked", &format!("content-length: {}", body.len() + 100));
        send_then(head + &body, Step::Close)
    };
    Fault::on_request(answer, error(STATUSES, BODY)).run();
}

#[test]
fn a_body_that_breaks_off_in_a_chunk() {
    let answer = |shape, _| {
        let whole = answers::whole(shape);
        send_then(format!("{}{:x}\r\n{}", answers::head(false), whole.len(), &whole[..40]), Step::Reset)
    };
    Fault::on_request(answer, error(STATUSES, BODY)).only_whole().run();
}

#[test]
fn a_body_without_its_last_chunk() {
    let answer = |shape, _| send_then(answers::head(false) + &answers::piece(&answers::whole(shape)), Step::Close);
    Fault::on_request(answer, error(STATUSES, BODY)).only_whole().run();
}

#[test]
fn a_body_that_stops_half_way() {
    let answer = |shape, _| send_then(answers::head(false) + &answers::piece(&answers::whole(shape)[..40]), Step::Hang);
    Fault::on_request(answer, error(SILENT, &["timeout"])).only_whole().run();
}

#[test]
fn chunks_of_no_size() {
    let answer = |_: Shape, stream| send_then(answers::head(stream) + "zz\r\nwhat?\r\n", Step::Hang);
    Fault::on_request(answer, error(STATUSES, BODY)).run();
}

/// Bytes as `gzip` makes them.
fn compressed(bytes: impl Read) -> Vec<u8> {
    let mut packed = Vec::new();
    GzEncoder::new(bytes, Compression::best()).read_to_end(&mut packed).expect("memory does not fail");
    packed
}

fn packed(stream: bool, body: &[u8]) -> Vec<Step> {
    let kind = if stream { "text/event-stream" } else { "application/json" };
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n", body.len());
    vec![Step::Send([head.as_bytes(), body].concat())]
}

#[test]
fn an_answer_compressed_though_nobody_asked_for_it_is_taken() {
    let answer = |shape, stream| {
        let body = if stream { answers::stream(shape) } else { answers::whole(shape) };
        packed(stream, &compressed(body.as_bytes()))
    };
    Fault::on_request(answer, End::Served("Hello there")).patient().run();
}

#[test]
fn an_answer_that_would_be_a_thousand_times_its_size() {
    static BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| compressed(std::io::repeat(b' ').take(40 << 20)));
    let answer = |_, stream| packed(stream, &BOMB);
    Fault::on_request(answer, error(STATUSES, BODY)).only_stream().patient().run();
    Fault::on_request(answer, error(STATUSES, BODY)).only_whole().only_translated().patient().run();
}

#[test]
fn a_compressed_answer_that_breaks_off() {
    let answer = |shape, stream| {
        let body = compressed(if stream { answers::opening(shape) } else { answers::whole(shape) }.as_bytes());
        let Some(Step::Send(mut bytes)) = packed(stream, &body).pop() else { unreachable!("it sends") };
        bytes.truncate(bytes.len() - body.len() / 2);
        vec![Step::Send(bytes), Step::Close]
    };
    Fault::on_request(answer, error(STATUSES, BODY)).run();
}

#[test]
fn a_compressed_error() {
    let answer = |shape, _| {
        let body = compressed(answers::error(shape, 503).as_bytes());
        let head = "HTTP/1.1 503 Busy\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n";
        let head = format!("{head}content-length: {}\r\n\r\n", body.len());
        vec![Step::Send([head.as_bytes(), &body].concat())]
    };
    Fault::on_request(answer, upstream(&[503], &[503, 529], &["status"])).run();
}

#[test]
fn a_whole_answer_that_is_too_large_to_be_translated() {
    let answer = |shape, _| {
        let endless = answers::whole(shape).replace("Hello there", &"endless ".repeat((33 << 20) / 8));
        vec![Step::send(answers::document(200, "application/json", "", &endless))]
    };
    Fault::on_request(answer, error(STATUSES, BODY)).only_whole().only_translated().patient().run();
}

#[test]
fn a_web_page() {
    let page = |_: Shape, _: bool| vec![Step::send(answers::document(200, "text/html; charset=utf-8", "", PAGE))];
    Fault::on_request(page, error(STATUSES, BODY)).run();
}

#[test]
fn a_web_page_that_passes_for_json() {
    let page = |_: Shape, stream| vec![Step::send(answers::head(stream) + &answers::piece(PAGE) + answers::LAST)];
    Fault::on_request(page, error(STATUSES, BODY)).run();
}

#[test]
fn an_error_in_place_of_an_answer() {
    let answer = |shape, _| vec![Step::send(answers::document(200, "application/json", "", &answers::error(shape, 503)))];
    // Without another target, a whole document in the client's own dialect may keep the status it came with.
    Fault::on_request(answer, error(&[200, 500, 502, 503, 529], BODY)).only_whole().run();
}

#[test]
fn a_whole_answer_that_is_sound_is_taken() {
    Fault::on_request(|shape, stream| vec![Step::send(answers::sound(shape, stream))], End::Served("Hello there")).patient().run();
}

#[test]
fn the_record_of_a_length_of_nothing_names_it_where_no_other_target_is_left() {
    let empty = |_: Shape, _: bool| vec![Step::send(answers::document(200, "application/json", "", ""))];
    Fault::on_request(empty, error(STATUSES, BODY)).strict().run();
}
