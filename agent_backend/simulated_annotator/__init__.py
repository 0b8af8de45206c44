"""A simulated annotator: a suite's expert works episodes in the web app and accepts or overrides candidates."""
