"""From raw samples to tables. Everything here can be computed again from the file of raw samples."""
import statistics

from .scenarios import SCENARIOS

NONE = "–"


class Samples:
    """Samples by scenario and target, each in order of rounds."""

    def __init__(self, samples):
        self.by = {}
        self.labels = {}
        for sample in samples:
            self.labels.setdefault(sample["target"], sample["label"])
            self.by.setdefault((sample["scenario"], sample["target"]), {})[sample["round"]] = sample

    def of(self, scenario, target):
        return self.by.get((scenario, target), {})

    def median(self, scenario, target, figure):
        values = [figure(sample) for sample in self.of(scenario, target).values()]
        return statistics.median(values) if values else None

    def paired(self, scenario, target, base, combine, figure):
        """Median over rounds of what `combine` makes of the target's figure and the base's figure of the same round."""
        bases = self.of(scenario, base)
        values = [combine(figure(s), figure(bases[r])) for r, s in self.of(scenario, target).items() if r in bases]
        return statistics.median(values) if values else None

    def ratio(self, scenario, target, base, figure):
        if target in ("direct", base):
            return None
        return self.paired(scenario, target, base, lambda ours, theirs: ours / theirs if theirs else float("nan"), figure)

    def added(self, scenario, target, kind, quantile):
        def milliseconds(sample):
            return sample["load"][kind][quantile] / 1e6
        if target == "direct":
            return self.median(scenario, target, milliseconds)
        return self.paired(scenario, target, "direct", lambda ours, theirs: ours - theirs, milliseconds)


def cpu_us(sample):
    """CPU microseconds per request while the load ran."""
    return sample["cpu_s"] * 1e6 / max(1, sample["load"]["ok"])


def after_us(sample):
    """CPU microseconds per request after the load had ended, until the target was idle."""
    return sample["after"]["cpu_s"] * 1e6 / max(1, sample["load"]["ok"])


def all_us(sample):
    return cpu_us(sample) + after_us(sample)


def delta_us(sample):
    return sample["cpu_s"] * 1e6 / max(1, sample["load"]["deltas"])


def rate(sample):
    return sample["load"]["ok_in_window"] * 1e9 / max(1, sample["load"]["window_ns"])


def failures(sample):
    """Requests without a right answer, and answers without a row in the request log (or with two)."""
    return sample["load"]["failed"] + wrongly_logged(sample)


def wrongly_logged(sample):
    """Right answers without a row, and rows beyond the requests made; a failed request may or may not have a row."""
    rows, right, failed = sample["rows_logged"], sample["load"]["ok"], sample["load"]["failed"]
    return 0 if rows is None else max(0, right - rows, rows - right - failed)


def times(value):
    return NONE if value is None else f"{value:.2f}×"


def number(value, digits):
    return NONE if value is None else f"{value:,.{digits}f}"


def table(heads, rows):
    lines = ["| " + " | ".join(row) + " |" for row in [heads, *rows]]
    lines.insert(1, "|---|" + "---:|" * (len(heads) - 1))
    return "\n".join(lines) + "\n"


def latency(samples, scenario, target, kind):
    pair = " / ".join(number(samples.added(scenario.name, target, kind, q), 2) for q in ("p50_ns", "p99_ns"))
    return f"({pair})" if target == "direct" else pair


def row(samples, scenario, target):
    """The cells of one target, each under its heading."""
    name = scenario.name
    of = samples.of(name, target).values()
    cpu = [cpu_us(s) for s in of]
    has_background = any(s["after"]["seconds"] or s["rows_logged"] is not None for s in of)
    cells = {"target": samples.labels[target], "CPU s / 1,000 req": number(statistics.median(cpu) / 1e3, 4)}
    if scenario.streams:
        cells["CPU µs / delta"] = number(samples.median(name, target, delta_us), 2)
    cells["after the load"] = number(samples.median(name, target, after_us) / 1e3, 4) if has_background else NONE
    cells["× nginx"] = times(samples.ratio(name, target, "nginx", cpu_us))
    cells["× Pingora"] = times(samples.ratio(name, target, "pingora", cpu_us))
    cells["× Pingora, all"] = times(samples.ratio(name, target, "pingora", all_us)) if has_background else NONE
    if scenario.streams:
        cells["added first byte p50 / p99 ms"] = latency(samples, scenario, target, "first_byte")
        cells["added per delta p50 / p99 ms"] = latency(samples, scenario, target, "delta")
    else:
        cells["added p50 / p99 ms"] = latency(samples, scenario, target, "whole")
    if not scenario.paced:
        cells["req / s"] = number(samples.median(name, target, rate), 0)
    cells["peak MiB"] = number(samples.median(name, target, lambda s: s["peak_kb"] / 1024), 1)
    if scenario.fresh:
        per_stream = samples.median(name, target, lambda s: (s["peak_kb"] - s["rss_before_kb"]) / max(1, s["load"]["ok"]))
        cells["KiB / stream"] = NONE if target == "direct" else number(per_stream, 1)
    cells["failed"] = str(sum(map(failures, of)))
    cells["spread"] = f"{(max(cpu) - min(cpu)) / max(1e-9, statistics.median(cpu)) * 100:.0f} %"
    cells["others on its CPU"] = NONE if target == "direct" else f"{samples.median(name, target, lambda s: s['others_share']) * 100:.0f} %"
    return cells


def summary(samples, scenarios, targets):
    """One line per target: CPU per request or per delta, and how many times that of nginx and of bare Pingora."""
    rows = []
    for target in targets:
        cells = [samples.labels[target]]
        for scenario in scenarios:
            figure = delta_us if scenario.streams else cpu_us
            value = samples.median(scenario.name, target, figure)
            ratios = [times(samples.ratio(scenario.name, target, base, cpu_us)) for base in ("nginx", "pingora")]
            cells.append(NONE if value is None else f"{value:,.1f} ({', '.join(ratios)})")
        rows.append(cells)
    return table(["target", *(s.name for s in scenarios)], rows)


def threads(samples, scenarios, targets):
    """Where the CPU of targets with background work went, by thread name, after-load work included."""
    rows = []
    for target in targets:
        for scenario in scenarios:
            of = list(samples.of(scenario.name, target).values())
            if not any(s["rows_logged"] is not None for s in of):
                continue
            names = {name for s in of for name in s["threads_s"]}
            spent = {n: statistics.median(s["threads_s"].get(n, 0) * 1e6 / max(1, s["load"]["ok"]) for s in of) for n in names}
            most = sorted(spent.items(), key=lambda item: -item[1])[:6]
            rows.append([samples.labels[target], scenario.name, ", ".join(f"{n} {us:,.1f}" for n, us in most if us >= 0.05)])
    return table(["target", "scenario", "CPU µs per request by thread name"], rows) if rows else ""


def render(raw):
    """All tables, as Markdown."""
    samples = Samples(raw)
    scenarios = [s for s in SCENARIOS.values() if any(name == s.name for name, _ in samples.by)]
    targets = list(samples.labels)
    parts = []
    for scenario in scenarios:
        rows = [row(samples, scenario, target) for target in targets if samples.of(scenario.name, target)]
        parts.append(f"\n### {scenario.name}: {scenario.title}\n\n" + table(list(rows[0]), [list(r.values()) for r in rows]))
        parts += [f"\n{note}\n" for note in notes(samples, scenario, targets)]
    parts.append("\n### All scenarios: CPU µs per request, or per delta of a stream (× nginx, × Pingora)\n\n" + summary(samples, scenarios, targets))
    by_thread = threads(samples, scenarios, targets)
    if by_thread:
        parts.append("\n### Where the gateway's CPU went, work after the load included\n\n" + by_thread)
    return "".join(parts)


def notes(samples, scenario, targets):
    for target in targets:
        for sample in samples.of(scenario.name, target).values():
            where = f"{sample['label']}, round {sample['round'] + 1}"
            rows, served = sample["rows_logged"], sample["load"]["ok"]
            if sample["load"]["first_failure"]:
                yield f"**{where}: {sample['load']['failed']} failed**, first: `{sample['load']['first_failure'][:300]}`"
            if sample["upstream"] != served + sample["load"]["failed"]:
                yield f"**{where}: {served + sample['load']['failed']} requests but {sample['upstream']} reached the mock.**"
            if wrongly_logged(sample):
                yield f"**{where}: {served} answers but {rows} rows in the request log.**"
            if not sample["after"]["idle"]:
                yield f"**{where}: still busy {sample['after']['seconds']:.1f} s after the load**; the figure after the load is too low."
