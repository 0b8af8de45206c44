"""Retention: rules that delete data after some time."""
