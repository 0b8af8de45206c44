"""The videos of episodes: what the bridge recorded, stored with the record."""
