"""People's own recorders: computers that are paired, and the sessions they upload."""
