"""Framing between host and guest."""

import socket

import pytest

from vm_bridge.guest.common import wire


def test_messages_cross_in_order_and_exactly() -> None:
    left, right = socket.socketpair()
    with left, right:
        sent = [{"id": number, "text": "żółw 中文 \ud83d" * number} for number in range(5)]
        left.sendall(b"".join(map(wire.encode, sent)))
        assert [wire.receive(right) for _ in sent] == sent


def test_the_end_of_the_stream_is_told() -> None:
    left, right = socket.socketpair()
    with right:
        left.sendall(wire.encode({"id": 1})[:-1])
        left.close()
        with pytest.raises(wire.WireError, match="hung up"):
            wire.receive(right)


@pytest.mark.parametrize("body", [b"", b"[1]", b"nothing", b"\xff"])
def test_what_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.decode(body)


def test_long_messages_are_refused_on_both_sides() -> None:
    with pytest.raises(wire.WireError, match="too long"):
        wire.encode({"text": "x" * wire.MAX_FRAME})
    with pytest.raises(wire.WireError, match="too long"):
        wire.body_length(wire.HEADER.pack(wire.MAX_FRAME + 1))
