"""python3 -m unittest discover -s tests/bench"""
import unittest

from . import report


def sample(target, round_number, cpu_s, after_s=0.0, ok=1000, p50_ns=1_000_000, rows=None, scenario="S1"):
    quantiles = {"p50_ns": p50_ns, "p99_ns": 2 * p50_ns}
    return {
        "target": target, "label": target, "scenario": scenario, "round": round_number, "cpu_s": cpu_s,
        "after": {"cpu_s": after_s, "seconds": after_s, "idle": True}, "wall_s": 1.0, "others_share": 0.0, "threads_s": {"serve": cpu_s},
        "rss_before_kb": 10_000, "peak_kb": 30_000, "rows_logged": rows, "upstream": ok,
        "load": {"ok": ok, "failed": 0, "deltas": ok * 200, "ok_in_window": ok, "window_ns": 10**9, "first_failure": None,
                 "whole": quantiles, "first_byte": quantiles, "delta": quantiles}}


class Report(unittest.TestCase):
    def test_ratios_are_taken_within_a_round_and_then_the_median(self):
        # The machine was twice as slow in round 2; the ratio does not care.
        samples = report.Samples([sample("pingora", r, cpu) for r, cpu in enumerate([1, 2, 1])]
                                 + [sample("gateway", r, cpu) for r, cpu in enumerate([1.5, 3, 1.5])])
        self.assertAlmostEqual(samples.ratio("S1", "gateway", "pingora", report.cpu_us), 1.5)

    def test_a_round_that_the_base_missed_has_no_ratio(self):
        samples = report.Samples([sample("pingora", 0, 1), sample("gateway", 1, 9)])
        self.assertIsNone(samples.ratio("S1", "gateway", "pingora", report.cpu_us))

    def test_latency_is_what_was_added_to_direct_in_the_same_round(self):
        samples = report.Samples([sample("direct", 0, 1, p50_ns=1_000_000), sample("nginx", 0, 1, p50_ns=1_250_000)])
        self.assertAlmostEqual(samples.added("S1", "nginx", "whole", "p50_ns"), 0.25)

    def test_work_after_the_load_counts_only_where_it_says_all(self):
        one = sample("gateway", 0, 2, after_s=1)
        self.assertAlmostEqual(report.cpu_us(one), 2_000)
        self.assertAlmostEqual(report.after_us(one), 1_000)
        self.assertAlmostEqual(report.all_us(one), 3_000)

    def test_answers_without_a_row_in_the_request_log_are_failures(self):
        self.assertEqual(report.failures(sample("gateway", 0, 1, rows=990)), 10)
        self.assertEqual(report.failures(sample("gateway", 0, 1, rows=1000)), 0)

    def test_memory_of_a_fresh_process_is_given_per_stream(self):
        raw = [sample("direct", 0, 1, scenario="S6"), sample("nginx", 0, 1, scenario="S6")]
        line = next(line for line in report.render(raw).splitlines() if line.startswith("| nginx"))
        self.assertIn("| 20.0 |", line)


if __name__ == "__main__":
    unittest.main()
