"""Benchmark runs: a policy's attempts at pinned tasks, their results, and comparisons between revisions."""
