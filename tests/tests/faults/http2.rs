//! Providers that fail over HTTP/2, where streams and connections end each in their own way.

use h2::Reason;
use svc_tests::faulty::answers;
use svc_tests::faulty::http2::{Course, End as Over, Http2Server};
use svc_tests::shapes::Shape;

use crate::matrix::{End, Fault, NO_ANSWER, SILENT, Stand, error, gateway, upstream};

const JSON: Option<&str> = Some("application/json");
const EVENTS: Option<&str> = Some("text/event-stream");
const BROKEN: &[&str] = &["closed", "error", "truncated"];

/// A fault of the answer to a request.
fn fault(decide: fn(Shape, bool) -> Course, end: End) -> Fault {
    let stand = move || {
        let server = Http2Server::start(move |request| {
            let (shape, stream) = answers::asked(request);
            decide(shape, stream)
        });
        Stand::at(&server.url(), ", http2: always", vec![Box::new(server)])
    };
    Fault::new(stand, end)
}

/// A stream up to and with its content, and its end.
fn begun(shape: Shape, end: Over) -> Course {
    Course::Answered(200, EVENTS, answers::opening(shape) + &answers::content(shape), end)
}

fn status(shape: Shape, status: u16) -> Course {
    Course::Answered(status, JSON, answers::error(shape, status), Over::Stream)
}

#[test]
fn a_sound_answer_is_taken() {
    let sound = |shape, stream| {
        let (kind, body) = if stream { (EVENTS, answers::stream(shape)) } else { (JSON, answers::whole(shape)) };
        Course::Answered(200, kind, body, Over::Stream)
    };
    fault(sound, End::Served("Hello there")).patient().run();
}

#[test]
fn a_stream_that_is_refused() {
    fault(|_, _| Course::Refused, gateway(NO_ANSWER, BROKEN)).run();
}

#[test]
fn a_connection_that_goes_away_without_an_error() {
    fault(|_, _| Course::GoneAway(Reason::NO_ERROR), gateway(NO_ANSWER, BROKEN)).run();
}

#[test]
fn a_connection_that_goes_away_with_an_error() {
    fault(|_, _| Course::GoneAway(Reason::ENHANCE_YOUR_CALM), gateway(NO_ANSWER, BROKEN)).run();
}

#[test]
fn a_reset_after_the_head() {
    let answer = |_: Shape, stream| Course::Answered(200, if stream { EVENTS } else { JSON }, String::new(), Over::Reset);
    fault(answer, error(NO_ANSWER, BROKEN)).run();
}

#[test]
fn silence_after_the_head() {
    let answer = |_: Shape, stream| Course::Answered(200, if stream { EVENTS } else { JSON }, String::new(), Over::Hang);
    fault(answer, error(SILENT, &["timeout"])).run();
}

#[test]
fn an_answer_without_a_body() {
    let answer = |_: Shape, stream| Course::Answered(200, if stream { EVENTS } else { JSON }, String::new(), Over::Stream);
    fault(answer, error(NO_ANSWER, BROKEN)).run();
}

#[test]
fn a_body_of_nothing() {
    let answer = |_: Shape, stream| Course::Answered(200, if stream { EVENTS } else { JSON }, String::new(), Over::Later);
    fault(answer, error(&[500, 502, 503], BROKEN)).run();
}

#[test]
fn a_reset_after_content() {
    fault(|shape, _| begun(shape, Over::Reset), End::Broken).only_stream().run();
}

#[test]
fn a_connection_that_goes_away_after_content() {
    fault(|shape, _| begun(shape, Over::GoneAway), End::Broken).only_stream().run();
}

#[test]
fn a_connection_that_closes_after_content() {
    fault(|shape, _| begun(shape, Over::Closed), End::Broken).only_stream().run();
}

#[test]
fn an_end_after_content_as_if_all_were_said() {
    fault(|shape, _| begun(shape, Over::Later), End::Broken).only_stream().run();
}

#[test]
fn status_429() {
    fault(|shape, _| status(shape, 429), upstream(&[429], &[429], &["status"])).run();
}

#[test]
fn status_503() {
    fault(|shape, _| status(shape, 503), upstream(&[503], &[503, 529], &["status"])).run();
}

#[test]
fn status_404() {
    fault(|shape, _| status(shape, 404), End::Passed(404)).run();
}

#[test]
fn a_status_without_a_body() {
    fault(|_, _| Course::Answered(503, None, String::new(), Over::Stream), upstream(&[503], &[503, 529], &["status"])).run();
}

#[test]
fn a_status_without_the_body_it_speaks_of() {
    let answer = |_: Shape, _: bool| Course::Answered(503, JSON, String::new(), Over::Stream);
    fault(answer, upstream(&[503], &[503, 529], &["status", "closed"])).run();
}

#[test]
fn a_status_without_the_body_that_could_say_when_to_come_again() {
    let answer = |_: Shape, _: bool| Course::Answered(429, JSON, String::new(), Over::Stream);
    fault(answer, upstream(&[429], &[429], &["status", "closed"])).run();
}

#[test]
fn a_status_whose_body_is_reset() {
    let answer = |_: Shape, _: bool| Course::Answered(503, JSON, "{\"error\": {\"mess".to_owned(), Over::Reset);
    fault(answer, upstream(&[503], &[503, 529], &["status", "closed", "error"])).run();
}
