"""What a viewer may say in RFB: everything about seeing, nothing about acting (RFC 6143 and TigerVNC's extensions)."""

import struct

VERSIONS = (b"RFB 003.007\n", b"RFB 003.008\n")
NO_SECURITY = 1

SET_PIXEL_FORMAT, SET_ENCODINGS, UPDATE_REQUEST = 0, 2, 3
KEY_EVENT, POINTER_EVENT, CUT_TEXT = 4, 5, 6
CONTINUOUS_UPDATES, FENCE, XVP, SET_DESKTOP_SIZE, QEMU = 150, 248, 250, 251, 255
FIXED_LENGTHS = {
    SET_PIXEL_FORMAT: 20,
    UPDATE_REQUEST: 10,
    KEY_EVENT: 8,
    POINTER_EVENT: 6,
    CONTINUOUS_UPDATES: 10,
    XVP: 4,
    QEMU: 12,
}
"""Length of messages that always have the same (bytes)."""
FORWARDED_MESSAGES = frozenset({SET_PIXEL_FORMAT, UPDATE_REQUEST, CONTINUOUS_UPDATES, FENCE})
MAX_ENCODINGS = 256

VIEW_ONLY_PSEUDO_ENCODINGS = frozenset(
    {
        -223,  # DesktopSize
        -224,  # LastRect
        -239,  # Cursor
        -307,  # DesktopName
        -308,  # ExtendedDesktopSize
        -312,  # Fence
        -313,  # ContinuousUpdates
        -314,  # CursorWithAlpha
        0x574D5664,  # VMware cursor
    }
)
"""Pseudo-encodings that change only what is seen."""


class ViewOnlyViolation(Exception):
    """The client says something a viewer does not say, or that cannot be read."""


def is_view_only_encoding(encoding: int) -> bool:
    """Whether asking for an encoding changes only how pictures travel.

    The others would open further ways in (extended clipboard, extended pointer and key events), whose
    messages this filter could not measure.
    """
    quality, compression = -32 <= encoding <= -23, -256 <= encoding <= -247
    tight_jpeg = -512 <= encoding <= -412 or -768 <= encoding <= -763
    return 0 <= encoding < 2**24 or quality or compression or tight_jpeg or encoding in VIEW_ONLY_PSEUDO_ENCODINGS


class ViewOnlyFilter:
    """Filters the bytes a client sends, in whatever pieces they come; holds back at most one message's head."""

    def __init__(self) -> None:
        self._held = b""
        self._skip = 0
        self._greeting = [len(VERSIONS[0]), 1, 1]
        """Lengths of what is still to come of the handshake: version, security type, ClientInit."""

    def feed(self, data: bytes) -> bytes:
        """What of `data` may go on to the server. Raises ViewOnlyViolation."""
        self._held += data
        passed = bytearray()
        while self._skip or self._held:
            if self._skip:
                dropped = min(self._skip, len(self._held))
                self._held, self._skip = self._held[dropped:], self._skip - dropped
                if self._skip:
                    break
                continue
            part = self._greet() if self._greeting else self._message()
            if part is None:
                break
            passed += part
        return bytes(passed)

    def _greet(self) -> bytes | None:
        part = self._take(self._greeting[0])
        if part is None:
            return None
        stage = len(self._greeting)
        self._greeting.pop(0)
        if stage == 3 and part not in VERSIONS:
            raise ViewOnlyViolation(f"RFB version {part!r} is not supported")
        if stage == 2 and part[0] != NO_SECURITY:
            raise ViewOnlyViolation(f"security type {part[0]} was not offered")
        # ClientInit: always shared, or a viewer could throw the others out.
        return b"\1" if stage == 1 else part

    def _message(self) -> bytes | None:
        kind = self._held[0]
        if kind == SET_ENCODINGS:
            return self._set_encodings()
        if kind == CUT_TEXT:
            return self._drop_text()
        length = FIXED_LENGTHS.get(kind) or self._length(kind)
        message = None if length is None else self._take(length)
        if message is None:
            return None
        if kind == QEMU and message[1] != 0:
            raise ViewOnlyViolation(f"QEMU message {message[1]} is not for viewers")
        return message if kind in FORWARDED_MESSAGES else b""

    def _length(self, kind: int) -> int | None:
        """The length of a message that says its own; None while too little of it is here."""
        if kind == FENCE:
            return 9 + self._held[8] if len(self._held) > 8 else None
        if kind == SET_DESKTOP_SIZE:
            return 8 + 16 * self._held[6] if len(self._held) > 6 else None
        raise ViewOnlyViolation(f"message {kind} is not for viewers")

    def _set_encodings(self) -> bytes | None:
        if len(self._held) < 4:
            return None
        (count,) = struct.unpack_from(">H", self._held, 2)
        if count > MAX_ENCODINGS:
            raise ViewOnlyViolation(f"{count} encodings are too many")
        message = self._take(4 + 4 * count)
        if message is None:
            return None
        kept = [
            encoding for encoding in struct.unpack_from(f">{count}i", message, 4) if is_view_only_encoding(encoding)
        ]
        return struct.pack(f">BxH{len(kept)}i", SET_ENCODINGS, len(kept), *kept)

    def _drop_text(self) -> bytes | None:
        """Clipboard text may be long: it is passed over as it comes, never kept. Negative: extended clipboard."""
        head = self._take(8)
        if head is None:
            return None
        self._skip = abs(struct.unpack_from(">i", head, 4)[0])
        return b""

    def _take(self, length: int) -> bytes | None:
        if len(self._held) < length:
            return None
        part, self._held = self._held[:length], self._held[length:]
        return part
