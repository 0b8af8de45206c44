"""The view-only filter: what passes, what is dropped, what ends the connection, in whatever pieces it comes."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vm_bridge.streams.rfb import ViewOnlyFilter, ViewOnlyViolation

HELLO = b"RFB 003.008\n" + b"\1" + b"\0"
SHARED_HELLO = b"RFB 003.008\n" + b"\1" + b"\1"

PIXEL_FORMAT = bytes([0]) + bytes(19)
UPDATE = struct.pack(">BBHHHH", 3, 1, 0, 0, 1280, 720)
CONTINUOUS = struct.pack(">BBHHHH", 150, 1, 0, 0, 1280, 720)
FENCE = struct.pack(">B3xIB", 248, 1, 4) + b"abcd"
SEEN = (PIXEL_FORMAT, UPDATE, CONTINUOUS, FENCE)

KEY = struct.pack(">BBxxI", 4, 1, 0xFF0D)
POINTER = struct.pack(">BBHH", 5, 1, 100, 100)
CUT = struct.pack(">BxxxI", 6, 5) + b"hello"
EXTENDED_CUT = struct.pack(">Bxxxi", 6, -4) + b"\1\0\0\0"
RESIZE = struct.pack(">BxHHBx", 251, 640, 480, 1) + bytes(16)
QEMU_KEY = struct.pack(">BBHII", 255, 0, 1, 0xFF0D, 28)
SHUTDOWN = bytes([250, 0, 1, 2])
ACTED = (KEY, POINTER, CUT, EXTENDED_CUT, RESIZE, QEMU_KEY, SHUTDOWN)


def encodings(*numbers: int) -> bytes:
    return struct.pack(f">BxH{len(numbers)}i", 2, len(numbers), *numbers)


def greeted() -> ViewOnlyFilter:
    view_only = ViewOnlyFilter()
    assert view_only.feed(HELLO) == SHARED_HELLO
    return view_only


@pytest.mark.parametrize("message", SEEN)
def test_what_is_about_seeing_passes_unchanged(message: bytes) -> None:
    assert greeted().feed(message) == message


@pytest.mark.parametrize("message", ACTED)
def test_what_acts_is_dropped_and_the_next_message_is_read(message: bytes) -> None:
    assert greeted().feed(message + UPDATE) == UPDATE


@given(st.lists(st.sampled_from(SEEN + ACTED), max_size=20), st.data())
def test_pieces_make_no_difference(messages: list[bytes], data: st.DataObject) -> None:
    stream = HELLO + b"".join(messages)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=20)))
    view_only = ViewOnlyFilter()
    passed = b"".join(
        view_only.feed(stream[start:end]) for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)
    )
    assert passed == SHARED_HELLO + b"".join(message for message in messages if message in SEEN)


def test_encodings_that_open_further_ways_in_are_not_asked_for() -> None:
    extended_clipboard, extended_pointer, qemu_keys = struct.unpack(">i", b"\xc0\xa1\xe5\xce")[0], -316, -258
    asked = encodings(7, 16, -239, extended_clipboard, extended_pointer, qemu_keys, -308)
    assert greeted().feed(asked) == encodings(7, 16, -239, -308)


def test_long_clipboard_text_is_not_kept() -> None:
    view_only = greeted()
    view_only.feed(struct.pack(">BxxxI", 6, 2**31 - 1))
    for _ in range(64):
        assert view_only.feed(bytes(65_536)) == b""
    assert len(view_only._held) == 0


@pytest.mark.parametrize(
    "hello", [b"RFB 003.003\n", b"RFB 004.001\n", b"GET / HTTP/1", b"RFB 003.008\n\2", b"RFB 003.008\n\x10"]
)
def test_another_handshake_ends_it(hello: bytes) -> None:
    with pytest.raises(ViewOnlyViolation):
        ViewOnlyFilter().feed(hello)


@pytest.mark.parametrize("message", [b"\1", b"\7", b"\xfd\0\0\0", encodings(*range(300)), b"\xff\1" + bytes(10)])
def test_what_cannot_be_measured_ends_it(message: bytes) -> None:
    with pytest.raises(ViewOnlyViolation):
        greeted().feed(message)


@given(st.binary(max_size=200))
def test_rubbish_never_passes_an_act(rubbish: bytes) -> None:
    view_only = greeted()
    try:
        passed = view_only.feed(rubbish)
    except ViewOnlyViolation:
        return
    assert passed[:1] in (b"", *(message[:1] for message in SEEN), b"\2")
