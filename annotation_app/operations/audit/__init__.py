"""`./pilothouse audit`: scanners for known vulnerabilities and leaked secrets, and a dated list of allowed findings."""
