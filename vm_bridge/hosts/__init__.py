"""The places where machines run, one kind per file."""
