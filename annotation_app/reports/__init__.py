"""Reports: statistics computed from episodes, steps and proposals on each request."""
