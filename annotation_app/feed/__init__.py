"""Feed of single trajectories, in the order in which they became ready. A trainer follows it."""
