"""Benchmark runs: attempts of a policy at pinned tasks, what they come to, and how revisions compare."""
