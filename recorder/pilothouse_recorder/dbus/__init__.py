"""A small client of D-Bus on Linux: method calls, signals, and objects of one's own. No library is needed for it."""
