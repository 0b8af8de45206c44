"""The shapes other programs read trajectories in: one file a format, pure; where the rows go is the exporter's."""
