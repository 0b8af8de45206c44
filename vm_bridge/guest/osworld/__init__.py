"""OSWorld's in-guest interface, as its callers know it: standard library and Xlib only, since it runs in sandboxes."""

LOOPBACK, PORT = "127.0.0.1", 5000
"""Where it listens in a sandbox. The bridge, which has no Xlib, reads this too."""
