"""How host and guest talk: length-prefixed JSON over a socket that nobody else can name."""

import json
import socket
import struct
from typing import Any

MAX_FRAME = 8 * 1024 * 1024
"""Longest message (bytes)."""
HEADER = struct.Struct(">I")
GREETING = b"\1"
"""Comes first, before any message, and brings the descriptor of the memory with the frames."""

READY = 0
"""The id of the message in which a guest says what there is already."""
PICTURE = -1
"""The id of a message with rows of a slot's pixels, ahead of the answer that tells of them: `slot`, `top`, and `data`,
compressed by zlib. Only where host and guest share no memory."""

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
    """How many bytes follow a header. Raises WireError beyond MAX_FRAME."""
    (length,) = HEADER.unpack(header)
    if length > MAX_FRAME:
        raise WireError(f"a message of {length} bytes is too long")
    return int(length)


def decode(body: bytes) -> Message:
    """The message of a frame's body. Raises WireError when it is not a JSON object."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:  # the latter where it is nested too deeply
        raise WireError(f"not JSON: {error}") from error
    if not isinstance(message, dict):
        raise WireError("not a JSON object")
    return message


def receive(link: socket.socket) -> Message:
    """The next message, blocking. Raises WireError at the end of the stream."""
    return decode(receive_exactly(link, body_length(receive_exactly(link, HEADER.size))))


def receive_exactly(link: socket.socket, size: int) -> bytes:
    """So many bytes. Raises WireError when the stream ends before."""
    data = bytearray()
    while len(data) < size:
        chunk = link.recv(size - len(data))
        if not chunk:
            raise WireError("the host hung up")
        data += chunk
    return bytes(data)
