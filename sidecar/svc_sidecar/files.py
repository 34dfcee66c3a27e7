"""The files of a model in the Hugging Face layout, from a local folder or from the hub."""

import json
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from .config import Hub, ModelConfig
from .errors import LoadError

GRAPHS = ("model.onnx", "onnx/model.onnx")
LARGEST_DEFAULT = 512


@dataclass(frozen=True)
class ModelFiles:
    """Where a model lies. `settings` is its config.json, `tokenizer_settings` its tokenizer_config.json or nothing."""

    graph: Path
    tokenizer: Path
    settings: dict[str, Any]
    tokenizer_settings: dict[str, Any]

    def labels(self) -> list[str]:
        """The names of the model's outputs in order.

        Raises LoadError where config.json does not name them all.
        """
        names = self.settings.get("id2label")
        if not isinstance(names, dict) or not names:
            raise LoadError("config.json has no id2label")
        try:
            return [str(names[str(index)]) for index in range(len(names))]
        except KeyError as error:
            raise LoadError(f"id2label of config.json has no entry {error}") from error

    def activation(self) -> str:
        """How outputs become scores, told by problem_type: each label for itself, or one of all."""
        return "sigmoid" if self.settings.get("problem_type") == "multi_label_classification" else "softmax"

    def pad_token_id(self) -> int:
        pad = self.settings.get("pad_token_id")
        return pad if isinstance(pad, int) else 0

    def most_tokens(self) -> int:
        """The tokens of a window where nothing is configured: 512, or what the model takes if that is less."""
        told = (self.tokenizer_settings.get("model_max_length"), self.settings.get("max_position_embeddings"))
        return int(min([LARGEST_DEFAULT, *(count for count in told if isinstance(count, (int, float)) and count > 0)]))


def find(model: ModelConfig) -> ModelFiles:
    """Finds the files of a model, and downloads them where it is on the hub.

    Raises LoadError.
    """
    if model.hub is not None:
        return _from_hub(model.hub)
    assert model.path is not None
    graphs = [model.path / name for name in GRAPHS if (model.path / name).is_file()]
    if not graphs:
        raise LoadError(f"{model.path} has neither {' nor '.join(GRAPHS)}")
    # Some exports keep a copy of the settings beside the graph; that copy belongs to it.
    folders = list(dict.fromkeys([graphs[0].parent, model.path]))

    def nearest(name):
        return next((folder / name for folder in folders if (folder / name).exists()), None)

    return _files(graphs[0], nearest)


def _from_hub(hub: Hub) -> ModelFiles:
    # Imported here, since it is large and most installations have their models on disk.
    from huggingface_hub import _CACHED_NO_EXIST, hf_hub_download, try_to_load_from_cache
    from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, LocalEntryNotFoundError

    def download(name):
        kept = try_to_load_from_cache(hub.repo, name, revision=hub.revision)
        if kept is not None:
            return None if kept is _CACHED_NO_EXIST else Path(kept)
        try:
            return Path(hf_hub_download(hub.repo, name, revision=hub.revision))
        except LocalEntryNotFoundError as error:
            raise LoadError(f"{hub.repo} is not in the cache and the hub cannot be reached") from error
        except EntryNotFoundError:
            return None
        except HfHubHTTPError as error:
            raise LoadError(f"{hub.repo} cannot be downloaded: the hub answers {error.response.status_code}") from error
        except (OSError, ValueError) as error:
            raise LoadError(f"{hub.repo} cannot be downloaded: {error}") from error

    graph = download(hub.file)
    if graph is None:
        raise LoadError(f"{hub.repo} has no {hub.file} at {hub.revision}")
    download(f"{hub.file}_data")  # The weights of graphs beyond 2 GB are in a file beside them.
    folder = PurePosixPath(hub.file).parent
    folders = list(dict.fromkeys([folder, PurePosixPath(".")]))

    def nearest(name):
        return next((path for place in folders if (path := download(str(place / name)))), None)

    return _files(graph, nearest)


def _files(graph: Path, nearest) -> ModelFiles:
    tokenizer, settings, more = nearest("tokenizer.json"), nearest("config.json"), nearest("tokenizer_config.json")
    if tokenizer is None:
        raise LoadError("tokenizer.json is missing")
    if settings is None:
        raise LoadError("config.json is missing")
    return ModelFiles(graph, tokenizer, _json(settings), _json(more) if more else {})


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LoadError(f"{path.name} cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise LoadError(f"{path.name} is no object")
    return value
