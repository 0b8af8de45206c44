"""WebRTC into a real Chromium: the picture arrives, once encoded for all, and stops when nobody may look."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from tests.waiting import eventually
from vm_bridge.api.client import BridgeClient
from vm_bridge.api.tickets import StreamKind
from vm_bridge.machine import Lease
from vm_bridge.simulators.fake.sandbox import FakeHost
from vm_bridge.simulators.fake.screen import FakeScreen

Ticket = Callable[[StreamKind], str]
WATCH = (Path(__file__).parent / "watch.js").read_text()
RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)
CLOSED = "window.seen[0].peer.getReceivers()[0].transport.state === 'closed'"
NEAR = 24
"""How far a colour may come out of 4:2:0 and the codec."""


@pytest.fixture
async def viewer(page: Page) -> AsyncIterator[Page]:
    """The page, able to watch."""
    await page.evaluate(f"() => {{ {WATCH} }}")
    yield page
    await page.evaluate("for (const { peer } of window.seen ?? []) peer.close()")


@pytest.fixture
def screen(lease: Lease, fake_host: FakeHost) -> FakeScreen:
    return fake_host.made[0].screen


def paint(screen: FakeScreen, colour: tuple[int, int, int]) -> None:
    """Fill a square around (700, 400)."""
    screen.pixels[300:500, 600:800, :3] = colour[::-1]
    screen.touch()


async def shows(viewer: Page, colour: tuple[int, int, int], index: int = 0) -> None:
    """Wait until the page sees that colour at (700, 400)."""
    near = f"window.pixel({index}, 700, 400).every((part, i) => Math.abs(part - {list(colour)}[i]) < {NEAR})"
    await viewer.wait_for_function(f"window.seen[{index}].frames > 0 && {near}", timeout=15_000)


async def watch(viewer: Page, ticket: str, **options: Any) -> dict[str, Any]:
    answer: dict[str, Any] = await viewer.evaluate("([t, o]) => window.watch(t, o)", [ticket, options])
    return answer


async def test_a_still_picture_shows_at_once_and_changes_follow(
    viewer: Page, screen: FakeScreen, ticket: Ticket
) -> None:
    paint(screen, RED)
    assert await watch(viewer, ticket("webrtc")) == {"watching": True}
    await shows(viewer, RED)
    paint(screen, GREEN)
    await shows(viewer, GREEN)
    assert (await viewer.evaluate("window.inbound(0)"))["codec"] == "video/H264"


async def test_many_watch_one_capture(viewer: Page, screen: FakeScreen, ticket: Ticket) -> None:
    for _ in range(3):
        await watch(viewer, ticket("webrtc"))
    paint(screen, BLUE)
    for index in range(3):
        await shows(viewer, BLUE, index)
    assert screen.viewers == 1


async def test_nobody_looking_stops_the_capture(viewer: Page, screen: FakeScreen, ticket: Ticket) -> None:
    await watch(viewer, ticket("webrtc"))
    await eventually(lambda: screen.viewers == 1)
    await viewer.evaluate("window.seen[0].peer.close()")
    await eventually(lambda: screen.viewers == 0)


async def test_a_still_picture_sends_no_frames(viewer: Page, screen: FakeScreen, ticket: Ticket) -> None:
    await watch(viewer, ticket("webrtc"))
    paint(screen, RED)
    await shows(viewer, RED)
    before = (await viewer.evaluate("window.inbound(0)"))["frames"]
    await watch(viewer, ticket("webrtc"))
    await shows(viewer, RED, 1)
    after = (await viewer.evaluate("window.inbound(0)"))["frames"]
    assert after - before <= 4, "one key frame for the newcomer, and a few to sharpen it"


async def test_a_browser_without_h264_gets_vp8(viewer: Page, screen: FakeScreen, ticket: Ticket) -> None:
    paint(screen, RED)
    await watch(viewer, ticket("webrtc"), codec="video/VP8")
    await shows(viewer, RED)
    paint(screen, GREEN)
    await shows(viewer, GREEN)
    stats = await viewer.evaluate("window.inbound(0)")
    assert stats["codec"] == "video/VP8"
    assert stats["keys"] < stats["frames"]


async def test_the_end_of_the_lease_ends_the_stream(
    viewer: Page, screen: FakeScreen, ticket: Ticket, client: BridgeClient, lease: Lease
) -> None:
    await watch(viewer, ticket("webrtc"))
    await viewer.wait_for_function("window.seen[0].frames > 0")
    await client.release(lease)
    await viewer.wait_for_function(CLOSED)
    await eventually(lambda: screen.viewers == 0)


async def test_the_end_of_the_machine_ends_the_stream(viewer: Page, fake_host: FakeHost, ticket: Ticket) -> None:
    await watch(viewer, ticket("webrtc"))
    await viewer.wait_for_function("window.seen[0].frames > 0")
    fake_host.made[0].crash()
    await viewer.wait_for_function(CLOSED)


async def test_a_ticket_opens_one_stream(viewer: Page, ticket: Ticket, lease: Lease) -> None:
    once = ticket("webrtc")
    assert await watch(viewer, once) == {"watching": True}
    assert (await watch(viewer, once))["code"] == "ticket_refused"
    assert (await watch(viewer, ticket("vnc")))["code"] == "ticket_refused"
    assert (await watch(viewer, "forged"))["code"] == "ticket_refused"
