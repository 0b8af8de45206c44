"""Blobs: immutable bytes addressed by their SHA-256."""
