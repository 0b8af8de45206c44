"""Immutable bytes by their sha256."""
