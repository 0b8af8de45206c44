"""Turns people's spoken thoughts into readable reasoning; every sentence keeps its source."""
