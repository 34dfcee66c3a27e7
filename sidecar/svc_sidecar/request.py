"""Reads and checks what a caller sends."""

import json
from dataclasses import dataclass
from typing import Any

from starlette.requests import ClientDisconnect, Request

from .config import Limits
from .errors import Refusal

DEADLINE = "x-deadline-ms"


@dataclass(frozen=True)
class Ask:
    """A request in the right form. Whether its model exists is not known yet."""

    model: str
    texts: list[str]
    threshold: float | None


def deadline_ms(request: Request, limits: Limits) -> int:
    """How long the caller waits, at most what is configured.

    Raises Refusal.
    """
    header = request.headers.get(DEADLINE)
    if header is None:
        return limits.deadline_ms
    if not (header.isascii() and header.isdigit() and len(header) <= 15):
        raise Refusal("invalid_request", f"{DEADLINE} has to be a whole number of milliseconds")
    return min(int(header), limits.deadline_ms)


async def read_body(request: Request, limits: Limits) -> bytes:
    """The whole body.

    Raises Refusal as soon as it is known to be too large.
    """
    refusal = Refusal("too_large", f"a body may have {limits.body_bytes} bytes")
    length = request.headers.get("content-length", "0")
    if len(length) > 15 or int(length) > limits.body_bytes:
        raise refusal
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > limits.body_bytes:
                raise refusal
    except ClientDisconnect:
        raise Refusal("invalid_request", "the body broke off") from None
    return bytes(body)


def parse(body: bytes, limits: Limits) -> Ask:
    """The request in a body. Members nobody knows are passed over.

    Raises Refusal, which names the member that is wrong and not what is in it.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise Refusal("invalid_request", "the body is not JSON") from None
    if not isinstance(value, dict):
        raise Refusal("invalid_request", "the body has to be an object")
    model = value.get("model")
    if not isinstance(model, str):
        raise Refusal("invalid_request", "model has to be a text")
    return Ask(model, _texts(value.get("texts"), limits), _threshold(value.get("threshold")))


def _texts(value: Any, limits: Limits) -> list[str]:
    if not isinstance(value, list) or not value:
        raise Refusal("invalid_request", "texts has to be a list of at least one text")
    if len(value) > limits.texts_per_request:
        raise Refusal("too_large", f"a request may have {limits.texts_per_request} texts")
    for index, text in enumerate(value):
        if not isinstance(text, str):
            raise Refusal("invalid_request", f"texts[{index}] has to be a text")
        if len(text) > limits.characters_per_text:
            raise Refusal("too_large", f"texts[{index}] has more than {limits.characters_per_text} characters")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Refusal("invalid_request", f"texts[{index}] has half of a surrogate pair") from None
    return value


def _threshold(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise Refusal("invalid_request", "threshold has to be a number from 0 to 1")
    return float(value)
