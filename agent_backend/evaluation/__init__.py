"""Evaluates a policy by its attempts in folders: metrics with their uncertainty, and comparisons with another
policy."""
