"""The configuration: one YAML file, read once at start. README.md explains every key."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from .errors import ConfigError
from .reading import Section, load_yaml

TEXT = "text_classification"
TOKEN = "token_classification"
COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Limits:
    texts_per_request: int
    characters_per_text: int
    body_bytes: int
    threads: int
    queue: int
    deadline_ms: int


@dataclass(frozen=True)
class Batching:
    max_windows: int
    max_tokens: int
    max_wait_ms: int


@dataclass(frozen=True)
class Hub:
    """A file of a repository on the Hugging Face hub, at one commit."""

    repo: str
    revision: str
    file: str


@dataclass(frozen=True)
class ModelConfig:
    """One model. Exactly one of `path` and `hub` is set; None elsewhere leaves the choice to the model's own files."""

    name: str
    kind: str
    path: Path | None
    hub: Hub | None
    positive_labels: tuple[str, ...] | None
    max_tokens: int | None
    stride: int | None
    activation: str | None
    aggregation: str
    threshold: float


@dataclass(frozen=True)
class Config:
    host: str
    port: int
    token: str | None
    limits: Limits
    batching: Batching
    models: tuple[ModelConfig, ...]


def read_config(path: Path, environment=os.environ) -> Config:
    """The configuration in `path`, relative paths in it resolved against its folder.

    Raises ConfigError, whose text begins with the path of the key that is wrong.
    """
    root = Section(load_yaml(path))
    host, port = parse_address(root.text("listen", "127.0.0.1:8090"), "listen")
    config = Config(
        host=host,
        port=port,
        token=_token(root, environment),
        limits=_limits(root.section("limits") or Section({}, "limits")),
        batching=_batching(root.section("batching") or Section({}, "batching")),
        models=tuple(_model(section, path.parent) for section in root.sections("models")),
    )
    root.done()
    names = [model.name for model in config.models]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ConfigError(f"models[{index}].name: {name} is given twice")
    return config


def parse_address(address: str, path: str) -> tuple[str, int]:
    """Host and port of `127.0.0.1:8090` or `[::1]:8090`. Port 0 takes any free one."""
    host, colon, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535:
        raise ConfigError(f"{path}: expected HOST:PORT")
    return host, int(port)


def _token(root: Section, environment) -> str | None:
    variable = root.text("token_env", None)
    if variable is None:
        return None
    token = environment.get(variable, "")
    if not token:
        raise root.fail("token_env", f"the environment variable {variable} is not set")
    return token


def _limits(section: Section) -> Limits:
    limits = Limits(
        texts_per_request=section.integer("texts_per_request", 64, high=10_000),
        characters_per_text=section.integer("characters_per_text", 200_000, high=10_000_000),
        body_bytes=section.integer("body_bytes", 4 * 1024 * 1024, high=1024**3),
        threads=section.integer("threads", _processors(), high=1024),
        queue=section.integer("queue", 64, high=100_000),
        deadline_ms=section.integer("deadline_ms", 30_000, high=3_600_000),
    )
    section.done()
    return limits


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _batching(section: Section) -> Batching:
    batching = Batching(
        max_windows=section.integer("max_windows", 32, high=4096),
        max_tokens=section.integer("max_tokens", 4096, high=1_000_000),
        max_wait_ms=section.integer("max_wait_ms", 5, low=0, high=1000),
    )
    section.done()
    return batching


def _model(section: Section, folder: Path) -> ModelConfig:
    kind = section.choice("kind", (TEXT, TOKEN))
    path, hub = section.text("path", None), section.section("hub")
    if (path is None) == (hub is None):
        raise section.fail("path", "give either path or hub")
    model = ModelConfig(
        name=section.text("name"),
        kind=kind,
        path=None if path is None else folder / path,
        hub=None if hub is None else _hub(hub),
        positive_labels=section.texts("positive_labels", None),
        max_tokens=section.integer("max_tokens", None, high=1_000_000),
        stride=section.integer("stride", None, low=0, high=1_000_000),
        activation=section.choice("activation", ("softmax", "sigmoid"), None),
        aggregation=section.choice("aggregation", ("simple", "first"), "simple"),
        threshold=section.fraction("threshold", 0.5),
    )
    section.done()
    if kind == TEXT and model.positive_labels is None:
        raise section.fail("positive_labels", "is missing; name the labels that count as a match")
    return model


def _hub(section: Section) -> Hub:
    hub = Hub(section.text("repo"), section.text("revision"), section.text("file", "onnx/model.onnx"))
    if not COMMIT.fullmatch(hub.revision):
        raise section.fail("revision", "expected a commit: 40 digits and letters from a to f")
    section.done()
    return hub
