"""A small D-Bus client for Linux: method calls, signals and exported objects. It needs no library."""
