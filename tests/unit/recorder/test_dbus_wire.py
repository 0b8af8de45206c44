"""Messages of D-Bus as bytes."""

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.pilothouse_recorder.dbus.wire import (
    CALL,
    HEADER_BYTES,
    MAX_MESSAGE,
    Message,
    Reader,
    Variant,
    WireError,
    Writer,
    decode,
    encode,
    message_size,
    split_signature,
)

VALUES: list[tuple[str, Any]] = [
    ("y", 7),
    ("b", True),
    ("n", -3),
    ("q", 3),
    ("i", -70_000),
    ("u", 70_000),
    ("x", -(2**40)),
    ("t", 2**40),
    ("d", 0.5),
    ("s", "日本"),
    ("o", "/a/b"),
    ("g", "a{sv}"),
    ("as", ["a", "b"]),
    ("ax", []),
    ("a(so)", [(":1.2", "/a"), (":1.3", "/b")]),
    ("a{si}", {"one": 1, "two": 2}),
    ("(iiii)", (1, 2, 3, 4)),
    ("aai", [[1], [], [2, 3]]),
]


@given(st.lists(st.sampled_from(VALUES), max_size=8))
def test_values_come_back_as_they_were(some: list[tuple[str, Any]]) -> None:
    signature = "".join(kind for kind, _ in some)
    body = tuple(value for _, value in some)
    message = Message(CALL, "/path", "a.b", "Do", destination="c.d", signature=signature, body=body, serial=9)
    data = encode(message)
    assert message_size(data[:HEADER_BYTES]) == len(data)
    assert decode(data) == message


def test_a_variant_is_read_as_its_value() -> None:
    writer = Writer()
    writer.write_all(
        "a{sv}v", ({"name": Variant("s", "x"), "size": Variant("(ii)", (1, 2))}, Variant("v", Variant("u", 5)))
    )
    assert Reader(bytes(writer.data)).read_all("a{sv}v") == ({"name": "x", "size": (1, 2)}, 5)


def test_a_big_endian_message_is_read() -> None:
    fields = b"".join([b"\x05\x01u\0", struct.pack(">I", 3), b"\x08\x01g\0\x01u\0\0"])[:15]
    head = b"B\x02\x01\x01" + struct.pack(">III", 4, 8, 15) + fields + b"\0"
    data = head + struct.pack(">I", 77)
    assert message_size(data[:HEADER_BYTES]) == len(data)
    message = decode(data)
    assert (message.type, message.reply_serial, message.serial, message.body) == (2, 3, 8, (77,))


@pytest.mark.parametrize("signature", ["a", "(i", "z", "a{si", "a" * 80 + "i"])
def test_a_bad_signature_is_told(signature: str) -> None:
    with pytest.raises(WireError):
        split_signature(signature)


@given(st.binary(max_size=64))
def test_bytes_that_are_no_message_are_told(data: bytes) -> None:
    for read in (lambda: message_size(data + bytes(16)), lambda: decode(b"l" + data + bytes(16))):
        try:
            read()
        except WireError:
            continue


def test_a_message_that_is_too_long_is_not_read() -> None:
    with pytest.raises(WireError):
        message_size(b"l\1\0\1" + struct.pack("<III", MAX_MESSAGE, 1, 0))


def test_values_that_do_not_fit_their_type_are_told() -> None:
    for signature, values in (("y", (300,)), ("ii", (1,)), ("u", ("x",))):
        with pytest.raises(WireError):
            Writer().write_all(signature, values)
