"""Accepted trajectories as files."""
