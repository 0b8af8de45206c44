"""A simulated OSWorld guest: its in-guest server's API in front of a real X desktop, without walls, for tests."""
