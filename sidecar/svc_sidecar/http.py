"""The HTTP side: routes, who may ask, deadlines, and errors as JSON."""

import asyncio
import hmac
import json
import logging
import time
from contextlib import asynccontextmanager
from traceback import format_tb

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from .errors import Refusal
from .metrics import CONTENT_TYPE
from .request import deadline_ms, parse, read_body
from .service import FAILED, LOADING, READY, Service

log = logging.getLogger(__name__)
RETRY_AFTER_SECONDS = "1"


def application(service: Service) -> Starlette:
    """The ASGI application. Models begin to load when it starts."""

    @asynccontextmanager
    async def lifespan(_: Starlette):
        service.start()
        try:
            yield
        finally:
            await service.stop()

    handler = Handler(service)
    routes = [
        Route("/v1/classify", handler.classify, methods=["POST"]),
        Route("/health", handler.health, methods=["GET"]),
        Route("/metrics", handler.metrics, methods=["GET"]),
    ]
    failures = {HTTPException: _no_route, Refusal: _refused}
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers=failures)


class Handler:
    """Answers requests with a service."""

    def __init__(self, service: Service):
        self._service = service
        self._token = service.config.token
        # Bodies are read before their model is known, so their number is bounded over all models.
        self._places = service.config.limits.queue * len(service.slots)

    async def classify(self, request: Request) -> Response:
        """`POST /v1/classify`."""
        started = time.perf_counter()
        asked = ""
        code = "internal"
        try:
            self._authorise(request)
            seconds = deadline_ms(request, self._service.config.limits) / 1000
            async with asyncio.timeout(seconds):
                ask = await self._ask(request)
                slot = self._service.slots.get(ask.model)
                if slot is None:
                    raise Refusal("unknown_model", "no model has this name")
                asked = ask.model
                with slot.admitted():
                    results = await self._service.classify(slot, ask.texts, ask.threshold)
            code = "ok"
            return _json(200, {"model": ask.model, "results": results})
        except TimeoutError:
            code = "deadline_exceeded"
            raise Refusal(code, "there was no time left") from None
        except Refusal as refusal:
            code = refusal.code
            raise
        except Exception as error:
            # Without the error's own text, which may hold some of what was sent.
            log.error("failed to answer a request: %s\n%s", type(error).__name__, "".join(format_tb(error.__traceback__)))
            raise Refusal(code, "the service failed") from None
        finally:
            self._service.metrics.requests.labels(asked, code).inc()
            self._service.metrics.seconds.labels(asked).observe(time.perf_counter() - started)

    async def health(self, _: Request) -> Response:
        """`GET /health`."""
        slots = self._service.slots
        states = {slot.state for slot in slots.values()}
        status = FAILED if FAILED in states else LOADING if LOADING in states else READY
        models = {name: {"kind": slot.config.kind, "loaded": slot.state == READY} for name, slot in slots.items()}
        return _json(200 if status == READY else 503, {"status": status, "models": models})

    async def metrics(self, request: Request) -> Response:
        """`GET /metrics`."""
        self._authorise(request)
        return Response(self._service.metrics.text(), headers={"content-type": CONTENT_TYPE})

    async def _ask(self, request: Request):
        if self._places == 0:
            raise Refusal("overloaded", "too many requests")
        self._places -= 1
        try:
            return parse(await read_body(request, self._service.config.limits), self._service.config.limits)
        finally:
            self._places += 1

    def _authorise(self, request: Request) -> None:
        if self._token is None:
            return
        scheme, _, sent = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(sent.strip().encode(), self._token.encode()):
            raise Refusal("unauthorized", "the bearer token is missing or wrong")


def _json(status: int, value) -> Response:
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return Response(body, status, {"content-type": "application/json"})


async def _refused(_: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)
    response = _json(refusal.status, {"error": {"code": refusal.code, "message": refusal.message}})
    if refusal.code == "overloaded":
        response.headers["retry-after"] = RETRY_AFTER_SECONDS
    if refusal.code == "unauthorized":
        response.headers["www-authenticate"] = "Bearer"
    return response


async def _no_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = "this path does not take this method" if error.status_code == 405 else "there is nothing at this path"
    response = await _refused(request, Refusal("invalid_request", message, error.status_code))
    response.headers.update(error.headers or {})
    return response
