//! Providers that take the request and give no answer, or none that is one.

use std::time::Duration;

use svc_tests::faulty::{Step, answers};

use crate::matrix::{End, Fault, NO_ANSWER, SILENT, error, gateway};
use crate::send_then;

const INTERIM: &str = "HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n";

#[test]
fn a_reset_before_the_head() {
    Fault::on_request(|_, _| vec![Step::Reset], gateway(NO_ANSWER, &["closed"])).run();
}

#[test]
fn an_end_before_the_head() {
    Fault::on_request(|_, _| vec![Step::Close], gateway(NO_ANSWER, &["closed"])).run();
}

#[test]
fn silence_before_the_head() {
    Fault::on_request(|_, _| vec![Step::Hang], gateway(&[504], &["timeout"])).lets_go().run();
}

#[test]
fn a_head_that_arrives_byte_by_byte_and_never_ends() {
    let answer = |_, _| {
        let lines: String = (0..200).map(|number| format!("x-line-{number}: still coming\r\n")).collect();
        vec![Step::Drip(format!("HTTP/1.1 200 OK\r\n{lines}").into_bytes(), Duration::from_millis(50)), Step::Hang]
    };
    Fault::on_request(answer, gateway(&[504], &["timeout"])).lets_go().run();
}

#[test]
fn a_head_that_is_cut_off() {
    let answer = |_, _| send_then("HTTP/1.1 200 OK\r\ncontent-type: applica", Step::Close);
    Fault::on_request(answer, gateway(NO_ANSWER, &["closed", "error"])).run();
}

#[test]
fn a_head_that_is_too_large() {
    let answer = |_, _| {
        let lines: String = (0..4096).map(|number| format!("x-line-{number}: {}\r\n", "a".repeat(256))).collect();
        send_then(format!("HTTP/1.1 200 OK\r\n{lines}\r\n"), Step::Hang)
    };
    Fault::on_request(answer, gateway(NO_ANSWER, &["closed", "error"])).lets_go().run();
}

#[test]
fn an_answer_that_is_no_http() {
    let answer = |_, _| send_then("SSH-2.0-OpenSSH_9.6\r\n\r\n", Step::Close);
    Fault::on_request(answer, gateway(NO_ANSWER, &["closed", "error"])).run();
}

#[test]
fn interim_heads_without_end() {
    let answer = |_, _| vec![Step::Repeat(INTERIM.as_bytes().to_vec(), Duration::from_millis(2))];
    Fault::on_request(answer, gateway(&[504], &["timeout"])).lets_go().run();
}

#[test]
fn interim_heads_before_a_sound_answer() {
    let answer = |shape, stream| vec![Step::send(INTERIM.repeat(100)), Step::send(answers::sound(shape, stream))];
    Fault::on_request(answer, End::Served("Hello there")).patient().run();
}

#[test]
fn silence_after_the_head() {
    let answer = |_, stream| send_then(answers::head(stream), Step::Hang);
    Fault::on_request(answer, error(SILENT, &["timeout"])).run();
}

#[test]
fn a_reset_after_the_head() {
    let answer = |_, stream| send_then(answers::head(stream), Step::Reset);
    Fault::on_request(answer, error(NO_ANSWER, &["closed", "truncated"])).run();
}

#[test]
fn an_end_after_the_head() {
    let answer = |_, stream| send_then(answers::head(stream), Step::Close);
    Fault::on_request(answer, error(NO_ANSWER, &["closed", "truncated", "error"])).run();
}

#[test]
fn a_sound_answer_that_arrives_byte_by_byte() {
    let answer = |shape, stream| vec![Step::Drip(answers::sound(shape, stream).into_bytes(), Duration::from_micros(500))];
    Fault::on_request(answer, End::Served("Hello there")).patient().run();
}
