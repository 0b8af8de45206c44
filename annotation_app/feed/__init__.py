"""Trajectories one at a time, in the order in which they became ready: what a trainer follows."""
