"""What a bridge does with offers that no browser of ours makes."""

import asyncio
from collections.abc import Callable

import aioice.ice
import pytest
from aiortc import RTCPeerConnection, RTCSessionDescription
from av import VideoFrame

from tests.waiting import eventually
from vm_bridge.errors import InvalidOffer, MachineGone
from vm_bridge.simulators.fake.sandbox import FakeSandbox
from vm_bridge.streams import webrtc as module
from vm_bridge.streams.broadcast import BroadcastRegistry
from vm_bridge.streams.webrtc import (
    MAX_CANDIDATES,
    MAX_OFFER,
    UNREACHABLE_CANDIDATE,
    WebRtcServer,
    _without_mdns,
    set_host_addresses,
)


async def offer() -> str:
    """An offer as aiortc makes it."""
    peer = RTCPeerConnection()
    peer.addTransceiver("video", direction="recvonly")
    await peer.setLocalDescription(await peer.createOffer())
    description = str(peer.localDescription.sdp)
    await peer.close()
    return description


@pytest.fixture
async def webrtc() -> WebRtcServer:
    return WebRtcServer(BroadcastRegistry(fps=30, bitrate=1_000_000))


async def test_an_offer_is_answered_with_h264_and_every_candidate(webrtc: WebRtcServer) -> None:
    answer = await webrtc.answer(FakeSandbox("desktop"), await offer())
    assert "H264/90000" in answer
    assert "VP8" not in answer
    assert "a=candidate:" in answer
    assert "a=sendonly" in answer
    await webrtc.close()


async def test_a_machine_without_a_picture_cannot_be_watched(webrtc: WebRtcServer) -> None:
    sandbox = FakeSandbox("desktop")
    sandbox.crash()
    with pytest.raises(MachineGone):
        await webrtc.answer(sandbox, await offer())


@pytest.mark.parametrize(
    "change",
    [
        lambda sdp: "",
        lambda sdp: "v=0",
        lambda sdp: "x" * (MAX_OFFER + 1),
        lambda sdp: sdp.replace("m=video", "m=audio"),
        lambda sdp: sdp + "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n",
        lambda sdp: sdp + "a=candidate:1 1 udp 1 10.0.0.1 1 typ host\r\n" * (MAX_CANDIDATES + 1),
        lambda sdp: sdp.replace("a=ice-ufrag", "a=nothing"),
        lambda sdp: sdp.replace("a=rtpmap", "a=nothing"),
        lambda sdp: sdp + "a=candidate:rubbish\r\n",
    ],
)
async def test_an_offer_that_is_none_is_refused_and_leaves_nothing(
    webrtc: WebRtcServer, change: Callable[[str], str]
) -> None:
    sandbox = FakeSandbox("desktop")
    with pytest.raises(InvalidOffer):
        await webrtc.answer(sandbox, change(await offer()))
    assert webrtc._peers == {}


async def test_a_viewer_that_never_comes_is_let_go(webrtc: WebRtcServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CONNECT_TIMEOUT_SECONDS", 0.1)
    sandbox = FakeSandbox("desktop")
    await webrtc.answer(sandbox, await offer())
    assert set(webrtc._peers) == {sandbox.id}
    await eventually(lambda: webrtc._peers == {} and not webrtc._tasks)
    assert sandbox.screen.viewers == 0


def test_names_that_take_long_to_resolve_are_left_out() -> None:
    head = "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\n"
    name = "a=candidate:1 1 udp 2113937151 6fd2a1c0-aaaa-bbbb-cccc-0123456789ab.local 50000 typ host\r\n"
    plain = "a=candidate:2 1 udp 1677729535 192.0.2.7 50001 typ srflx raddr 0.0.0.0 rport 0\r\n"
    assert _without_mdns(head + name + plain + "a=end-of-candidates\r\n") == head + plain
    assert _without_mdns(head + name) == head + UNREACHABLE_CANDIDATE


def test_each_bridge_of_a_process_offers_the_loopback_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aioice.ice, "get_host_addresses", aioice.ice.get_host_addresses)
    for _ in range(3):
        set_host_addresses(())
    assert aioice.ice.get_host_addresses(use_ipv4=True, use_ipv6=False).count("127.0.0.1") == 1


async def test_aiortc_s_own_client_shows_a_screen_that_never_changes() -> None:
    webrtc = WebRtcServer(BroadcastRegistry(fps=30, bitrate=20_000_000))
    peer = RTCPeerConnection()
    peer.addTransceiver("video", direction="recvonly")
    await peer.setLocalDescription(await peer.createOffer())
    sandbox = FakeSandbox("desktop")
    sandbox.screen.pixels[:] = 0  # at this rate drawn well by its first packet, so that none follows to sharpen it
    answer = await webrtc.answer(sandbox, str(peer.localDescription.sdp))
    await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
    (receiver,) = peer.getReceivers()
    async with asyncio.timeout(20):
        picture = await receiver.track.recv()
    assert isinstance(picture, VideoFrame)
    assert (picture.width, picture.height) == (sandbox.capabilities.width, sandbox.capabilities.height)
    await webrtc.close()
    await peer.close()
    await eventually(lambda: not webrtc._tasks)  # what lets go of a viewer closes its sockets
