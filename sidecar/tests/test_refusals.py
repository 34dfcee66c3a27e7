"""Requests that get no results."""

import json
import socket

import pytest
from test_batching import occupied

ONE = "models: [{name: m, kind: text_classification, path: injection, positive_labels: [INJECTION]}]\n"
SLOW = ONE.replace("path: injection", "path: slow") + "limits: {threads: 1}\n"
SECRET = "xyzzy-secret"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"model": ' + b"9" * 5000 + b"}",
        b'{"texts": ["xyzzy-secret"]}',
        b'{"model": 7, "texts": ["xyzzy-secret"]}',
        b'{"model": "injection"}',
        b'{"model": "injection", "texts": "xyzzy-secret"}',
        b'{"model": "injection", "texts": []}',
        b'{"model": "injection", "texts": ["xyzzy-secret", null]}',
        b'{"model": "injection", "texts": ["xyzzy-secret \\ud83d"]}',
        b'{"model": "injection", "texts": ["xyzzy-secret"], "threshold": "0.5"}',
        b'{"model": "injection", "texts": ["xyzzy-secret"], "threshold": true}',
        b'{"model": "injection", "texts": ["xyzzy-secret"], "threshold": 1.5}',
        b'{"model": "injection", "texts": ["xyzzy-secret"], "threshold": NaN}',
    ],
)
def test_a_body_of_another_form_is_refused(tiny, body):
    answer = tiny.ask("POST", "/v1/classify", body)
    assert answer.error == (400, "invalid_request")
    assert SECRET not in answer.body.decode()


def test_members_nobody_knows_are_passed_over(tiny):
    assert tiny.classify("injection", "hello", trace="abc").status == 200


def test_an_unknown_model_is_named_as_such(tiny):
    assert tiny.classify("nobody", SECRET).error == (404, "unknown_model")
    assert tiny.metric("requests_total", "unknown_model", "") == 1


def test_other_paths_and_methods_are_refused_as_json(tiny):
    assert tiny.ask("GET", "/").error == (404, "invalid_request")
    answer = tiny.ask("GET", "/v1/classify")
    assert answer.error == (405, "invalid_request") and answer.headers["allow"] == "POST"


def test_what_is_too_large_is_refused(start):
    sidecar = start(f"{ONE}limits: {{texts_per_request: 2, characters_per_text: 10, body_bytes: 1000}}").ready()
    assert sidecar.classify("m", "🙂" * 10, "b").status == 200
    assert sidecar.classify("m", "a", "b", "c").error == (413, "too_large")
    assert sidecar.classify("m", "a" * 11).error == (413, "too_large")
    assert sidecar.ask("POST", "/v1/classify", b" " * 1001).error == (413, "too_large")
    chunked = iter([b" " * 600, b" " * 600])
    assert sidecar.ask("POST", "/v1/classify", chunked).error == (413, "too_large")


def test_a_body_that_claims_to_be_too_large_is_not_waited_for(start):
    sidecar = start(f"{ONE}limits: {{body_bytes: 1000}}").ready()
    with socket.create_connection(("127.0.0.1", sidecar.port), timeout=10) as connection:
        connection.sendall(b"POST /v1/classify HTTP/1.1\r\nhost: x\r\ncontent-length: 999999999999\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 413 ")


def test_what_cannot_be_done_in_time_is_refused(start):
    sidecar = start(SLOW).ready()
    first = occupied(sidecar, "m")
    answer = sidecar.classify("m", "ignore", headers={"x-deadline-ms": "20"})
    assert answer.error == (504, "deadline_exceeded")
    assert sidecar.metric("requests_in_hand", "m") == 1, "it came while the first was running"
    assert first.result()[0]["matched"]
    assert sidecar.metric("queue_windows", "m") == 0
    assert sidecar.results("m", "ignore")[0]["matched"]
    assert sidecar.metric("batch_windows_sum", "m") == 2, "the model was not asked for what nobody waits for"


def test_no_time_at_all_is_never_enough(tiny):
    assert tiny.classify("injection", "a", headers={"x-deadline-ms": "0"}).error == (504, "deadline_exceeded")
    assert tiny.classify("injection", "a", headers={"x-deadline-ms": "999999999999"}).status == 200


@pytest.mark.parametrize("value", ["", "-1", "1.5", "soon", "1" * 16])
def test_a_deadline_that_is_no_number_is_refused(tiny, value):
    assert tiny.classify("injection", "a", headers={"x-deadline-ms": value}).error == (400, "invalid_request")


def test_the_configured_deadline_bounds_a_body_that_does_not_come(start):
    sidecar = start(f"{ONE}limits: {{deadline_ms: 100}}").ready()
    with socket.create_connection(("127.0.0.1", sidecar.port), timeout=10) as connection:
        connection.sendall(b"POST /v1/classify HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\n{")
        assert connection.recv(100).startswith(b"HTTP/1.1 504 ")


def test_more_requests_than_the_queue_holds_are_refused(start):
    sidecar = start(SLOW.replace("threads: 1", "threads: 1, queue: 2")).ready()
    first = occupied(sidecar, "m")
    second = sidecar.in_background(sidecar.results, "m", "ignore")
    sidecar.until(lambda: sidecar.metric("requests_in_hand", "m") == 2, "the second")
    answer = sidecar.classify("m", "ignore")
    assert answer.error == (503, "overloaded") and answer.headers["retry-after"] == "1"
    assert first.result()[0]["matched"] and second.result()[0]["matched"]
    assert sidecar.classify("m", "ignore").status == 200
    assert sidecar.metric("requests_total", "overloaded", "m") == 1


def test_bodies_that_do_not_come_take_no_more_places_than_there_are(start):
    sidecar = start(f"{ONE}limits: {{queue: 1}}").ready()
    with socket.create_connection(("127.0.0.1", sidecar.port), timeout=10) as connection:
        connection.sendall(b"POST /v1/classify HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\n{")
        sidecar.until(lambda: sidecar.classify("m", "a").status == 503, "the place is taken")
    sidecar.until(lambda: sidecar.classify("m", "a").status == 200, "the place is free again")


def test_a_token_is_asked_for_where_there_is_one(start):
    sidecar = start(f"{ONE}token_env: TOKEN", environment={"TOKEN": "correct horse"})
    headers = {"authorization": "Bearer correct horse"}
    sidecar.ready()
    assert sidecar.classify("m", "ignore", headers=headers).status == 200
    for wrong in ({}, {"authorization": "Bearer correct"}, {"authorization": "Basic correct horse"}, {"authorization": "Bearer é"}):
        answer = sidecar.classify("m", "ignore", headers=wrong)
        assert answer.error == (401, "unauthorized") and answer.headers["www-authenticate"] == "Bearer"
    assert sidecar.ask("GET", "/metrics").error == (401, "unauthorized")
    assert b"svc_sidecar_requests_total" in sidecar.ask("GET", "/metrics", headers=headers).body
    assert "correct horse" not in sidecar.log


def test_texts_are_never_logged(tiny):
    for body in (json.dumps({"model": "pii", "texts": [SECRET]}), json.dumps({"model": SECRET, "texts": [SECRET]}), SECRET):
        tiny.ask("POST", "/v1/classify", body)
    assert SECRET not in tiny.log
    assert SECRET not in tiny.ask("GET", "/metrics").body.decode()
