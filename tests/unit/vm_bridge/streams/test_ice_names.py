"""A resolver that does not answer holds up no stream; what it says late counts for the next one."""

import asyncio
import socket
from collections.abc import Iterator
from threading import Event

import pytest
from aiortc import RTCIceServer

from tests.waiting import eventually
from vm_bridge.streams import ice_names
from vm_bridge.streams.ice_names import IceServerNames

SERVERS = [RTCIceServer("stun:stun.test:3478"), RTCIceServer(["turn:turn.test:3478?transport=udp"], "user", "word")]


class SlowResolver:
    """Answers once `ready` is set."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.ready = Event()

    def getaddrinfo(self, host: str, *_: object, **__: object) -> list[object]:
        self.asked.append(host)
        self.ready.wait(30)
        return [(socket.AF_INET, socket.SOCK_DGRAM, 17, "", ("192.0.2.7", 0))]


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowResolver]:
    slow = SlowResolver()
    monkeypatch.setattr(socket, "getaddrinfo", slow.getaddrinfo)
    yield slow
    slow.ready.set()


async def test_names_become_addresses_and_what_goes_with_them_stays(resolver: SlowResolver) -> None:
    resolver.ready.set()
    names = IceServerNames()
    stun, turn = await names.resolve(SERVERS)
    assert stun.urls == ["stun:192.0.2.7:3478"]
    assert (turn.urls, turn.username, turn.credential) == (["turn:192.0.2.7:3478?transport=udp"], "user", "word")
    assert (await names.resolve(SERVERS))[0].urls == stun.urls
    assert sorted(resolver.asked) == ["stun.test", "turn.test"], "known for a while"


async def test_a_certificate_needs_the_name_and_an_address_no_resolver(resolver: SlowResolver) -> None:
    resolver.ready.set()
    urls = ["turns:turn.test:5349", "stun:192.0.2.9:3478", "stun:[2001:db8::1]:3478"]
    (server,) = await IceServerNames().resolve([RTCIceServer(urls)])
    assert server.urls == urls
    assert resolver.asked == ["turn.test"]


async def test_a_silent_resolver_is_asked_once_and_its_servers_are_left_out_until_it_answers(
    resolver: SlowResolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ice_names, "RESOLVE_SECONDS", 0.01)
    names = IceServerNames()
    here = RTCIceServer("stun:192.0.2.9:3478")
    for _ in range(3):
        assert [server.urls for server in await names.resolve([*SERVERS, here])] == [["stun:192.0.2.9:3478"]]
    assert sorted(resolver.asked) == ["stun.test", "turn.test"]
    resolver.ready.set()
    await eventually(lambda: not names._look_ups)
    assert len(await names.resolve(SERVERS)) == 2


async def test_a_name_that_nobody_knows_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fail(host: str, *_: object, **__: object) -> None:
        asked.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    names = IceServerNames()
    for _ in range(2):
        assert await names.resolve(SERVERS[:1]) == []
        await asyncio.sleep(0)
    assert asked == ["stun.test"] * 2
