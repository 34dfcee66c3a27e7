"""A sidecar as a process of its own, and a client for it."""

import http.client
import json
import os
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

from prometheus_client.parser import text_string_to_metric_families

HOME = Path(__file__).parent.parent
PATIENCE_SECONDS = 30


class Answer:
    def __init__(self, response: http.client.HTTPResponse):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        """Status and code of a refusal, whose form is checked."""
        assert set(self.json) == {"error"} and set(self.json["error"]) == {"code", "message"}, self.body
        return self.status, self.json["error"]["code"]


class Sidecar:
    """Runs `python -m svc_sidecar` with a configuration in the folder of the models."""

    def __init__(self, config: str, models: Path, room: Path, environment=None):
        room.mkdir(exist_ok=True)
        # Beside the models, since their paths are relative to it.
        self.config = models / f"{room.parent.name}-{room.name}.yaml"
        self.config.write_text(config)
        self._log = room / "log"
        self._threads = ThreadPoolExecutor(64)
        command = [sys.executable, "-m", "svc_sidecar", "--config", str(self.config), "--listen", "127.0.0.1:0"]
        environment = {**os.environ, "PYTHONPATH": str(HOME), **(environment or {})}
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, env=environment, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("svc-sidecar: listening on http://"), f"it did not start: {self.log}"
        self.port = urlsplit(line.split()[-1]).port

    @property
    def log(self) -> str:
        return self._log.read_text()

    def ask(self, method: str, path: str, body=None, headers=None) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def classify(self, model: str, *texts: str, headers=None, **more) -> Answer:
        body = json.dumps({"model": model, "texts": texts, **more})
        return self.ask("POST", "/v1/classify", body, headers)

    def results(self, model: str, *texts: str, **more):
        answer = self.classify(model, *texts, **more)
        assert answer.status == 200, answer.body
        assert answer.json["model"] == model
        return answer.json["results"]

    def in_background(self, function, *arguments, **more) -> Future:
        return self._threads.submit(function, *arguments, **more)

    def metrics(self) -> dict:
        """Every sample as (name, label values…) → value, read with Prometheus' own parser."""
        families = text_string_to_metric_families(self.ask("GET", "/metrics").body.decode())
        return {(sample.name, *sample.labels.values()): sample.value for family in families for sample in family.samples}

    def metric(self, *name) -> float:
        return self.metrics().get((f"svc_sidecar_{name[0]}", *name[1:]), 0)

    def until(self, condition, what: str):
        """Waits until a condition holds, and returns what it gave."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            if value := condition():
                return value
            time.sleep(0.005)
        raise AssertionError(f"{what} did not happen; log: {self.log}")

    def ready(self):
        self.until(lambda: self.ask("GET", "/health").status == 200, "loading")
        return self

    def kill(self):
        self._threads.shutdown(wait=False)
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.config.unlink()
