//! The traffic that release builds are optimised for is answered.

#[test]
fn every_kind_of_traffic_is_answered() {
    svc_tests::traffic::send(&svc_tests::gateway::program("svc-gateway"), 1);
}
