"""What a configuration may say."""

from pathlib import Path

import pytest
from sidecar import HOME
from svc_sidecar.config import read_config
from svc_sidecar.errors import ConfigError

MODEL = "{name: m, kind: token_classification, path: x}"
ROOT = f"models: [{MODEL}]\n"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def read(tmp_path, text, **environment):
    path = tmp_path / "sidecar.yaml"
    path.write_text(text)
    return read_config(path, environment)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the configuration: expected keys and values"),
        ("listen: 127.0.0.1:1", "models: is missing"),
        ("models: []", "models: expected a list that is not empty"),
        ("models: [7]", "models[0]: expected keys and values"),
        (f"{ROOT}colour: red", "colour: unknown key"),
        (f"{ROOT}listen: 8090", "listen: expected a text"),
        (f"{ROOT}listen: ':8090'", "listen: expected HOST:PORT"),
        (f"{ROOT}listen: 'a:70000'", "listen: expected HOST:PORT"),
        (f"{ROOT}limits: {{text: 4}}", "limits.text: unknown key"),
        (f"{ROOT}limits: {{threads: 0}}", "limits.threads: expected a whole number from 1 to 1024"),
        (f"{ROOT}limits: {{queue: true}}", "limits.queue: expected a whole number"),
        (f"{ROOT}batching: {{max_windows: '4'}}", "batching.max_windows: expected a whole number"),
        (f"{ROOT}token_env: MISSING", "token_env: the environment variable MISSING is not set"),
        (f"{ROOT}{ROOT}", "line 2: models is given twice"),
        (f"models: [{MODEL}, {MODEL}]", "models[1].name: m is given twice"),
        (f"models: [{MODEL[:-1]}, name: n}}]", "line 1: name is given twice"),
        ("models: [{name: m, kind: chat, path: x}]", "models[0].kind: expected text_classification or token_classification"),
        ("models: [{name: m, kind: token_classification}]", "models[0].path: give either path or hub"),
        (f"models: [{MODEL[:-1]}, threshold: 2}}]", "models[0].threshold: expected a number from 0 to 1"),
        (f"models: [{MODEL[:-1]}, threshold: .nan}}]", "models[0].threshold: expected a number from 0 to 1"),
        (f"models: [{MODEL[:-1]}, positive_labels: []}}]", "models[0].positive_labels: expected a list of texts"),
        (f"models: [{MODEL[:-1]}, hub: {{repo: a/b, revision: {COMMIT}}}}}]", "models[0].path: give either path or hub"),
        ("models: [{name: m, kind: token_classification, hub: {repo: a/b}}]", "models[0].hub.revision: is missing"),
        ("models: [{name: m, kind: token_classification, hub: {repo: a/b, revision: main}}]", "models[0].hub.revision: expected a commit"),
        ("models: [{name: m, kind: text_classification, path: x}]", "models[0].positive_labels: is missing"),
    ],
)
def test_what_is_wrong_is_told_with_its_path(tmp_path, text, message):
    with pytest.raises(ConfigError) as error:
        read(tmp_path, text)
    assert str(error.value).startswith(message)


def test_defaults_are_those_of_the_readme(tmp_path):
    config = read(tmp_path, ROOT)
    assert (config.host, config.port, config.token) == ("127.0.0.1", 8090, None)
    assert (config.limits.texts_per_request, config.limits.characters_per_text) == (64, 200_000)
    assert (config.limits.body_bytes, config.limits.queue, config.limits.deadline_ms) == (4194304, 64, 30_000)
    assert (config.batching.max_windows, config.batching.max_tokens, config.batching.max_wait_ms) == (32, 4096, 5)
    [model] = config.models
    assert (model.path, model.threshold, model.aggregation) == (tmp_path / "x", 0.5, "simple")


def test_addresses_and_tokens_are_read(tmp_path):
    config = read(tmp_path, f"{ROOT}listen: '[::1]:0'\ntoken_env: TOKEN", TOKEN="secret")
    assert (config.host, config.port, config.token) == ("::1", 0, "secret")


def test_the_example_can_be_read():
    config = read_config(Path(HOME / "example.yaml"), {"SVC_SIDECAR_TOKEN": "secret"})
    assert [model.name for model in config.models] == ["injection", "toxicity", "pii"]
