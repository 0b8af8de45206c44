"""A simulated OSWorld guest: its in-guest server's API in front of a real, unsandboxed X desktop, for tests."""
