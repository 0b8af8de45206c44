"""Where machines live: one kind of place a file."""
