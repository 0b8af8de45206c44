"""Queries on reviews; read-only."""
