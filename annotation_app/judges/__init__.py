"""Judges of finished episodes: which a pool has, their verdicts, and their agreement with people."""
