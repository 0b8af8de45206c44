"""Repeatable measurements; each prints one JSON object as its last line."""
