"""The proxies, and the mock itself: how to start, reach and stop each."""
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
from pathlib import Path

from . import machine

HERE = Path(__file__).resolve().parent.parent
KEY = "bench-client-key-0123456789"
READY_WITHIN_S = 30
STOPPED_WITHIN_S = 6
NGINX_PLACES = "/usr/sbin:/usr/local/sbin:/usr/local/bin"


class Unavailable(Exception):
    """A target cannot take part; the text says what to do about it."""


class Target:
    """A program between the load and the mock. Subclasses say how it is started."""
    label = ""
    model = "mock-{shape}"
    headers = ()
    background = False  # has work left when the load ends

    def __init__(self, name, bench):
        self.name, self.bench, self.process, self.port, self.idle_share = name, bench, None, 0, 0.0
        self.folder = bench.scratch / name.replace("/", "_")
        self.log = bench.results / f"{name.replace('/', '_')}.log"

    def command(self):
        raise NotImplementedError

    def model_for(self, scenario):
        return self.model

    def path_for(self, scenario):
        """Where the client's request goes. What cannot translate passes the same bytes to the other shape's path."""
        return "/v1/messages" if scenario.translated else "/v1/chat/completions"

    def environment(self):
        return {}

    def check(self):
        """Raises Unavailable when the program is not there."""

    def start(self):
        shutil.rmtree(self.folder, ignore_errors=True)  # what an earlier process of this target left
        self.folder.mkdir()
        self.port = free_port()
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                env={**os.environ, **self.environment()}, preexec_fn=machine.pinned(self.bench.proxy_cpu))
        self.wait_ready()

    def wait_ready(self):
        end = time.monotonic() + READY_WITHIN_S
        failure = "nothing listens"
        while time.monotonic() < end:
            self.must_run()
            if listens(self.port):
                report = self.bench.try_once(self)
                if report["ok"]:
                    return
                failure = report["first_failure"]
            time.sleep(0.1)
        raise Unavailable(f"it gave no right answer within {READY_WITHIN_S} s: {failure} {self.last_words()}")

    def must_run(self):
        """Raises Unavailable when the program has ended."""
        if self.process is None:
            raise Unavailable("it is not running")
        if self.process.poll() is not None:
            raise Unavailable(f"it ended with status {self.process.returncode}: {self.last_words()}")

    def last_words(self):
        text = self.log.read_text(errors="replace").strip() if self.log.exists() else ""
        return f"(log: {self.log}) {text[-600:]}"

    def pids(self):
        return machine.process_tree(self.process.pid)

    def stop(self):
        if self.process is None:
            return
        pids = self.pids()
        self.process.terminate()
        try:
            self.process.wait(STOPPED_WITHIN_S)
        except subprocess.TimeoutExpired:
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.process.wait()
        self.process = None

    def rows_logged(self):
        """Rows in the request log, or None where there is none."""
        return None


class Direct(Target):
    """The load generator talks to the mock: the base of every added latency."""
    label = "direct (no proxy)"

    def start(self):
        self.port = self.bench.mock_port

    def must_run(self):
        pass

    def pids(self):
        return [self.bench.mock.pid]

    def stop(self):
        pass


class Nginx(Target):
    label = "nginx"

    def check(self):
        self.program = shutil.which("nginx") or shutil.which("nginx", path=NGINX_PLACES)
        if not self.program:
            raise Unavailable("nginx is not installed: apt-get install nginx-light")

    def command(self):
        conf = (HERE / "conf/nginx.conf").read_text()
        conf = conf.replace("BENCH_LISTEN", f"127.0.0.1:{self.port}").replace("BENCH_MOCK", f"127.0.0.1:{self.bench.mock_port}")
        (self.folder / "nginx.conf").write_text(conf)
        return [self.program, "-p", str(self.folder), "-c", str(self.folder / "nginx.conf"), "-e", "stderr"]


class Pingora(Target):
    label = "bare Pingora"

    def check(self):
        self.program = self.bench.program("bench-pingora")

    def command(self):
        return [str(self.program), "--listen", f"127.0.0.1:{self.port}", "--upstream", f"127.0.0.1:{self.bench.mock_port}", "--threads", "1"]


class Gateway(Target):
    label = "gateway"
    conf = "svc.yaml"
    model = "chat-{shape}"
    headers = (f"authorization: Bearer {KEY}",)
    background = True
    binary = None

    def model_for(self, scenario):
        return "messages-{shape}" if scenario.translated else self.model

    def path_for(self, scenario):
        return "/v1/chat/completions"

    def check(self):
        self.program = Path(self.binary or self.bench.gateway)
        if not self.program.is_file():
            raise Unavailable(f"there is no {self.program}: make release")

    def command(self):
        return [str(self.program.resolve()), "--conf", str(HERE / "conf" / self.conf)]

    def environment(self):
        return {"BENCH_LISTEN": f"127.0.0.1:{self.port}", "BENCH_MOCK": f"127.0.0.1:{self.bench.mock_port}", "BENCH_KEY": KEY,
                "BENCH_DATABASE": str(self.database()), "BENCH_DATA": str(self.folder / "data"), "RUST_LOG": "warn"}

    def database(self):
        return self.folder / "svc.db"

    def rows_logged(self):
        try:
            connection = sqlite3.connect(f"file:{self.database()}?mode=ro", uri=True, timeout=5)
        except sqlite3.Error:
            return None
        try:
            return connection.execute("SELECT count(*) FROM request_log").fetchone()[0]
        except sqlite3.Error:
            return None
        finally:
            connection.close()


class PlainGateway(Gateway):
    label = "gateway, plain"
    conf = "svc-plain.yaml"


class FullGateway(Gateway):
    """The gateway of a large organisation: every rule is looked at and none decides, and the key is one among many."""
    label = "gateway, 50 rules, 10,000 keys"
    rules, keys = 50, 10_000

    def command(self):
        text = (HERE / "conf" / self.conf).read_text()
        rules = "".join(f"  - {{name: rule-{n}, priority: {100 + n}, {RULES[n % len(RULES)].replace('NUMBER', str(n))}}}\n" for n in range(self.rules - 1))
        keys = "".join(f"  - {{name: key-{n}, secret: bench-other-key-{n:08}, owner: {{user: user-{n}@example.com}}}}\n" for n in range(self.keys - 1))
        text = text.replace("\nrules:\n", f"\n{keys.rstrip()}\nrules:\n{rules}".replace("\n\n", "\n"), 1)
        path = self.folder / self.conf
        path.write_text(text)
        return [str(self.program.resolve()), "--conf", str(path)]


class GuardedGateway(Gateway):
    """The gateway with guardrails at every place of prompts and answers, of which none finds anything."""
    label = "gateway, 30 guardrails"

    def command(self):
        text = (HERE / "conf" / self.conf).read_text() + "guardrails:\n"
        text += "".join(f"  - {{name: {name}, kind: detector, detector: {name}, action: {ACTIONS[n % 3]}}}\n" for n, name in enumerate(DETECTORS))
        text += "".join(f"  - {{name: pattern-{n}, kind: regex, pattern: '{pattern}', action: {ACTIONS[n % 3]}}}\n" for n, pattern in enumerate(PATTERNS))
        path = self.folder / self.conf
        path.write_text(text)
        return [str(self.program.resolve()), "--conf", str(path)]


ACTIONS = ("mask", "block", "log_only")
DETECTORS = ("card_number", "iban", "email", "phone", "us_ssn", "uk_nino", "de_steuer_id", "fr_nir", "es_dni", "it_codice_fiscale", "nl_bsn",
             "in_aadhaar", "br_cpf", "ipv4", "api_key", "private_key", "jwt", "jailbreak")
# What companies write: names of projects and customers, marks of classified documents, own numbers, hosts, words.
PATTERNS = (
    r"(?i)project (?:atlas|zephyr|quicksand)", r"\bACME-[0-9]{6}\b", r"(?i)strictly confidential", r"(?i)for internal use only", r"\bcustomer-[a-f0-9]{8}\b",
    r"[a-z0-9-]+\.corp\.example\.com", r"(?i)merger with \w+", r"\bEMP[0-9]{5}\b", r"(?i)layoffs?", r"(?i)\bsalary of [A-Z][a-z]+", r"x-internal-[a-z]+",
    r"(?i)(?:kill|harm) (?:yourself|himself|herself)",
)

# One of each kind and condition; what they ask for does not hold for what the load sends.
RULES = (
    "kind: deny, when: {models: [model-NUMBER-that-nobody-asks-for]}",
    "kind: deny, when: {tags: {job: batch-NUMBER}}",
    "kind: cost_saver, when: {prompt_tokens: {min: 900000NUMBER}}, redirect: {model: chat-c200-d0}",
    "kind: custom, when: {cel: \"headers['x-lane'] == 'NUMBER' && stream\"}, redirect: {model: chat-c200-d0}",
    "kind: ab, when: {models: [split-NUMBER]}, split: [{model: chat-c200-d0, weight: 1}, {model: messages-c200-d0, weight: 1}], sticky: end_user",
    "kind: custom, region: eu, scope: {teams: [team-NUMBER]}, when: {cel: \"model == 'm'\"}",
    "kind: deny, when: {tools: true, models: ['expensive-NUMBER-*']}",
)

KINDS = {"direct": Direct, "nginx": Nginx, "pingora": Pingora, "gateway": Gateway, "gateway-plain": PlainGateway, "gateway-guarded": GuardedGateway,
         "gateway-full": FullGateway}
DEFAULT = [name for name in KINDS if name != "gateway-full"]  # which is slow to start


def make(name, bench):
    """`gateway@PATH` is the gateway of another build, for comparing two."""
    kind, _, binary = name.partition("@")
    target = KINDS[kind](name, bench)
    if binary:
        target.binary, target.label = binary, f"{target.label} ({binary})"
    return target


def free_port():
    """A port nobody uses, below the range from which the kernel picks ports for outgoing connections."""
    for port in random.sample(range(20_000, 30_000), 200):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass
    raise Unavailable("no free port was found between 20000 and 30000")


def listens(port):
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
