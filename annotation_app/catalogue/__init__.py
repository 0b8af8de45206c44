"""What researchers find trajectories by: search, facets, and queries they keep."""
