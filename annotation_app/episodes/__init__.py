"""Attempts at tasks, step by step: the record everything else is made from."""
