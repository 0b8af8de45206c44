"""OSWorld's in-guest interface, as its callers know it: standard library and Xlib only, since it runs in sandboxes."""
