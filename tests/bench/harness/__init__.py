"""The runner of the benchmark: standard library only, Linux only."""
