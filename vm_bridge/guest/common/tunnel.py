"""Shared constants of a sandbox and its host about connections in and out."""

LOOPBACK = "127.0.0.1"
EGRESS_PORT = 3128
"""Port of the proxy in a sandbox, its only way out."""
CONNECTED, CONNECT_FAILED = b"+", b"-"
"""First byte of a reply through the tunnel: whether the port was reached."""
