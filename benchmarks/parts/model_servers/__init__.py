"""Both servers of a model on a small checkpoint: for benchmarks beside each other, and for tests."""
