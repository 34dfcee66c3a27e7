//! The Community build, which an Enterprise licence does not turn into another.

use std::net::TcpStream;

use serde_json::json;
use svc_tests::ports::free_address;

use crate::downgrade::expect_gated;
use crate::stage::Stage;

#[test]
fn the_community_build_has_no_enterprise_functions_whatever_the_licence() {
    let stage = Stage::with(|options| {
        let mut options = options.with("guardrail_models: {url: \"http://127.0.0.1:1\"}\n");
        options.program = "svc-gateway-community";
        options
    });
    let shown = stage.shown();
    assert_eq!(shown.row(), (200, "ok", "community", "enterprise", "valid", "environment", None, false));
    let licence = stage.licence();
    assert_eq!(licence["build"], "community", "{licence}");
    let unavailable = licence["capabilities"].as_array().expect("a list").iter().filter(|capability| capability["available"] == false);
    assert_eq!(unavailable.count(), 8, "{licence}");
    expect_gated(&stage.admin);
    assert_eq!(licence["caps"]["api_keys"], json!({"count": 4, "cap": null}), "a licence of either edition lifts the caps");
}

#[test]
fn the_community_build_has_no_metrics_and_says_so_once() {
    let address = free_address();
    let stage = Stage::with(|options| {
        let mut options = options.with(&format!("metrics: {{enabled: true, port: {}}}\n", address.port()));
        options.program = "svc-gateway-community";
        options
    });
    let told = stage.gateway.log().lines().filter(|line| line.contains("metrics are unavailable")).count();
    assert_eq!(told, 1, "{}", stage.gateway.log());
    assert!(TcpStream::connect(address).is_err(), "nobody listens");
}
