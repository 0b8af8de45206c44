"""How host and virtual machine begin to talk: what each says first on a fresh line."""

import struct
import time

LINE = "org.pilothouse.line"
"""The name of the port that is the line."""
HERE = b"\x00PILOTHOUSE-LINE"
"""What the machine says once it has noticed that a host has come; all before it is forgotten."""
HOST = struct.Struct(">d32s")
"""What the host says then: the time (seconds since the epoch) and fresh randomness, since a machine that was put back
to an earlier state has the time and the randomness of that state."""


def host_says(randomness: bytes) -> bytes:
    """The host's first words."""
    return HOST.pack(time.time(), randomness)
