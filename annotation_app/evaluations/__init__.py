"""Evaluations as people read and compare them: reports on registered revisions, and finished benchmark runs."""
