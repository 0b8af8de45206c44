"""The catalogue of trajectories for researchers: search, facets, and saved queries."""
