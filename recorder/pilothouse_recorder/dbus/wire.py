"""Encodes and decodes D-Bus values and messages (D-Bus specification, "Message protocol").

Writes little-endian; reads both byte orders. File descriptors are not passed.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

CALL, REPLY, ERROR, SIGNAL = 1, 2, 3, 4
NO_REPLY = 1
PATH, INTERFACE, MEMBER, ERROR_NAME, REPLY_SERIAL, DESTINATION, SENDER, SIGNATURE = range(1, 9)
FIELDS = {PATH: "o", INTERFACE: "s", MEMBER: "s", ERROR_NAME: "s", REPLY_SERIAL: "u", DESTINATION: "s", SIGNATURE: "g"}
HEADER_BYTES = 16
MAX_MESSAGE = 1 << 24
"""Larger messages are not read."""
MAX_DEPTH = 64
NUMBERS = {"y": "B", "n": "h", "q": "H", "i": "i", "u": "I", "x": "q", "t": "Q", "d": "d"}
ALIGNMENTS = {
    **{code: struct.calcsize(kind) for code, kind in NUMBERS.items()},
    **dict.fromkeys("bsoa", 4),
    "g": 1,
    "v": 1,
}
STRUCT_ALIGNMENT = 8


class WireError(Exception):
    """These bytes are not a message, or not a value of the type."""


@dataclass(frozen=True)
class Variant:
    """A value with its type."""

    signature: str
    value: Any


@dataclass(frozen=True)
class Message:
    """A message. Absent fields are empty."""

    type: int
    path: str = ""
    interface: str = ""
    member: str = ""
    error: str = ""
    reply_serial: int = 0
    destination: str = ""
    sender: str = ""
    signature: str = ""
    body: tuple[Any, ...] = ()
    serial: int = 0
    flags: int = field(default=0)


def split_signature(signature: str) -> list[str]:
    """The single types of a signature. Raises WireError."""
    found: list[str] = []
    place = 0
    while place < len(signature):
        end = _end_of_type(signature, place, 0)
        found.append(signature[place:end])
        place = end
    return found


def _end_of_type(signature: str, place: int, depth: int) -> int:
    if depth > MAX_DEPTH or place >= len(signature):
        raise WireError(f"no type at {place} of {signature!r}")
    code = signature[place]
    if code == "a":
        return _end_of_type(signature, place + 1, depth + 1)
    if code in "({":
        return _end_of_structure(signature, place, depth)
    if code not in ALIGNMENTS:
        raise WireError(f"unknown type {code!r}")
    return place + 1


def _end_of_structure(signature: str, place: int, depth: int) -> int:
    """Checks a structure or a dictionary entry. A structure has at least one type. A dictionary entry has two, the
    first of which is a basic type.
    """
    closing = ")" if signature[place] == "(" else "}"
    count, place, first = 0, place + 1, signature[place + 1 : place + 2]
    while place < len(signature) and signature[place] != closing:
        place = _end_of_type(signature, place, depth + 1)
        count += 1
    pair = count == 2 and first not in "av({"
    if place >= len(signature) or not count or (closing == "}" and not pair):
        raise WireError(f"{signature!r} has no such structure")
    return place + 1


class Writer:
    """Appends values to a body."""

    def __init__(self) -> None:
        self.data = bytearray()

    def write_all(self, signature: str, values: Sequence[Any]) -> None:
        """Values, one for each type. Raises WireError."""
        kinds = split_signature(signature)
        if len(kinds) != len(values):
            raise WireError(f"{signature!r} takes {len(kinds)} values")
        for kind, value in zip(kinds, values, strict=True):
            self.write(kind, value)

    def write(self, kind: str, value: Any) -> None:
        """One value. Raises WireError."""
        code = kind[0]
        if code in NUMBERS or code == "b":
            self._write_number(NUMBERS.get(code, "I"), value)
        elif code in "so":
            text = str(value).encode()
            self._write_number("I", len(text))
            self.data += text + b"\0"
        elif code == "g":
            text = str(value).encode()
            self.data += bytes((len(text),)) + text + b"\0"
        elif code == "v":
            self.write("g", value.signature)
            self.write(value.signature, value.value)
        elif code == "a":
            self._write_array(kind[1:], value)
        else:
            self._align(STRUCT_ALIGNMENT)
            self.write_all(kind[1:-1], value)

    def _write_number(self, kind: str, value: Any) -> None:
        self._align(struct.calcsize(kind))
        try:
            self.data += struct.pack("<" + kind, value)
        except struct.error as error:
            raise WireError(str(error)) from None

    def _write_array(self, kind: str, values: Any) -> None:
        self._write_number("I", 0)
        length_at = len(self.data) - 4
        self._align(_alignment(kind))
        begin = len(self.data)
        for value in values.items() if isinstance(values, dict) else values:
            self.write(kind, value)
        struct.pack_into("<I", self.data, length_at, len(self.data) - begin)

    def _align(self, size: int) -> None:
        self.data += bytes(-len(self.data) % size)


class Reader:
    """Reads values from a message. Raises WireError if their types do not match."""

    def __init__(self, data: bytes, order: str = "<", place: int = 0) -> None:
        self._data, self._order, self.place = data, order, place

    def read_all(self, signature: str) -> tuple[Any, ...]:
        """Values, one for each type."""
        return tuple(self.read(kind) for kind in split_signature(signature))

    def read(self, kind: str, depth: int = 0) -> Any:
        """One value; arrays are lists or dicts, structures are tuples, variants are their values."""
        if depth > MAX_DEPTH:
            raise WireError("nested too deeply")
        code = kind[0]
        if code in NUMBERS:
            return self._read_number(NUMBERS[code])
        if code == "b":
            return bool(self._read_number("I"))
        if code in "so":
            return self._read_text(self._read_number("I"))
        if code == "g":
            return self._read_text(self._read_number("B"))
        if code == "v":
            kinds = split_signature(self.read("g"))
            if len(kinds) != 1:
                raise WireError("a variant has one type")
            return self.read(kinds[0], depth + 1)
        if code == "a":
            return self._read_array(kind[1:], depth)
        self._align(STRUCT_ALIGNMENT)
        return tuple(self.read(one, depth + 1) for one in split_signature(kind[1:-1]))

    def _read_number(self, kind: str) -> Any:
        size = struct.calcsize(kind)
        self._align(size)
        return struct.unpack(self._order + kind, self._take(size))[0]

    def _read_text(self, length: int) -> str:
        try:
            return self._take(length + 1)[:-1].decode()
        except UnicodeDecodeError:
            raise WireError("a text is not UTF-8") from None

    def _read_array(self, kind: str, depth: int) -> Any:
        length = self._read_number("I")
        self._align(_alignment(kind))
        end = self.place + length
        found: list[Any] = []
        while self.place < end:
            found.append(self.read(kind, depth + 1))
        return dict(found) if kind[0] == "{" else found

    def _take(self, size: int) -> bytes:
        if self.place + size > len(self._data):
            raise WireError("a message ends too early")
        self.place += size
        return self._data[self.place - size : self.place]

    def _align(self, size: int) -> None:
        self.place += -self.place % size


def _alignment(kind: str) -> int:
    return ALIGNMENTS.get(kind[0], STRUCT_ALIGNMENT)


def encode(message: Message) -> bytes:
    """A message as bytes. Raises WireError."""
    body = Writer()
    body.write_all(message.signature, message.body)
    values = {
        PATH: message.path,
        INTERFACE: message.interface,
        MEMBER: message.member,
        ERROR_NAME: message.error,
        REPLY_SERIAL: message.reply_serial,
        DESTINATION: message.destination,
        SIGNATURE: message.signature,
    }
    fields = [(code, Variant(FIELDS[code], value)) for code, value in values.items() if value]
    head = Writer()
    head.write_all("yyyyuua(yv)", (ord("l"), message.type, message.flags, 1, len(body.data), message.serial, fields))
    return bytes(head.data) + bytes(-len(head.data) % 8) + bytes(body.data)


def message_size(head: bytes) -> int:
    """The size of a message in bytes, from its first 16. Raises WireError."""
    order = {ord("l"): "<", ord("B"): ">"}.get(head[0])
    if order is None:
        raise WireError("no message begins here")
    body, fields = struct.unpack(order + "I", head[4:8])[0], struct.unpack(order + "I", head[12:16])[0]
    size = HEADER_BYTES + fields + -fields % 8 + body
    if size > MAX_MESSAGE:
        raise WireError(f"a message of {size} bytes")
    return int(size)


def decode(data: bytes) -> Message:
    """Decode one complete message. Raises WireError."""
    order = "<" if data[0] == ord("l") else ">"
    reader = Reader(data, order)
    _, kind, flags, _, _, serial, fields = reader.read_all("yyyyuua(yv)")
    values = dict(fields)
    reader.place += -reader.place % 8
    for code, value in values.items():
        if not isinstance(value, int if FIELDS.get(code) == "u" else str) and code in (*FIELDS, SENDER):
            raise WireError(f"field {code} of a message is {value!r}")
    signature = values.get(SIGNATURE, "")
    body = Reader(data[reader.place :], order).read_all(signature)
    return Message(
        type=kind,
        path=values.get(PATH, ""),
        interface=values.get(INTERFACE, ""),
        member=values.get(MEMBER, ""),
        error=values.get(ERROR_NAME, ""),
        reply_serial=values.get(REPLY_SERIAL, 0),
        destination=values.get(DESTINATION, ""),
        sender=values.get(SENDER, ""),
        signature=signature,
        body=body,
        serial=serial,
        flags=flags,
    )
