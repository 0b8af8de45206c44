"""Downstream training from folders of trajectories."""
