"""The two ways through a sandbox's wall: out through a filtering proxy, in to the web programs it serves."""
