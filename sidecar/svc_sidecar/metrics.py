"""What Prometheus is told. Labels are names of configured models and codes of errors; nothing comes from a request."""

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, disable_created_metrics, generate_latest

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """All metrics of the service."""

    def __init__(self) -> None:
        disable_created_metrics()
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)

        def make(kind, name, text, labels, **more):
            return kind(f"svc_sidecar_{name}", text, labels, registry=self._registry, **more)

        self.requests = make(Counter, "requests", "Requests by model (empty: none that is known) and code", ["model", "code"])
        self.seconds = make(Histogram, "request_seconds", "Time from the head of a request to its answer", ["model"], buckets=SECONDS)
        self.texts = make(Counter, "texts", "Texts that were classified", ["model"])
        self.in_hand = make(Gauge, "requests_in_hand", "Requests that were taken and not answered yet", ["model"])
        self.queue = make(Gauge, "queue_windows", "Windows that wait for a batch", ["model"])
        self.batch_windows = make(Histogram, "batch_windows", "Windows in a batch", ["model"], buckets=SIZES)
        self.batches_running = make(Gauge, "batches_running", "Whether a batch is in the model", ["model"])
        self.batch_seconds = make(Histogram, "batch_seconds", "Time of a batch in the model", ["model"], buckets=SECONDS)
        self.loaded = make(Gauge, "model_loaded", "Whether a model is loaded", ["model"])

    def model(self, name: str) -> "ModelMetrics":
        return ModelMetrics(self, name)

    def text(self) -> bytes:
        """All of them in Prometheus' text format."""
        return generate_latest(self._registry)


class ModelMetrics:
    """The metrics of one model, all of them there from the start."""

    def __init__(self, metrics: Metrics, name: str):
        self.texts = metrics.texts.labels(name)
        self.in_hand = metrics.in_hand.labels(name)
        self.loaded = metrics.loaded.labels(name)
        self._queue = metrics.queue.labels(name)
        self._windows = metrics.batch_windows.labels(name)
        self._running = metrics.batches_running.labels(name)
        self._seconds = metrics.batch_seconds.labels(name)

    def waiting(self, more: int) -> None:
        """Counts windows that joined the queue, or left it where `more` is negative."""
        self._queue.inc(more)

    @contextmanager
    def batch(self, windows: int) -> Iterator[None]:
        """Counts a batch and measures it."""
        self._windows.observe(windows)
        with self._running.track_inprogress(), self._seconds.time():
            yield
