"""Reads a YAML mapping key by key: types and ranges are checked, and keys that nobody asked for are errors with their path."""

from pathlib import Path
from typing import Any

import yaml

from .errors import ConfigError

REQUIRED: Any = object()


class _Loader(yaml.SafeLoader):
    """PyYAML takes the last of two equal keys; here the second one is an error."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise ConfigError(f"line {key_node.start_mark.line + 1}: a key has to be a text")
            if key in seen:
                raise ConfigError(f"line {key_node.start_mark.line + 1}: {key} is given twice")
            seen.add(key)
        return super().construct_mapping(node, deep)


def load_yaml(path: Path) -> Any:
    """The document in `path`.

    Raises ConfigError when the file cannot be read or is no YAML.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not YAML: {error}") from error


class Section:
    """One mapping of the configuration. Ask for every key it may have, then call `done`."""

    def __init__(self, value: Any, path: str = ""):
        if not isinstance(value, dict):
            raise ConfigError(f"{path or 'the configuration'}: expected keys and values")
        self._left = dict(value)
        self._path = path

    def where(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key

    def text(self, key: str, default: Any = REQUIRED) -> Any:
        return self._take(key, default, str, "a text that is not empty", lambda value: value != "")

    def integer(self, key: str, default: Any = REQUIRED, low: int = 1, high: int = 2**31 - 1) -> Any:
        return self._take(key, default, int, f"a whole number from {low} to {high}", lambda value: low <= value <= high)

    def fraction(self, key: str, default: Any = REQUIRED) -> Any:
        value = self._take(key, default, (int, float), "a number from 0 to 1", lambda value: 0 <= value <= 1)
        return float(value) if value is not None else None

    def choice(self, key: str, options: tuple[str, ...], default: Any = REQUIRED) -> Any:
        return self._take(key, default, str, " or ".join(options), lambda value: value in options)

    def texts(self, key: str, default: Any = REQUIRED) -> Any:
        def fits(value):
            return bool(value) and all(isinstance(item, str) and item for item in value)

        value = self._take(key, default, list, "a list of texts", fits)
        return tuple(value) if value is not None else None

    def section(self, key: str) -> "Section | None":
        """The mapping under `key`; None where it is absent."""
        value = self._left.pop(key, None)
        return None if value is None else Section(value, self.where(key))

    def sections(self, key: str) -> list["Section"]:
        value = self._take(key, REQUIRED, list, "a list that is not empty", bool)
        return [Section(item, f"{self.where(key)}[{index}]") for index, item in enumerate(value)]

    def fail(self, key: str, message: str) -> ConfigError:
        return ConfigError(f"{self.where(key)}: {message}")

    def done(self) -> None:
        """Raises ConfigError for the first key that nobody asked for."""
        for key in self._left:
            raise self.fail(key, "unknown key")

    def _take(self, key, default, kind, expected, fits):
        value = self._left.pop(key, None)
        if value is None:
            if default is REQUIRED:
                raise self.fail(key, f"is missing; expected {expected}")
            return default
        if not isinstance(value, kind) or isinstance(value, bool) or not fits(value):
            raise self.fail(key, f"expected {expected}")
        return value
