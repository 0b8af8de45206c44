"""A simulated annotator: a suite's expert at the real desk, which accepts a candidate or overrides it."""
