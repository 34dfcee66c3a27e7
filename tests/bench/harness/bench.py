"""One run: the mock, the load generator, and one sample after the other."""
import http.client
import json
import subprocess
import tempfile
import time
from pathlib import Path

from . import machine
from .scenarios import SCENARIOS, request_body
from .targets import Unavailable, free_port, listens

MARKER = "bench-answer"
REQUEST_TIMEOUT_S = 30
LONGEST_RUN_S = 120
WARM_STREAMS = 20
SETTLE_STEP_S = 0.1
# Longer than the gateway waits before it writes a batch that is not full, so that a pause between batches is not taken for the end.
SETTLE_WINDOW_S = 0.7
SETTLED_SHARE = 0.004
IDLE_LOOK_S = 1.0


class Bench:
    def __init__(self, programs, gateway, results, seconds, drain_limit):
        self.programs, self.gateway, self.results = Path(programs), Path(gateway), Path(results)
        self.seconds, self.drain_limit = seconds, drain_limit
        self.proxy_cpu, self.load_cpu = machine.choose_cpus()
        self.mock, self.mock_port = None, 0
        self.running = None

    def __enter__(self):
        self.results.mkdir(parents=True, exist_ok=True)
        self.folder = tempfile.TemporaryDirectory(prefix="svc-bench-")
        self.scratch = Path(self.folder.name)
        self.mock_port = free_port()
        command = [str(self.program("bench-mock")), "--listen", f"127.0.0.1:{self.mock_port}"]
        self.mock = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=machine.pinned(self.load_cpu))
        end = time.monotonic() + 10
        while not listens(self.mock_port):
            if self.mock.poll() is not None or time.monotonic() > end:
                raise Unavailable("the mock did not start")
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        for process in (self.running, self.mock):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        self.folder.cleanup()

    def program(self, name):
        path = self.programs / name
        if not path.is_file():
            raise Unavailable(f"there is no {path}: cargo build --release -p svc-bench")
        return path

    def load(self, target, scenario, **changes):
        """Runs the load generator and returns its report."""
        options = {"connections": scenario.connections, "run-ms": round(max(self.seconds, scenario.least_seconds) * 1000),
                   "warm-up-ms": scenario.warm_up_ms, "rate": scenario.rate, "ramp-ms": scenario.ramp_ms,
                   "timeout-ms": REQUEST_TIMEOUT_S * 1000, **({"count": scenario.count} if scenario.count else {})}
        shape = changes.pop("shape", scenario.shape)
        options |= changes
        if scenario.streams:
            options["deltas"] = int(shape.split("-")[0][1:])
        else:
            options["marker"] = MARKER
        body = self.scratch / "body.json"
        body.write_text(request_body(scenario, target.model_for(scenario).format(shape=shape)))
        command = [str(self.program("bench-load")), "--address", f"127.0.0.1:{target.port}", "--path", target.path_for(scenario), "--body", str(body)]
        for header in target.headers:
            command += ["--header", header]
        for name, value in options.items():
            command += [f"--{name}", str(value)]
        self.running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                        preexec_fn=machine.pinned(self.load_cpu))
        try:
            out, _ = self.running.communicate(timeout=LONGEST_RUN_S)
        except subprocess.TimeoutExpired:
            self.running.kill()
            self.running.wait()
            raise Unavailable("the load generator did not end in time") from None
        if self.running.returncode != 0:
            raise Unavailable("the load generator failed")
        return json.loads(out)

    def requests_at_mock(self):
        """Requests the mock has received, this one included."""
        connection = http.client.HTTPConnection("127.0.0.1", self.mock_port, timeout=10)
        try:
            connection.request("GET", "/stats")
            return json.load(connection.getresponse())["requests"]
        finally:
            connection.close()

    def try_once(self, target):
        return self.load(target, SCENARIOS["S1"], connections=1, count=1, **{"warm-up-ms": 0})

    def begin(self, target):
        """Starts a target and learns what it uses when it has nothing to do."""
        target.check()
        target.start()
        if target.background:
            self.settle(target)
            pids, before, since = target.pids(), machine.cpu_ns(target.pids()), time.monotonic()
            time.sleep(IDLE_LOOK_S)
            target.idle_share = (machine.cpu_ns(pids) - before) / 1e9 / (time.monotonic() - since)

    def settle(self, target):
        """Waits until the target is idle; returns the CPU seconds it used until then beyond what it uses when idle."""
        pids, start = target.pids(), time.monotonic()
        readings = [(start, machine.cpu_ns(pids))]
        idle, share = False, 0.0
        while not idle and time.monotonic() - start < self.drain_limit:
            time.sleep(SETTLE_STEP_S)
            readings.append((time.monotonic(), machine.cpu_ns(pids)))
            now, used = readings[-1]
            past = [reading for reading in readings if now - reading[0] >= SETTLE_WINDOW_S]
            if past:
                share = (used - past[-1][1]) / 1e9 / (now - past[-1][0])
                idle = share <= target.idle_share * 1.5 + SETTLED_SHARE
        elapsed = readings[-1][0] - start
        spent = (readings[-1][1] - readings[0][1]) / 1e9 - target.idle_share * elapsed
        return {"cpu_s": max(0.0, spent), "seconds": max(0.0, elapsed - (SETTLE_WINDOW_S if idle else 0)), "idle": idle}

    def sample(self, target, scenario, round_number):
        """One measurement of one target."""
        if scenario.fresh:
            target.stop()
            target.start()
            self.load(target, scenario, connections=WARM_STREAMS, count=WARM_STREAMS, shape="c200-d0", **{"ramp-ms": 0})
            if target.background:
                self.settle(target)
        target.must_run()
        pids = target.pids()
        machine.forget_peak(pids)
        rss_before, rows_before, threads_before = machine.memory_kb(pids, "VmRSS"), target.rows_logged(), machine.thread_cpu_ns(pids)
        upstream_before = self.requests_at_mock()
        busy_before, cpu_before, since = machine.busy_seconds(self.proxy_cpu), machine.cpu_ns(pids), time.monotonic()
        report = self.load(target, scenario)
        cpu_s, wall = (machine.cpu_ns(pids) - cpu_before) / 1e9, time.monotonic() - since
        busy = machine.busy_seconds(self.proxy_cpu) - busy_before
        after = self.settle(target) if target.background else {"cpu_s": 0.0, "seconds": 0.0, "idle": True}
        target.must_run()
        rows, threads = target.rows_logged(), machine.thread_cpu_ns(pids)
        return {
            "target": target.name, "label": target.label, "scenario": scenario.name, "round": round_number,
            "cpu_s": cpu_s, "after": after, "wall_s": wall, "others_share": max(0.0, busy - cpu_s) / wall,
            "threads_s": {name: (spent - threads_before.get(name, 0)) / 1e9 for name, spent in threads.items()},
            "rss_before_kb": rss_before, "peak_kb": machine.memory_kb(pids, "VmHWM"),
            "upstream": self.requests_at_mock() - upstream_before - 1,
            "rows_logged": None if rows is None or rows_before is None else rows - rows_before,
            "load": report,
        }
