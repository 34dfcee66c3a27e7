"""Runs the windows of concurrent requests together.

Everything here lives on the event loop; only the model itself runs on a thread. Requests take turns window by window, so that
one with many windows does not hold up the others.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor

import numpy as np

from .config import Batching
from .errors import Refusal
from .metrics import ModelMetrics
from .windows import Window

log = logging.getLogger(__name__)
Run = Callable[[list[Window]], list[np.ndarray]]


class Job:
    """The windows of one request. `done` gets their outputs in order; once it is done or cancelled no more of them are begun."""

    def __init__(self, windows: list[Window]):
        self.windows = windows
        self.begun = 0
        self.outputs: list[np.ndarray | None] = [None] * len(windows)
        self.missing = len(windows)
        self.done: asyncio.Future = asyncio.get_running_loop().create_future()

    def put(self, index: int, output: np.ndarray) -> None:
        self.outputs[index] = output
        self.missing -= 1
        if self.missing == 0 and not self.done.done():
            self.done.set_result(self.outputs)


class Batcher:
    """The queue before one model, and the task that empties it."""

    def __init__(self, run: Run, batching: Batching, executor: Executor, metrics: ModelMetrics):
        self._run = run
        self._batching = batching
        self._executor = executor
        self._metrics = metrics
        self._jobs: deque[Job] = deque()
        self._coming = 0
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._work(), name="batcher")

    def announce(self) -> None:
        """Says that a request is being cut into windows: a batch waits a moment for it. `submit` or `withdraw` has to follow."""
        self._coming += 1

    def withdraw(self) -> None:
        """Says that an announced request does not come."""
        self._coming -= 1
        self._news.set()

    async def submit(self, windows: list[Window]) -> list[np.ndarray]:
        """The outputs of an announced request's windows, in order. Windows not begun when the caller is cancelled never are.

        Raises Refusal when the model fails.
        """
        self._coming -= 1
        self._news.set()
        if not windows:
            return []
        job = Job(windows)
        self._jobs.append(job)
        self._metrics.waiting(len(windows))
        try:
            return await job.done
        finally:
            self._metrics.waiting(job.begun - len(windows))
            job.begun = len(windows)

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._gather()
            batch = self._take()
            if not batch:
                continue
            windows = [job.windows[index] for job, index in batch]
            with self._metrics.batch(len(windows)):
                try:
                    outputs = await loop.run_in_executor(self._executor, self._run, windows)
                except Exception as error:
                    log.error("a batch of %d windows failed: %s", len(windows), error)
                    self._fail(batch)
                    continue
            for (job, index), output in zip(batch, outputs, strict=True):
                job.put(index, output)

    async def _gather(self) -> None:
        """Returns once there is something to do and it makes no sense to wait for more."""
        loop = asyncio.get_running_loop()
        while not self._jobs:
            self._news.clear()
            await self._news.wait()
        until = loop.time() + self._batching.max_wait_ms / 1000
        while self._coming and sum(len(job.windows) - job.begun for job in self._jobs) < self._batching.max_windows:
            self._news.clear()
            try:
                async with asyncio.timeout_at(until):
                    await self._news.wait()
            except TimeoutError:
                return

    def _take(self) -> list[tuple[Job, int]]:
        """The windows of the next batch: one of each request in turn, up to the bounds of a batch. One window always fits."""
        batch: list[tuple[Job, int]] = []
        longest = 0
        while self._jobs and len(batch) < self._batching.max_windows:
            job = self._jobs.popleft()
            if job.done.done():
                continue
            length = max(longest, len(job.windows[job.begun]))
            if batch and length * (len(batch) + 1) > self._batching.max_tokens:
                self._jobs.appendleft(job)
                break
            longest = length
            batch.append((job, job.begun))
            job.begun += 1
            self._metrics.waiting(-1)
            if job.begun < len(job.windows):
                self._jobs.append(job)
        return batch

    def _fail(self, batch: list[tuple[Job, int]]) -> None:
        for job, _ in batch:
            if not job.done.done():
                job.done.set_exception(Refusal("internal", "the model failed"))
