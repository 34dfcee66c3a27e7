"""`python -m svc_sidecar --config FILE`: starts the service."""

import argparse
import contextlib
import logging
import os
import socket
import sys
from pathlib import Path

import uvicorn

from .config import Config, parse_address, read_config
from .errors import ConfigError

KEEP_ALIVE_SECONDS = 75
GRACE_SECONDS = 10
log = logging.getLogger("svc_sidecar")


def main() -> int:
    """Runs until SIGTERM or SIGINT. Returns the exit status: 0, or 2 where the configuration cannot be used."""
    options = _options()
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    log.setLevel(logging.INFO)
    try:
        config = read_config(options.config)
        host, port = parse_address(options.listen, "--listen") if options.listen else (config.host, config.port)
    except ConfigError as error:
        print(f"svc-sidecar: {options.config}: {error}", file=sys.stderr)
        return 2
    if options.check:
        return 0
    try:
        listener = _listen(host, port)
    except OSError as error:
        print(f"svc-sidecar: cannot listen on {host}:{port}: {error.strerror}", file=sys.stderr)
        return 2
    return _serve(config, listener)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="svc-sidecar", description="Classifiers for guardrails over HTTP.")
    parser.add_argument("--config", type=Path, required=True, help="the configuration file")
    parser.add_argument("--listen", metavar="HOST:PORT", help="listen here instead of where the configuration says")
    parser.add_argument("--check", action="store_true", help="check the configuration and exit")
    return parser.parse_args()


def _listen(host: str, port: int) -> socket.socket:
    # Named as TCP, since asyncio sends at once (TCP_NODELAY) only on such sockets.
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(1024)
    return listener


def _serve(config: Config, listener: socket.socket) -> int:
    # Tokenizers would start threads of their own for a single text; texts are spread over our threads.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # ONNX Runtime's own builds tell their vendor about machine, models and runs unless this is set before they are imported.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    from .http import application
    from .service import Service

    service = Service(config)
    settings = uvicorn.Config(
        application(service),
        http="httptools",
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS + config.limits.deadline_ms // 1000,
    )
    host, port = listener.getsockname()[:2]
    print(f"svc-sidecar: listening on http://{f'[{host}]' if ':' in host else host}:{port}", flush=True)
    Server(settings).run(sockets=[listener])
    log.info("stopped")
    if service.loading:
        # The thread that loads, or downloads, cannot be asked to stop.
        sys.stdout.flush()
        os._exit(0)
    return 0


class Server(uvicorn.Server):
    """A server that ends with status 0 after a signal, where uvicorn would send the signal to itself again."""

    @contextlib.contextmanager
    def capture_signals(self):
        with contextlib.suppress(KeyboardInterrupt), super().capture_signals():
            yield
            self._captured_signals.clear()


if __name__ == "__main__":
    sys.exit(main())
