"""Evaluations for reading and comparison: reports on registered revisions, and finished benchmark runs."""
