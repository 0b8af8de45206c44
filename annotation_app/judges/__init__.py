"""Judges of finished episodes: which a pool has, what they said, and how far they agree with people."""
