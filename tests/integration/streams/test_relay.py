"""WebRTC through a real TURN server: where nothing else gets through, where little does, and with a wrong pass."""

import asyncio
import itertools
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from playwright.async_api import Page

from annotation_app.operations.runtime.ports import free_port
from tests.integration.streams.test_webrtc import RED, Ticket, paint, shows, watch
from tests.waiting import eventually, wait_until
from vm_bridge.ice import IceServer, with_credentials
from vm_bridge.simulators.fake.sandbox import FakeHost
from vm_bridge.streams.h264 import H264Encoder

SHARED = "known to coturn and the bridge"
WATCH = (Path(__file__).parent / "watch.js").read_text()


@dataclass(frozen=True, slots=True)
class Relay:
    """A TURN server of this test's own."""

    server: IceServer

    def passes(self, secret: str = SHARED) -> list[dict[str, Any]]:
        """What a browser is told of it."""
        server = self.server.model_copy(update={"secret": secret})
        return [one.model_dump(exclude_none=True) for one in with_credentials([server], "ada")]


@pytest.fixture
def limits() -> tuple[str, ...]:
    """What else is asked of the server."""
    return ()


@pytest.fixture
def relay(tmp_path: Path, limits: tuple[str, ...]) -> Iterator[Relay]:
    if shutil.which("turnserver") is None:
        pytest.skip("coturn is not installed")
    port, log = free_port(), tmp_path / "turn.log"
    command = [
        *("turnserver", "-n", "--no-cli", "--no-tls", "--no-dtls", "--log-file=stdout", "--verbose", "--fingerprint"),
        *("--listening-ip=127.0.0.1", f"--listening-port={port}", "--relay-ip=127.0.0.1", "--allow-loopback-peers"),
        *("--use-auth-secret", f"--static-auth-secret={SHARED}", "--realm=tests", f"--pidfile={tmp_path}/turn.pid"),
        *(f"--userdb={tmp_path}/turn.db", *limits),
    ]
    with log.open("w") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output, cwd=tmp_path)
    try:
        wait_until(lambda: "UDP listener opened" in log.read_text() or server.poll() is not None)
        yield Relay(IceServer(urls=f"turn:127.0.0.1:{port}?transport=udp", secret=SHARED))
    finally:
        server.terminate()
        server.wait(10)


@pytest.fixture
async def viewer(page: Page) -> AsyncIterator[Page]:
    await page.evaluate(f"() => {{ {WATCH} }}")
    yield page
    await page.evaluate("for (const { peer } of window.seen ?? []) peer.close()")


@pytest.fixture
def bridge_settings(relay: Relay) -> dict[str, Any]:
    """The bridge has passes of its own, made from the same secret."""
    return {"ice_servers": (relay.server,)}


async def test_the_picture_comes_through_a_relay_only(
    viewer: Page, relay: Relay, ticket: Ticket, fake_host: FakeHost
) -> None:
    paint(fake_host.made[0].screen, RED)
    await watch(viewer, ticket("webrtc"), iceServers=relay.passes(), iceTransportPolicy="relay")
    await shows(viewer, RED)
    assert await viewer.evaluate("window.via(0)") == "relay"


@pytest.mark.parametrize("limits", [("--max-bps=125000",)])
async def test_a_narrow_link_is_sent_less_and_goes_on(
    viewer: Page, relay: Relay, ticket: Ticket, fake_host: FakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates: list[int] = []
    encode = H264Encoder.encode

    def noted(encoder: H264Encoder, picture: av.VideoFrame, pts: int, **how: Any) -> "av.Packet[Any]":
        rates.append(encoder.bitrate)
        return encode(encoder, picture, pts, **how)

    async def move() -> None:
        screen, noise = fake_host.made[0].screen, np.random.default_rng(1).integers(0, 255, (400, 640, 4), np.uint8)
        for number in itertools.count():
            screen.pixels[100:500, 100:740] = np.roll(noise, number * 7, axis=1)
            screen.touch()
            await asyncio.sleep(1 / 30)

    monkeypatch.setattr(H264Encoder, "encode", noted)
    await watch(viewer, ticket("webrtc"), iceServers=relay.passes(), iceTransportPolicy="relay")
    moving = asyncio.create_task(move())
    await eventually(lambda: rates and rates[-1] < min(2_000_000, rates[0]), limit=40)
    before = await viewer.evaluate("window.seen[0].frames")
    await viewer.wait_for_function(f"window.seen[0].frames > {before + 30}")
    moving.cancel()


async def test_the_bridge_offers_a_relayed_address_of_its_own(viewer: Page, relay: Relay, ticket: Ticket) -> None:
    await watch(viewer, ticket("webrtc"))
    assert " typ relay" in await viewer.evaluate("window.seen[0].peer.remoteDescription.sdp")


async def test_a_pass_of_another_secret_opens_nothing(viewer: Page, relay: Relay, ticket: Ticket) -> None:
    forged = relay.passes("a secret nobody shares with it")
    await watch(viewer, ticket("webrtc"), iceServers=forged, iceTransportPolicy="relay")
    await viewer.wait_for_function("window.seen[0].peer.iceGatheringState === 'complete'")
    assert "a=candidate" not in await viewer.evaluate("window.seen[0].peer.localDescription.sdp")
    assert await viewer.evaluate("window.seen[0].frames") == 0
