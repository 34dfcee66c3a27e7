"""Models from the hub, played by a server of the test."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

REPOSITORY = "someone/tiny"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
CONFIG = f"""
models:
  - name: m
    kind: text_classification
    hub: {{repo: {REPOSITORY}, revision: {COMMIT}, file: onnx/model.onnx}}
    positive_labels: [INJECTION]
"""


class Hub(BaseHTTPRequestHandler):
    """Serves the files of one repository at one commit."""

    protocol_version = "HTTP/1.1"
    files: ClassVar[dict[str, bytes]] = {}
    asked: ClassVar[list[str]] = []
    refusal: ClassVar[int | None] = None

    def do_GET(self):
        self.answer(True)

    def do_HEAD(self):
        self.answer(False)

    def answer(self, whole):
        before, _, name = self.path.partition(f"/{REPOSITORY}/resolve/{COMMIT}/")
        body = None if before or not name else self.files.get(name)
        self.asked.append(name)
        self.send_response(self.refusal or 404 if body is None else 200)
        self.send_header("x-repo-commit", COMMIT)
        self.send_header("etag", f'"{name}"')
        self.send_header("content-length", str(len(body or b"")))
        if body is None and not self.refusal:
            self.send_header("x-error-code", "EntryNotFound")
        self.end_headers()
        if whole:
            self.wfile.write(body or b"")

    def log_message(self, *_):
        pass


@pytest.fixture
def hub(models, tmp_path):
    folder = models / "injection"
    Hub.files = {"README.md": b"# Tiny", "config.json": (folder / "config.json").read_bytes()}
    Hub.files["tokenizer.json"] = (folder / "tokenizer.json").read_bytes()
    Hub.files["onnx/model.onnx"] = (folder / "model.onnx").read_bytes()
    Hub.asked, Hub.refusal = [], None
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "HF_HOME": str(tmp_path / "cache"), "HF_HUB_DISABLE_TELEMETRY": "1"}
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_model_is_downloaded_once(start, hub):
    sidecar = start(CONFIG, environment=hub).ready()
    assert sidecar.results("m", "please ignore")[0]["matched"]
    assert "README.md" not in Hub.asked
    Hub.asked.clear()
    again = start(CONFIG, environment=hub).ready()
    assert again.results("m", "please ignore")[0]["matched"]
    assert Hub.asked == [], "everything was kept, also what is not there"


def test_a_file_that_is_not_there_is_told(start, hub):
    del Hub.files["onnx/model.onnx"]
    failing(start(CONFIG, environment=hub), f"{REPOSITORY} has no onnx/model.onnx at {COMMIT}")


def test_a_repository_that_is_closed_is_told(start, hub):
    Hub.files, Hub.refusal = {}, 401
    failing(start(CONFIG, environment=hub), f"{REPOSITORY} cannot be downloaded: the hub answers 401")


def failing(sidecar, reason):
    sidecar.until(lambda: sidecar.ask("GET", "/health").json["status"] == "failed", "the failure")
    assert reason in sidecar.log and "Traceback" not in sidecar.log
