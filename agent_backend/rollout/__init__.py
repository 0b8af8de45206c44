"""Runs a policy on tasks without a person. Uses the same episode runner and writes trajectories to a folder."""
