"""Bringing trajectories in that were made elsewhere."""
