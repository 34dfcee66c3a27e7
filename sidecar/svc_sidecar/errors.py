"""What can go wrong, in words for the caller. Nothing here may hold a text that was sent."""

STATUS = {
    "invalid_request": 400,
    "unauthorized": 401,
    "unknown_model": 404,
    "too_large": 413,
    "internal": 500,
    "overloaded": 503,
    "deadline_exceeded": 504,
}


class Refusal(Exception):
    """A request that gets no results. `code` is a key of STATUS; `status` differs from it only where HTTP has a better word."""

    def __init__(self, code: str, message: str, status: int | None = None):
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status or STATUS[code]


class ConfigError(Exception):
    """The configuration cannot be used. The text begins with the path of the key."""


class LoadError(Exception):
    """A model cannot be loaded."""
