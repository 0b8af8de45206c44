"""Hands that reach an X server over RFB (RFC 6143), as those of a remote desktop: no X client is active meanwhile."""

import socket
import struct
from pathlib import Path

KEY_EVENT, POINTER_EVENT = 4, 5
EURO = 0x20AC
UNICODE_KEYSYMS = 0x01000000


class RemoteHands:
    """Types and moves."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._read(12)
        self._socket.sendall(b"RFB 003.008\n")
        self._read(self._read(1)[0])
        self._socket.sendall(b"\x01")  # no authentication
        self._read(4)
        self._socket.sendall(b"\x01")  # shared
        self._read(struct.unpack(">20xI", self._read(24))[0])

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def type(self, text: str) -> None:
        """Type characters of any script."""
        for char in text:
            code = ord(char)
            keysym = code if code < 0x100 or code == EURO else UNICODE_KEYSYMS + code
            for down in (1, 0):
                self._socket.sendall(struct.pack(">BBxxI", KEY_EVENT, down, keysym))

    def move(self, x: int, y: int) -> None:
        """Move the pointer."""
        self._socket.sendall(struct.pack(">BBHH", POINTER_EVENT, 0, x, y))

    def _read(self, count: int) -> bytes:
        return self._socket.recv(count, socket.MSG_WAITALL)
