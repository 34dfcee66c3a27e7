"""Models for all tests, made once, and sidecars that serve them."""

import pytest
import tiny_models
from sidecar import Sidecar
from slow_model import make_slow


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """A folder with the tiny models and a slow one."""
    folder = tmp_path_factory.mktemp("models")
    tiny_models.make_all(folder)
    make_slow(folder / "slow")
    return folder


@pytest.fixture
def start(models, tmp_path):
    """Starts a sidecar with a configuration; it is stopped after the test."""
    running = []

    def begin(config, **options):
        running.append(Sidecar(config, models, tmp_path / f"sidecar-{len(running)}", **options))
        return running[-1]

    yield begin
    for sidecar in running:
        sidecar.kill()


@pytest.fixture(scope="module")
def tiny(models, tmp_path_factory):
    """A sidecar with the tiny models as tiny_models.py configures them, for all tests of a module."""
    sidecar = Sidecar((models / "sidecar.yaml").read_text(), models, tmp_path_factory.mktemp("tiny"))
    sidecar.ready()
    yield sidecar
    sidecar.kill()
