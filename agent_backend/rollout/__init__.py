"""Attempts of a policy at bundled tasks without a person: the same runner, its trajectories in a folder."""
