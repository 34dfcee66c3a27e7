"""The models of the configuration, from loading to results."""

import asyncio
import itertools
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from .batching import Batcher
from .config import Config, ModelConfig
from .errors import LoadError, Refusal
from .metrics import Metrics
from .model import Model, share_threads
from .windows import Window

log = logging.getLogger(__name__)
LOADING, READY, FAILED = "loading", "ok", "failed"


class Slot:
    """The place of one configured model: loading, ready or failed. Bounds how many requests it has in hand."""

    def __init__(self, config: ModelConfig, queue: int, metrics: Metrics):
        self.config = config
        self.state = LOADING
        self.model: Model | None = None
        self.batcher: Batcher | None = None
        self.metrics = metrics.model(config.name)
        # The graph of a model runs one batch at a time; its threads are those all models share.
        self.executor = ThreadPoolExecutor(1, thread_name_prefix="model")
        self._queue = queue
        self._in_hand = 0

    def ready(self) -> tuple[Model, Batcher]:
        """The loaded model.

        Raises Refusal while there is none.
        """
        if self.model is None or self.batcher is None:
            if self.state == FAILED:
                raise Refusal("internal", "the model failed to load")
            raise Refusal("overloaded", "the model is still loading")
        return self.model, self.batcher

    @contextmanager
    def admitted(self) -> Iterator[None]:
        """Holds one of the model's places for requests.

        Raises Refusal where all are taken.
        """
        if self._in_hand >= self._queue:
            raise Refusal("overloaded", "too many requests for this model")
        self._in_hand += 1
        self.metrics.in_hand.inc()
        try:
            yield
        finally:
            self._in_hand -= 1
            self.metrics.in_hand.dec()


class Service:
    """All models. `start` begins to load them, and requests are taken from then on."""

    def __init__(self, config: Config):
        self.config = config
        self.metrics = Metrics()
        self.slots = {model.name: Slot(model, config.limits.queue, self.metrics) for model in config.models}
        self._cutters = ThreadPoolExecutor(config.limits.threads, thread_name_prefix="cutter")

    @property
    def loading(self) -> bool:
        return any(slot.state == LOADING for slot in self.slots.values())

    def start(self) -> None:
        """Loads the models one after the other on a thread; call it on the event loop."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._load, args=(loop,), name="loader", daemon=True).start()

    async def stop(self) -> None:
        """Ends the batchers. Requests that still wait get no answer."""
        for slot in self.slots.values():
            if slot.batcher is not None:
                await slot.batcher.close()
            slot.executor.shutdown(wait=False, cancel_futures=True)
        self._cutters.shutdown(wait=False, cancel_futures=True)

    async def classify(self, slot: Slot, texts: list[str], threshold: float | None) -> list[dict[str, Any]]:
        """One result for each text, in order.

        Raises Refusal.
        """
        model, batcher = slot.ready()
        cut, outputs = await self._outputs(model, batcher, texts)
        threshold = model.threshold if threshold is None else threshold
        results = await self._on_thread(_results, model, texts, cut, outputs, threshold)
        slot.metrics.texts.inc(len(texts))
        return results

    async def _outputs(self, model: Model, batcher: Batcher, texts: list[str]) -> tuple[list[list[Window]], list[np.ndarray]]:
        batcher.announce()
        try:
            cut = await self._on_thread(lambda: [model.cut(text) for text in texts])
        except BaseException:
            batcher.withdraw()
            raise
        return cut, await batcher.submit(list(itertools.chain.from_iterable(cut)))

    async def _on_thread(self, function, *arguments):
        return await asyncio.get_running_loop().run_in_executor(self._cutters, function, *arguments)

    def _load(self, loop: asyncio.AbstractEventLoop) -> None:
        share_threads(self.config.limits.threads)
        for slot in self.slots.values():
            try:
                model = Model(slot.config)
            except LoadError as error:
                log.error("failed to load model %s: %s", slot.config.name, error)
                model = None
            except Exception:
                log.exception("failed to load model %s", slot.config.name)
                model = None
            loop.call_soon_threadsafe(self._loaded, slot, model)

    def _loaded(self, slot: Slot, model: Model | None) -> None:
        slot.state = FAILED if model is None else READY
        if model is not None:
            slot.model = model
            slot.batcher = Batcher(model.run, self.config.batching, slot.executor, slot.metrics)
            slot.metrics.loaded.set(1)


def _results(model: Model, texts: list[str], cut: list[list[Window]], outputs: list[np.ndarray], threshold: float) -> list[dict[str, Any]]:
    rest = iter(outputs)
    return [
        model.result(text, windows, list(itertools.islice(rest, len(windows))), threshold) for text, windows in zip(texts, cut, strict=True)
    ]
