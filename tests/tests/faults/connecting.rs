//! Providers to whom no connection comes about.

use svc_tests::certificates::certify;
use svc_tests::faulty::{Faulty, Step, closed_port, full_backlog};
use svc_tests::upstream::Upstream;

use crate::matrix::{End, Fault, NO_ANSWER, Stand, gateway};
use crate::send_then;

#[test]
fn a_closed_port() {
    Fault::new(|| Stand::place(closed_port()), gateway(&[503], &["refused"])).run();
}

#[test]
fn a_port_that_does_not_answer() {
    Fault::new(|| Stand::place(full_backlog()), gateway(&[504], &["timeout"])).run();
}

#[test]
fn a_name_without_an_address() {
    Fault::new(|| Stand::at("http://nowhere.invalid", "", Vec::new()), gateway(&[503], &["dns"])).run();
}

#[test]
fn a_connection_that_is_accepted_and_left_alone() {
    let stand = || Stand::faulty(Faulty::on_accept(vec![Step::Hang]));
    Fault::new(stand, gateway(&[504], &["timeout"])).lets_go().run();
}

#[test]
fn a_connection_that_is_reset_at_once() {
    let stand = || Stand::faulty(Faulty::on_accept(vec![Step::Reset]));
    Fault::new(stand, gateway(NO_ANSWER, &["closed", "connect", "error"])).run();
}

#[test]
fn a_connection_that_is_closed_at_once() {
    let stand = || Stand::faulty(Faulty::on_accept(vec![Step::Close]));
    Fault::new(stand, gateway(NO_ANSWER, &["closed", "connect", "error"])).run();
}

#[test]
fn something_else_in_place_of_a_handshake() {
    let words = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
    let stand = move || Stand::faulty(Faulty::on_accept(send_then(words, Step::Hang))).over_tls();
    Fault::new(stand, gateway(&[503], &["tls"])).lets_go().run();
}

#[test]
fn a_reset_in_place_of_a_handshake() {
    let stand = || Stand::faulty(Faulty::on_accept(vec![Step::Reset])).over_tls();
    Fault::new(stand, gateway(&[503], &["tls", "closed", "connect"])).run();
}

#[test]
fn a_handshake_that_is_never_answered() {
    let stand = || Stand::faulty(Faulty::on_accept(vec![Step::Hang])).over_tls();
    Fault::new(stand, gateway(&[504], &["timeout"])).lets_go().run();
}

#[test]
fn a_certificate_nobody_vouches_for() {
    Fault::new(|| certified("127.0.0.1", 2, Trust::Nobody), gateway(&[503], &["tls"])).run();
}

#[test]
fn a_certificate_of_another_host() {
    Fault::new(|| certified("127.0.0.2", 2, Trust::Authority), gateway(&[503], &["tls"])).run();
}

#[test]
fn a_certificate_that_has_expired() {
    Fault::new(|| certified("127.0.0.1", -1, Trust::Authority), gateway(&[503], &["tls"])).run();
}

#[test]
fn a_certificate_that_is_sound_is_taken() {
    Fault::new(|| certified("127.0.0.1", 2, Trust::Authority), End::Served("You said")).patient().run();
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    Nobody,
    Authority,
}

/// A provider over TLS, with a certificate for a host that expires in so many days.
fn certified(host: &str, days: i32, trust: Trust) -> Stand {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path();
    certify(path, &format!("IP:{host}"), days);
    let upstream = Upstream::start_tls(path.join("leaf.pem"), path.join("leaf.key"));
    let ca = if trust == Trust::Authority { format!(", ca: \"{}\"", path.join("ca.pem").display()) } else { String::new() };
    let url = upstream.url().replace("http://", "https://");
    Stand::at(&url, &ca, vec![Box::new(upstream), Box::new(folder)])
}
