"""The audit log: an append-only record of who did what."""
