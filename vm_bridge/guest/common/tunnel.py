"""What a sandbox and its host agree on about connections in and out."""

LOOPBACK = "127.0.0.1"
EGRESS_PORT = 3128
"""Where programs in a sandbox find the proxy that is their only way out."""
CONNECTED, CONNECT_FAILED = b"+", b"-"
"""First byte of an answer through the tunnel: whether the port was reached."""
