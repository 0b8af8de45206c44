"""Still frames over plain HTTP."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from io import BytesIO

import httpx
import pytest
from PIL import Image

from tests.integration.bridge.conftest import RunningBridge
from tests.waiting import eventually
from vm_bridge.api.client import BridgeClient
from vm_bridge.api.tickets import StreamKind
from vm_bridge.machine import Lease
from vm_bridge.simulators.fake.sandbox import FakeHost

Ticket = Callable[[StreamKind], str]


class Parts:
    """Reads multipart parts off a response."""

    def __init__(self, response: httpx.Response) -> None:
        self._bytes = response.aiter_raw()
        self._held = b""

    async def next(self) -> tuple[dict[str, str], bytes]:
        head = await self._until(b"\r\n\r\n")
        boundary, *lines = head.decode().strip().split("\r\n")
        assert boundary == "--frame"
        headers = dict(line.split(": ", 1) for line in lines)
        while len(self._held) < int(headers["Content-Length"]) + 2:
            self._held += await anext(self._bytes)
        size = int(headers["Content-Length"])
        body, self._held = self._held[:size], self._held[size + 2 :]
        return headers, body

    async def _until(self, mark: bytes) -> bytes:
        while mark not in self._held:
            self._held += await anext(self._bytes)
        part, _, self._held = self._held.partition(mark)
        return part


@asynccontextmanager
async def stills(base: str, ticket: str) -> AsyncIterator[httpx.Response]:
    headers = {"Authorization": f"Bearer {ticket}"}
    async with (
        httpx.AsyncClient(timeout=20) as http,
        http.stream("GET", f"{base}/streams/stills", headers=headers) as response,
    ):
        yield response


async def test_pictures_come_as_the_screen_changes(bridge: RunningBridge, ticket: Ticket, fake_host: FakeHost) -> None:
    screen = fake_host.made[0].screen
    async with stills(bridge.url, ticket("stills")) as response:
        assert response.headers["content-type"] == "multipart/x-mixed-replace; boundary=frame"
        parts = Parts(response)
        headers, first = await parts.next()
        assert int(headers["X-Captured-At"]) > 1_600_000_000_000
        assert Image.open(BytesIO(first)).size == (1280, 720)
        screen.pixels[:, :, :3] = (0, 0, 255)
        screen.touch()
        _, second = await parts.next()
        red, green = (Image.open(BytesIO(second)).getchannel(band).getpixel((640, 360)) for band in "RG")
        assert red == pytest.approx(255, abs=8)
        assert green == pytest.approx(0, abs=8)
    await eventually(lambda: screen.viewers == 0)


async def test_the_end_of_the_lease_ends_them(
    bridge: RunningBridge, ticket: Ticket, client: BridgeClient, lease: Lease
) -> None:
    async with stills(bridge.url, ticket("stills")) as response:
        parts = Parts(response)
        await parts.next()
        await client.release(lease)
        with pytest.raises(StopAsyncIteration):
            await parts.next()


@pytest.mark.parametrize("kind", ["webrtc", "vnc"])
async def test_another_kind_of_ticket_is_refused(bridge: RunningBridge, ticket: Ticket, kind: StreamKind) -> None:
    async with stills(bridge.url, ticket(kind)) as response:
        assert (response.status_code, (await response.aread())[:25]) == (403, b'{"code":"ticket_refused",')
