"""One loaded model: its tokenizer, its graph, and how their outputs become results."""

import logging
import time
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from .config import TOKEN, ModelConfig
from .entities import Entities, parse_tag
from .errors import LoadError
from .files import ModelFiles, find
from .scores import TextScores
from .windows import Window, Windows

log = logging.getLogger(__name__)
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def share_threads(threads: int) -> None:
    """Gives all models together one pool of threads. Call it once, before the first model is loaded."""
    onnxruntime.set_global_thread_pool_sizes(threads, 1)


class Model:
    """A model that is ready. Its methods take time and no locks; call them from threads."""

    def __init__(self, config: ModelConfig):
        """Loads what the configuration names.

        Raises LoadError.
        """
        started = time.monotonic()
        files = find(config)
        labels = files.labels()
        self.name = config.name
        self.threshold = config.threshold
        self._pad = files.pad_token_id()
        self._windows = _windows(config, files)
        self._session = _session(files)
        self._inputs = [value.name for value in self._session.get_inputs()]
        self._entities = _entities(config, labels) if config.kind == TOKEN else None
        self._scores = None if self._entities else _scores(config, files, labels)
        self._probe(len(labels))
        log.info("model %s is loaded: %d labels, %.1f s", config.name, len(labels), time.monotonic() - started)

    def cut(self, text: str) -> list[Window]:
        """The windows of a text."""
        try:
            return self._windows.cut(text)
        except BaseException as error:
            # A panic inside the tokenizer is no Exception, and must not end the thread; its message may hold the text.
            raise RuntimeError(f"the tokenizer failed: {type(error).__name__}") from None

    def run(self, batch: list[Window]) -> list[np.ndarray]:
        """One output for each window: scores of labels, or for each of its tokens scores of tags."""
        longest = max(len(window) for window in batch)
        values = {name: np.zeros((len(batch), longest), dtype=np.int64) for name in INPUTS}
        values["input_ids"].fill(self._pad)
        for row, window in enumerate(batch):
            values["input_ids"][row, : len(window)] = window.ids
            values["attention_mask"][row, : len(window)] = 1
            values["token_type_ids"][row, : len(window)] = window.types
        [outputs] = self._session.run(["logits"], {name: values[name] for name in self._inputs})
        if self._entities is None:
            return list(outputs)
        return [output[: len(window)] for output, window in zip(outputs, batch, strict=True)]

    def result(self, text: str, windows: list[Window], outputs: list[np.ndarray], threshold: float) -> dict[str, Any]:
        """The result for a text from what `run` gave for its windows, as the caller gets it."""
        if self._entities is not None:
            return self._entities.result(text, windows, outputs, threshold)
        assert self._scores is not None
        return self._scores.result(outputs, threshold)

    def _probe(self, labels: int) -> None:
        """Runs the model on a short window and one as long as they get, so that one that cannot serve is not called ready."""
        windows = [window for text in ("a", "a " * self._windows.most) for window in self.cut(text)[:1]]
        try:
            outputs = self.run(windows)
        except Exception as error:
            raise LoadError(f"a first run failed: {error}") from error
        dimensions = 1 if self._entities is None else 2
        if any(output.ndim != dimensions or output.shape[-1] != labels for output in outputs):
            raise LoadError(f"its outputs are not those of {labels} labels; is the kind right?")


def _windows(config: ModelConfig, files: ModelFiles) -> Windows:
    try:
        tokenizer = Tokenizer.from_file(str(files.tokenizer))
    except Exception as error:  # The library raises this very class.
        raise LoadError(f"tokenizer.json cannot be read: {error}") from error
    return Windows(tokenizer, config.max_tokens or files.most_tokens(), config.stride)


def _session(files: ModelFiles) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.use_per_session_threads = False
    options.log_severity_level = 3
    # Threads of the pool would wait for work at full speed otherwise.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    try:
        session = onnxruntime.InferenceSession(str(files.graph), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # The library has no common class for its errors.
        raise LoadError(f"{files.graph.name} cannot be loaded: {error}") from error
    for value in session.get_inputs():
        if value.name not in INPUTS:
            raise LoadError(f"{files.graph.name} wants the input {value.name}, which is none of {', '.join(INPUTS)}")
        if value.type != "tensor(int64)" or any(isinstance(size, int) for size in value.shape):
            raise LoadError(f"{files.graph.name} has to take 64-bit integers in any number and length, for {value.name} too")
    if "logits" not in [value.name for value in session.get_outputs()]:
        raise LoadError(f"{files.graph.name} has no output named logits")
    return session


def _scores(config: ModelConfig, files: ModelFiles, labels: list[str]) -> TextScores:
    positive = [labels.index(label) for label in _known(config, labels)]
    return TextScores(labels, positive, config.activation or files.activation())


def _entities(config: ModelConfig, labels: list[str]) -> Entities:
    if config.activation == "sigmoid":
        raise LoadError("activation sigmoid is not for token classification")
    _known(config, [parse_tag(label).label for label in labels])
    return Entities(labels, config.positive_labels, config.aggregation == "first")


def _known(config: ModelConfig, labels: list[str]) -> tuple[str, ...]:
    positive = config.positive_labels or ()
    for label in positive:
        if label not in labels:
            raise LoadError(f"it has no label {label}; it has {', '.join(dict.fromkeys(labels))}")
    return positive
