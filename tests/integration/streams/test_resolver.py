"""Streams open though the resolver does not answer: no name is looked up, and no viewer's address either."""

import socket
from typing import Any

import pytest
from aiortc import RTCIceServer

from tests.integration.bridge.conftest import RunningBridge
from tests.integration.streams.test_stills import Parts, Ticket, stills
from tests.unit.vm_bridge.streams.test_webrtc import offer
from vm_bridge.simulators.fake.sandbox import FakeSandbox
from vm_bridge.streams.broadcast import BroadcastRegistry
from vm_bridge.streams.webrtc import WebRtcServer

LOOK_UPS = ("gethostbyaddr", "gethostbyname", "gethostbyname_ex", "getfqdn", "getnameinfo")


@pytest.fixture
def look_ups(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is asked of a resolver that answers nothing. Addresses in numbers need none."""
    asked: list[str] = []

    def refuse(what: str) -> Any:
        def look_up(*words: Any, **more: Any) -> None:
            asked.append(f"{what} {words[:1]}")
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")

        return look_up

    numeric = socket.getaddrinfo

    def addresses(host: Any, port: Any, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0) -> Any:
        try:
            return numeric(host, port, family, type, proto, flags | socket.AI_NUMERICHOST)
        except socket.gaierror:
            return refuse("getaddrinfo")(host)

    for name in LOOK_UPS:
        monkeypatch.setattr(socket, name, refuse(name))
    monkeypatch.setattr(socket, "getaddrinfo", addresses)
    return asked


async def test_stills_open_without_a_resolver(bridge: RunningBridge, ticket: Ticket, look_ups: list[str]) -> None:
    async with stills(bridge.url, ticket("stills")) as response:
        _, picture = await Parts(response).next()
    assert picture
    assert look_ups == []


@pytest.fixture
async def viewer_offer() -> str:
    """An offer as a browser makes it that hides its addresses behind a name."""
    return (
        await offer() + "a=candidate:1 1 udp 2113937151 6fd2a1c0-aaaa-bbbb-cccc-0123456789ab.local 50000 typ host\r\n"
    )


async def test_webrtc_is_agreed_on_without_a_resolver(viewer_offer: str, look_ups: list[str]) -> None:
    server = WebRtcServer(BroadcastRegistry(fps=30, bitrate=1_000_000))
    assert "H264/90000" in await server.answer(FakeSandbox("desktop"), viewer_offer)
    await server.close()
    assert look_ups == []


async def test_a_stun_server_without_an_address_is_left_out(viewer_offer: str, look_ups: list[str]) -> None:
    servers = [RTCIceServer("stun:stun.example.org:3478")]
    server = WebRtcServer(BroadcastRegistry(fps=30, bitrate=1_000_000), ice_servers=lambda: servers)
    assert "H264/90000" in await server.answer(FakeSandbox("desktop"), viewer_offer)
    await server.close()
    assert look_ups == ["getaddrinfo ('stun.example.org',)"], "the one who agrees on the stream asks no more"
