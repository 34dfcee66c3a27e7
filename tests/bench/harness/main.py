"""Options, rounds, and what goes where: tables to standard output, progress to standard error, raw samples to a file."""
import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from . import machine, report
from .bench import Bench
from .scenarios import SCENARIOS
from .targets import DEFAULT, HERE, KINDS, Unavailable, make

ROOT = HERE.parent.parent
FRESH_ROUNDS = 1


def options():
    target_folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    parser = argparse.ArgumentParser(prog="tests/bench/run", description="Compare the gateway with a bare Pingora proxy and nginx.")
    parser.add_argument("--targets", default=",".join(DEFAULT), help=f"of {', '.join(KINDS)}; gateway@PATH and gateway-plain@PATH are other builds")
    parser.add_argument("--scenarios", default=",".join(SCENARIOS), help=f"of {', '.join(SCENARIOS)}")
    parser.add_argument("--rounds", type=int, default=3, help="samples of each target in each scenario (S6: one, or --fresh-rounds)")
    parser.add_argument("--fresh-rounds", type=int, default=FRESH_ROUNDS, help="samples where each needs a fresh process (S6)")
    parser.add_argument("--seconds", type=float, default=1.2, help="in which requests begin, per sample")
    parser.add_argument("--drain-limit", type=float, default=15, help="seconds to wait for the gateway's background work after a load")
    parser.add_argument("--programs", default=target_folder / "release", help="folder of the built programs")
    parser.add_argument("--gateway", default=target_folder / "optimised" / "svc-gateway", help="the gateway that takes part; make release builds it")
    parser.add_argument("--results", default=target_folder / "bench", help="folder for raw samples and logs")
    parser.add_argument("--report", metavar="FILE", help="measure nothing, print the tables of these raw samples")
    chosen = parser.parse_args()
    chosen.targets = chosen.targets.split(",")
    chosen.scenarios = [name for name in SCENARIOS if name in chosen.scenarios.split(",")]
    unknown = [name for name in chosen.targets if name.partition("@")[0] not in KINDS]
    if unknown or not chosen.scenarios:
        parser.error(f"unknown targets: {', '.join(unknown)}" if unknown else "no known scenario")
    if not (1 <= chosen.rounds <= 50 and 1 <= chosen.fresh_rounds <= 50 and 0.1 <= chosen.seconds <= 60):
        parser.error("rounds are 1 to 50, seconds 0.1 to 60")
    return chosen


def say(text):
    print(text, file=sys.stderr, flush=True)


def start_all(bench, names, targets):
    """Starts what can be started and adds it to `targets`; returns what cannot, and why."""
    missing = {}
    for name in names:
        target = make(name, bench)
        try:
            target.log.unlink(missing_ok=True)
            targets.append(target)
            bench.begin(target)
            say(f"{name}: ready")
        except Unavailable as why:
            targets.remove(target)
            target.stop()
            missing[name] = str(why)
            say(f"{name}: left out, {why}")
    return missing


def measure(bench, targets, chosen, file):
    """Every sample, in rounds over the targets; also those that could not be taken, and why."""
    samples, lost = [], []
    for name in chosen.scenarios:
        scenario = SCENARIOS[name]
        for round_number in range(chosen.fresh_rounds if scenario.fresh else chosen.rounds):
            for target in targets:
                try:
                    sample = bench.sample(target, scenario, round_number)
                except Unavailable as why:
                    lost.append(f"{name} of {target.name}, round {round_number + 1}: {why}")
                    say(f"No sample of {lost[-1]}")
                    continue
                samples.append(sample)
                print(json.dumps(sample), file=file, flush=True)
                say(f"{name} round {round_number + 1} {target.name}: {report.cpu_us(sample):.1f} µs/request, "
                    f"after the load {report.after_us(sample):.1f}, {sample['load']['ok']} answers, {report.failures(sample)} failed")
    return samples, lost


def about(chosen):
    git = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return {"about": {**machine.describe(), "commit": git.stdout.strip(), "rounds": chosen.rounds, "seconds": chosen.seconds,
                      "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}}


def print_report(lines):
    head, samples = lines[0]["about"], lines[1:]
    print(f"# Benchmark, {head['when']}, commit {head['commit']}\n\n{head['cpus']} × {head['cpu']}, Linux {head['kernel']}, TCP {head['tcp']}; "
          f"{head['rounds']} rounds of {head['seconds']:g} s. Compare within this run only.")
    print(report.render(samples), flush=True)


def main():
    chosen = options()
    if chosen.report:
        return print_report([json.loads(line) for line in Path(chosen.report).read_text().splitlines()])
    if not sys.platform.startswith("linux"):
        sys.exit("the benchmark reads /proc and pins processes to CPUs: it needs Linux")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    files, began, targets = machine.raise_file_limit(), time.monotonic(), []
    if files < 4_096 and "S6" in chosen.scenarios:
        chosen.scenarios.remove("S6")
        say(f"S6: left out, only {files} open files are allowed (ulimit -n)")
    try:
        with Bench(chosen.programs, chosen.gateway, chosen.results, chosen.seconds, chosen.drain_limit) as bench:
            head = about(chosen)
            path = bench.results / f"{head['about']['when'].replace(':', '')}.jsonl"
            try:
                missing = start_all(bench, chosen.targets, targets)
                with open(path, "w") as file:
                    print(json.dumps(head), file=file, flush=True)
                    samples, lost = measure(bench, targets, chosen, file)
            finally:
                for target in targets:
                    target.stop()
    except Unavailable as why:
        sys.exit(f"bench: {why}")
    print_report([head, *samples])
    for name, why in missing.items():
        print(f"Not measured: {name}. {why.splitlines()[0]}")
    for sample in lost:
        print(f"No sample of {sample.splitlines()[0]}")
    print(f"\nRaw samples: {path}. The run took {time.monotonic() - began:.0f} s.")
    return 1 if lost or any(map(report.failures, samples)) else 0
