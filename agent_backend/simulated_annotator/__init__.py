"""A simulated annotator: a suite's expert at the real desk, who takes a candidate or acts in its place."""
