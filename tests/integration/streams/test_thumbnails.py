"""Small pictures of many machines over one response."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO

import httpx
import pytest
from PIL import Image

from tests.integration.bridge.conftest import SECRET, RunningBridge
from tests.integration.streams.test_stills import Parts
from tests.waiting import eventually
from vm_bridge.api.client import BridgeClient
from vm_bridge.api.tickets import StreamKind, TicketClaim, mint_ticket
from vm_bridge.machine import Lease
from vm_bridge.simulators.fake.sandbox import FakeHost


@pytest.fixture
async def leases(client: BridgeClient) -> list[Lease]:
    """Two machines that are worked on."""
    return [await client.allocate(image="desktop", holder=f"episode:{number}") for number in range(2)]


def ticket_of(lease: Lease, kind: StreamKind = "thumbnails") -> str:
    """A fresh ticket; the episode is named as the machine."""
    name, token = lease.machine_id, lease.fencing_token
    return mint_ticket(SECRET, TicketClaim(kind=kind, user="1", episode=name, machine_id=name, fencing_token=token))


@asynccontextmanager
async def thumbnails(base: str, *tickets: str) -> AsyncIterator[httpx.Response]:
    async with (
        httpx.AsyncClient(timeout=20) as http,
        http.stream("POST", f"{base}/streams/thumbnails", json={"tickets": tickets}) as response,
    ):
        yield response


async def test_every_machine_is_shown_small_and_again_as_it_changes(
    bridge: RunningBridge, leases: list[Lease], fake_host: FakeHost
) -> None:
    names = {lease.machine_id for lease in leases}
    screens = {sandbox.id: sandbox.screen for sandbox in fake_host.made}
    async with thumbnails(bridge.url, *map(ticket_of, leases)) as response:
        parts = Parts(response)
        first = dict([await labelled(parts), await labelled(parts)])
        assert first.keys() == names
        assert {Image.open(BytesIO(picture)).size for picture in first.values()} == {(320, 180)}
        changed = leases[1].machine_id
        screens[changed].pixels[:, :, :3] = (0, 0, 255)
        screens[changed].touch()
        episode, second = await labelled(parts)
        assert episode == changed
        assert Image.open(BytesIO(second)).getchannel("R").getpixel((160, 90)) == pytest.approx(255, abs=8)
    await eventually(lambda: not any(screen.viewers for screen in screens.values()))


async def labelled(parts: Parts) -> tuple[str, bytes]:
    headers, body = await parts.next()
    return headers["X-Episode"], body


async def test_the_end_of_a_lease_is_told_and_the_others_go_on(
    bridge: RunningBridge, leases: list[Lease], client: BridgeClient
) -> None:
    async with thumbnails(bridge.url, *map(ticket_of, leases)) as response:
        parts = Parts(response)
        await labelled(parts)
        await labelled(parts)
        await client.release(leases[0])
        assert await labelled(parts) == (leases[0].machine_id, b"")
        await client.release(leases[1])
        assert await labelled(parts) == (leases[1].machine_id, b"")
        with pytest.raises(StopAsyncIteration):
            await parts.next()


async def test_a_ticket_opens_one_response_and_only_of_its_kind(bridge: RunningBridge, leases: list[Lease]) -> None:
    once, other = map(ticket_of, leases)
    async with thumbnails(bridge.url, once) as response:
        await labelled(Parts(response))
    async with thumbnails(bridge.url, once, other) as response:
        assert (await labelled(Parts(response)))[0] == leases[1].machine_id, "the used one is left out"
    async with thumbnails(bridge.url, once, ticket_of(leases[0], "stills")) as response:
        assert (response.status_code, (await response.aread())[:25]) == (403, b'{"code":"ticket_refused",')
