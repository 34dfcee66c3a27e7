"""From start to stop."""

import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from onnx import helper
from sidecar import HOME, PATIENCE_SECONDS
from test_batching import SLOW, occupied
from tiny_models import make_tokenizer, save

MODEL = "{name: %s, kind: text_classification, path: %s, positive_labels: [INJECTION]}"


@pytest.fixture
def stuck(models):
    """A model that takes until somebody writes its config.json."""
    folder = models / "stuck"
    shutil.copytree(models / "injection", folder)
    (folder / "config.json").unlink()
    os.mkfifo(folder / "config.json")
    yield folder / "config.json"
    shutil.rmtree(folder)


def test_health_tells_when_models_are_loaded(start, models, stuck):
    sidecar = start(f"models: [{MODEL % ('first', 'injection')}, {MODEL % ('second', 'stuck')}]")
    sidecar.until(lambda: sidecar.ask("GET", "/health").json["models"]["first"]["loaded"], "the first")
    health = sidecar.ask("GET", "/health")
    kind = "text_classification"
    models_then = {"first": {"kind": kind, "loaded": True}, "second": {"kind": kind, "loaded": False}}
    assert (health.status, health.json) == (503, {"status": "loading", "models": models_then})
    assert sidecar.classify("first", "ignore").status == 200
    answer = sidecar.classify("second", "ignore")
    assert answer.error == (503, "overloaded") and answer.headers["retry-after"] == "1"

    stuck.write_bytes((models / "injection/config.json").read_bytes())
    sidecar.ready()
    models_now = {name: {"kind": kind, "loaded": True} for name in ("first", "second")}
    assert sidecar.ask("GET", "/health").json == {"status": "ok", "models": models_now}
    assert sidecar.classify("second", "ignore").status == 200


def test_nothing_is_kept_to_be_told_to_anybody_else(start, monkeypatch, tmp_path):
    # What would be sent is first kept in a folder of the user; not where continuous integration is seen.
    for name in ("CI", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    environment = {name: str(home) for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR")}
    sidecar = start(f"models: [{MODEL % ('first', 'injection')}]", environment=environment).ready()
    assert sidecar.classify("first", "ignore").status == 200
    sidecar.process.send_signal(signal.SIGTERM)
    assert sidecar.process.wait(PATIENCE_SECONDS) == 0
    assert list(home.rglob("*")) == []
    assert "telemetry" not in sidecar.log


def test_a_stop_while_models_load_is_not_delayed(start, stuck):
    sidecar = start(f"models: [{MODEL % ('m', 'stuck')}]")
    sidecar.until(lambda: sidecar.ask("GET", "/health").status == 503, "serving")
    sidecar.process.send_signal(signal.SIGTERM)
    assert sidecar.process.wait(10) == 0


def test_a_stop_lets_running_requests_finish(start):
    sidecar = start(SLOW).ready()
    first = occupied(sidecar)
    second = sidecar.in_background(sidecar.results, "slow", "ignore")
    sidecar.until(lambda: sidecar.metric("queue_windows", "slow") == 1, "the second")
    sidecar.process.send_signal(signal.SIGTERM)
    assert first.result()[0]["matched"] and second.result()[0]["matched"]
    assert sidecar.process.wait(10) == 0
    assert "stopped" in sidecar.log
    with pytest.raises(ConnectionRefusedError):
        sidecar.ask("GET", "/health")


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("{name: m, kind: token_classification, path: missing}", "has neither model.onnx nor onnx/model.onnx"),
        ("{name: m, kind: text_classification, path: injection, positive_labels: [NOPE]}", "no label NOPE; it has SAFE, INJECTION"),
        ("{name: m, kind: token_classification, path: pii, positive_labels: [NOPE]}", "no label NOPE; it has O, PERSON, EMAIL"),
        ("{name: m, kind: token_classification, path: injection}", "is the kind right?"),
        ("{name: m, kind: text_classification, path: pii, positive_labels: [O]}", "is the kind right?"),
        ("{name: m, kind: token_classification, path: pii, max_tokens: 10, stride: 8}", "stride 8 does not fit"),
        ("{name: m, kind: token_classification, path: pii, max_tokens: 2}", "room for 0"),
        ("{name: m, kind: token_classification, path: pii, activation: sigmoid}", "not for token classification"),
        ("{name: m, kind: token_classification, path: short, max_tokens: 17}", "a first run failed"),
        ("{name: m, kind: token_classification, path: broken}", "model.onnx cannot be loaded"),
        ("{name: m, kind: token_classification, path: no-labels}", "config.json has no id2label"),
        ("{name: m, kind: token_classification, path: no-tokenizer}", "tokenizer.json is missing"),
    ],
)
def test_a_model_that_cannot_be_loaded_is_told(start, models, model, reason):
    for name, file in (("broken", "model.onnx"), ("no-labels", "config.json"), ("no-tokenizer", "tokenizer.json")):
        shutil.copytree(models / "pii", models / name, dirs_exist_ok=True)
        (models / name / file).write_text("{}")
    (models / "no-tokenizer/tokenizer.json").unlink()
    make_short(models / "short")
    sidecar = start(f"models: [{model}, {MODEL % ('good', 'injection')}]")
    health = sidecar.until(lambda: loaded(sidecar), "the good one")
    assert health.status == 503 and health.json["status"] == "failed" and health.json["models"]["m"]["loaded"] is False
    assert sidecar.classify("m", "a").error == (500, "internal")
    assert sidecar.classify("good", "ignore").status == 200
    assert reason in sidecar.log and "Traceback" not in sidecar.log


def make_short(folder):
    """A model that has a place for 16 tokens and no more."""
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Shape", ["input_ids"], ["length"], start=1),
        helper.make_node("Slice", ["places", "first", "length"], ["used"]),
        helper.make_node("Add", ["rows", "used"], ["logits"]),
    ]
    tokenizer = make_tokenizer(["Ada"], lower=False)
    table = np.zeros((tokenizer.get_vocab_size(), 2), dtype=np.float32)
    constants = {"table": table, "places": np.zeros((16, 2), dtype=np.float32), "first": np.array([0])}
    save(folder, nodes, constants, ["batch", "tokens", 2], tokenizer, ["O", "PERSON"])


def test_a_model_takes_as_many_tokens_as_it_has_places_for(start, models):
    make_short(models / "fitting")
    start("models: [{name: m, kind: token_classification, path: fitting, max_tokens: 16}]").ready()


def loaded(sidecar):
    health = sidecar.ask("GET", "/health")
    return health if health.json["models"]["good"]["loaded"] else None


def test_settings_beside_the_graph_come_first(start, models):
    folder = models / "nested"
    shutil.copytree(models / "injection", folder / "onnx")
    for name in ("config.json", "tokenizer.json"):
        (folder / name).write_text("{}")
    sidecar = start(f"models: [{MODEL % ('m', 'nested')}]").ready()
    assert sidecar.results("m", "ignore")[0]["matched"]


@pytest.mark.parametrize(
    ("config", "arguments", "status", "text"),
    [
        ("models: [{name: m, kind: token_classification, path: x}]", ["--check"], 0, ""),
        ("models: [{name: m, kind: token_classification, path: x, strid: 4}]", [], 2, "models[0].strid: unknown key"),
        ("models: [{name: m, kind: token_classification, path: x}]", ["--listen", "nowhere"], 2, "--listen: expected HOST:PORT"),
        ("{", [], 2, "is not YAML"),
    ],
)
def test_the_command_line_tells_what_is_wrong(tmp_path, config, arguments, status, text):
    path = tmp_path / "sidecar.yaml"
    path.write_text(config)
    command = [sys.executable, "-m", "svc_sidecar", "--config", str(path), *arguments]
    ended = subprocess.run(command, cwd=HOME, capture_output=True, text=True, timeout=30)
    assert ended.returncode == status and text in ended.stderr, ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_port_that_is_taken_is_told(tiny, models):
    command = [sys.executable, "-m", "svc_sidecar", "--config", str(models / "sidecar.yaml"), "--listen", f"127.0.0.1:{tiny.port}"]
    ended = subprocess.run(command, cwd=HOME, capture_output=True, text=True, timeout=30)
    assert ended.returncode == 2 and "cannot listen on 127.0.0.1" in ended.stderr
