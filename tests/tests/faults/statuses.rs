//! Providers that answer with an error.

use std::time::Duration;

use svc_tests::faulty::{Step, answers};
use svc_tests::shapes::Shape;

use crate::matrix::{End, Fault, gateway, upstream};

const STATUS: &[&str] = &["status"];

/// An error in the vendor's own form.
fn told(shape: Shape, status: u16) -> Vec<Step> {
    vec![Step::send(answers::document(status, "application/json", "", &answers::error(shape, status)))]
}

/// An error whose body never comes to its end.
fn cut(status: u16) -> Vec<Step> {
    let head = format!("HTTP/1.1 {status} Faulty\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n");
    vec![Step::send(head + "{\"error\": {\"mess"), Step::Close]
}

#[test]
fn status_408() {
    Fault::on_request(|shape, _| told(shape, 408), upstream(&[408], &[408, 504], STATUS)).run();
}

#[test]
fn status_429() {
    Fault::on_request(|shape, _| told(shape, 429), upstream(&[429], &[429], STATUS)).run();
}

#[test]
fn status_429_whose_body_never_comes() {
    let silent = |_: Shape, _: bool| {
        vec![Step::send("HTTP/1.1 429 Busy\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n"), Step::Hang]
    };
    Fault::on_request(silent, upstream(&[429], &[429], &["status", "timeout"])).lets_go().run();
}

#[test]
fn status_429_whose_body_never_ends() {
    let endless = |_: Shape, _: bool| {
        let head = "HTTP/1.1 429 Busy\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
        let piece = answers::piece(&"no end ".repeat(10_000));
        vec![Step::send(head), Step::Repeat(piece.into_bytes(), Duration::from_millis(1))]
    };
    Fault::on_request(endless, upstream(&[429], &[429], &["status", "closed"])).patient().lets_go().run();
}

#[test]
fn status_429_whose_body_breaks_off() {
    Fault::on_request(|_, _| cut(429), upstream(&[429], &[429], &["status", "closed"])).run();
}

#[test]
fn status_500() {
    Fault::on_request(|shape, _| told(shape, 500), upstream(&[500], &[500], STATUS)).run();
}

#[test]
fn status_502() {
    Fault::on_request(|shape, _| told(shape, 502), upstream(&[502], &[500, 502], STATUS)).run();
}

#[test]
fn status_503() {
    Fault::on_request(|shape, _| told(shape, 503), upstream(&[503], &[503, 529], STATUS)).run();
}

#[test]
fn status_504() {
    Fault::on_request(|shape, _| told(shape, 504), upstream(&[504], &[504], STATUS)).run();
}

#[test]
fn status_529() {
    Fault::on_request(|shape, _| told(shape, 529), upstream(&[529], &[503, 529], STATUS)).run();
}

#[test]
fn a_status_with_a_web_page() {
    let page = |_: Shape, _: bool| vec![Step::send(answers::document(502, "text/html", "", "<html><h1>502 Bad Gateway</h1></html>"))];
    Fault::on_request(page, upstream(&[502], &[500, 502], STATUS)).run();
}

#[test]
fn a_status_without_a_body() {
    let empty = |_: Shape, _: bool| vec![Step::send("HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n")];
    Fault::on_request(empty, upstream(&[503], &[503, 529], STATUS)).run();
}

#[test]
fn a_status_with_a_body_of_no_chunks() {
    let empty = |_: Shape, _: bool| vec![Step::send("HTTP/1.1 503 Busy\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n")];
    Fault::on_request(empty, upstream(&[503], &[503, 529], STATUS)).run();
}

#[test]
fn a_status_whose_body_breaks_off() {
    Fault::on_request(|_, _| cut(503), upstream(&[503], &[503, 529], &["status", "closed"])).run();
}

#[test]
fn a_status_of_the_clients_own_whose_body_breaks_off() {
    Fault::on_request(|_, _| cut(404), End::Passed(404)).run();
}

#[test]
fn a_status_whose_body_stops_half_way() {
    let silent = |_: Shape, _: bool| {
        let mut steps = cut(503);
        steps.pop();
        steps.push(Step::Hang);
        steps
    };
    Fault::on_request(silent, upstream(&[503], &[503, 529], &["status", "timeout"])).lets_go().run();
}

#[test]
fn a_credential_that_is_refused_is_no_business_of_the_client() {
    for status in [401, 402, 403] {
        let answer = match status {
            401 => |shape, _| told(shape, 401),
            402 => |shape, _| told(shape, 402),
            _ => |shape, _| told(shape, 403),
        };
        Fault::on_request(answer, gateway(&[502], &["credential"])).run();
    }
}

#[test]
fn a_request_that_is_wrong() {
    Fault::on_request(|shape, _| told(shape, 400), End::Passed(400)).run();
}

#[test]
fn a_model_that_is_unknown() {
    Fault::on_request(|shape, _| told(shape, 404), End::Passed(404)).run();
}

#[test]
fn a_request_that_is_too_large() {
    Fault::on_request(|shape, _| told(shape, 413), End::Passed(413)).run();
}

#[test]
fn the_record_of_an_error_status_names_it_where_no_other_target_is_left() {
    Fault::on_request(|shape, _| told(shape, 503), upstream(&[503], &[503, 529], STATUS)).strict().run();
}
