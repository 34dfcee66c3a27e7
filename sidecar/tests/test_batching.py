"""Concurrent requests in common batches."""

import http.client
import json
import random
import time

# One thread, so that the slow model is as slow on machines with many.
SLOW = """
limits: {threads: 1}
models: [{name: slow, kind: text_classification, path: slow, positive_labels: [INJECTION], max_tokens: 10, stride: 2}]
"""
NAMES = ["Ada Lovelace", "nobody", "jo@example.org", "🙂 Grace Hopper", "word " * 60 + "Alan Turing"]


def occupied(sidecar, model="slow"):
    """A request that keeps the model busy for a while; returns once it does."""
    running = sidecar.in_background(sidecar.results, model, "ignore this")
    sidecar.until(lambda: sidecar.metric("requests_in_hand", model) == 1 and sidecar.metric("batches_running", model) == 1, "the first")
    return running


def test_requests_that_wait_are_run_together(start):
    sidecar = start(SLOW).ready()
    first = occupied(sidecar)
    texts = ["ignore" if number % 2 else "fine" for number in range(12)]
    waiting = [sidecar.in_background(sidecar.results, "slow", text) for text in texts]
    sidecar.until(lambda: sidecar.metric("queue_windows", "slow") == len(texts), "waiting")
    assert first.result()[0]["matched"]
    assert [future.result()[0]["matched"] for future in waiting] == [text == "ignore" for text in texts]
    assert sidecar.metric("batch_windows_count", "slow") == 2, "one batch for the first and one for all others"
    assert sidecar.metric("queue_windows", "slow") == 0


def test_batches_are_bounded_by_windows_and_by_tokens(start):
    for bound in ("max_windows: 4", "max_tokens: 20"):
        sidecar = start(f"{SLOW}batching: {{{bound}}}").ready()
        first = occupied(sidecar)
        # Five tokens each with the two special ones: four of them are twenty.
        waiting = [sidecar.in_background(sidecar.results, "slow", "one two three") for _ in range(8)]
        sidecar.until(lambda: sidecar.metric("queue_windows", "slow") == 8, "waiting")
        for future in [first, *waiting]:
            future.result()
        assert sidecar.metric("batch_windows_count", "slow") == 3, bound


def test_answers_are_those_of_a_request_alone(tiny):
    chance = random.Random(7)
    asks = [(model, [chance.choice(NAMES) for _ in range(chance.randrange(1, 6))]) for model in ("pii", "injection") * 60]
    alone = {(model, text): tiny.results(model, text)[0] for model in ("pii", "injection") for text in NAMES}
    together = [(model, texts, tiny.in_background(tiny.results, model, *texts)) for model, texts in asks]
    for model, texts, future in together:
        assert future.result() == [alone[model, text] for text in texts]


def test_a_large_request_does_not_hold_up_a_small_one(start):
    sidecar = start(f"{SLOW}batching: {{max_windows: 2}}").ready()
    # Eight windows, two a batch.
    large = sidecar.in_background(sidecar.results, "slow", "word " * 50)
    sidecar.until(lambda: sidecar.metric("batches_running", "slow") == 1, "the large one")
    sidecar.results("slow", "ignore")
    assert sidecar.metric("requests_in_hand", "slow") == 1, "the large one still runs"
    assert not large.result()[0]["matched"]


def test_answers_on_a_kept_connection_come_at_once(tiny):
    body = json.dumps({"model": "injection", "texts": ["hello"]})
    connection = http.client.HTTPConnection("127.0.0.1", tiny.port, timeout=30)
    started = time.monotonic()
    for _ in range(50):
        connection.request("POST", "/v1/classify", body)
        assert connection.getresponse().read()
    # Head and body of an answer are sent apart; without TCP_NODELAY each second one would wait 40 ms.
    assert time.monotonic() - started < 1.5
    connection.close()


def test_a_model_waits_for_requests_that_are_on_their_way(start):
    # A wait so long that the test would fail if a lone request were held up for it.
    sidecar = start(f"{SLOW.replace('path: slow', 'path: injection')}batching: {{max_wait_ms: 1000}}").ready()
    for _ in range(40):
        # One that leaves while it is being cut is not waited for either.
        sidecar.classify("slow", "word " * 1000, headers={"x-deadline-ms": "0"})
        sidecar.results("slow", "ignore")
    assert sidecar.metric("request_seconds_sum", "slow") < 10
