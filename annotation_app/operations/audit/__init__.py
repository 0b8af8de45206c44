"""`./pilothouse audit`: scanners for known weaknesses and leaked secrets, and a dated list of allowed findings."""
