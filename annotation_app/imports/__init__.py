"""Imports of trajectories that were made elsewhere."""
