"""The protocol of host and guest: length-prefixed JSON over a private socket."""

import json
import socket
import struct
from typing import Any

MAX_FRAME = 8 * 1024 * 1024
"""Longest message (bytes)."""
HEADER = struct.Struct(">I")
GREETING = b"\1"
"""Sent before any message, together with the descriptor of the frame memory."""

READY = 0
"""Message id of a guest's initial state."""
PICTURE = -1
"""Message id of rows of a slot's pixels, sent before the reply that refers to them: `slot`, `top`, and `data`,
compressed by zlib. Used only if host and guest share no memory."""

Message = dict[str, Any]


class WireError(Exception):
    """The peer broke the protocol or went away."""


def encode(message: Message) -> bytes:
    """One frame. Raises WireError when the message is too long."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if len(body) > MAX_FRAME:
        raise WireError(f"a message of {len(body)} bytes is too long")
    return HEADER.pack(len(body)) + body


def body_length(header: bytes) -> int:
    """Body length from a header. Raises WireError beyond MAX_FRAME."""
    (length,) = HEADER.unpack(header)
    if length > MAX_FRAME:
        raise WireError(f"a message of {length} bytes is too long")
    return int(length)


def decode(body: bytes) -> Message:
    """Decode a frame's body. Raises WireError if it is not a JSON object."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:  # RecursionError for deep nesting
        raise WireError(f"not JSON: {error}") from error
    if not isinstance(message, dict):
        raise WireError("not a JSON object")
    return message


def receive(link: socket.socket) -> Message:
    """The next message, blocking. Raises WireError at the end of the stream."""
    return decode(receive_exactly(link, body_length(receive_exactly(link, HEADER.size))))


def receive_exactly(link: socket.socket, size: int) -> bytes:
    """Receive `size` bytes. Raises WireError if the stream ends before."""
    data = bytearray()
    while len(data) < size:
        chunk = link.recv(size - len(data))
        if not chunk:
            raise WireError("the host hung up")
        data += chunk
    return bytes(data)
