"""WebRTC out of one broadcast: each viewer gets the same packets, or pictures where its browser lacks H.264."""

import asyncio
import logging
import re
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine
from typing import Any

import aioice.ice
import av
from aiortc import (
    MediaStreamTrack,
    RTCConfiguration,
    RTCIceServer,
    RTCPeerConnection,
    RTCRtpSender,
    RTCSessionDescription,
)
from aiortc.exceptions import InvalidAccessError, InvalidStateError, OperationError
from aiortc.mediastreams import MediaStreamError
from av.video.frame import PictureType

from vm_bridge.errors import InvalidOffer
from vm_bridge.sandbox import Sandbox
from vm_bridge.streams.broadcast import Broadcast, BroadcastFrame, BroadcastRegistry
from vm_bridge.streams.congestion import RateController, RateMeter
from vm_bridge.streams.ice_names import IceServerNames
from vm_bridge.streams.packets import PacketQueue
from vm_bridge.streams.rtp_sender import (
    BandwidthEstimate,
    PacketLoss,
    ReceiverReport,
    enable_playout_delay,
    patch_sender,
)

logger = logging.getLogger(__name__)

CONNECT_TIMEOUT_SECONDS = 15.0
"""A viewer that is not connected by then is dropped (seconds)."""
UNREACHABLE_CANDIDATE = "a=candidate:0 1 udp 1 127.0.0.1 9 typ host\r\n"
"""The discard port: aioice gives up at once on an empty list instead of waiting to be found."""
INTERFACE_ADDRESSES = aioice.ice.get_host_addresses
"""aioice's own list, without the loopback."""
MAX_CANDIDATES = 64
MAX_OFFER = 64 * 1024
"""Longest offer read (characters)."""
INVALID_OFFER_ERRORS = (
    *(ValueError, LookupError, AttributeError, TypeError, AssertionError, RuntimeError),
    *(InvalidAccessError, InvalidStateError, OperationError),
)
"""What aiortc raises on an offer it cannot take: its parser trusts the peer."""


class PacketTrack(MediaStreamTrack):
    """A viewer of H.264 packets, at the rate its link takes."""

    kind = "video"
    wants_packets = True

    def __init__(self, broadcast: Broadcast, ended: Callable[[], None]) -> None:
        super().__init__()
        self._broadcast = broadcast
        self._ended = ended
        self._queue = PacketQueue(self._on_overrun)
        self._rate_controller = RateController(broadcast.bitrate)
        self._sent = RateMeter()

    @property
    def rate(self) -> int:
        return self._rate_controller.rate

    def offer(self, frame: BroadcastFrame) -> None:
        self._queue.offer(frame)

    def end(self) -> None:
        self._queue.end()
        self._ended()

    def on_report(self, report: ReceiverReport) -> None:
        """What the browser says of its link."""
        match report:
            case PacketLoss():
                self._rate_controller.on_loss_report(lost=report.share, sent=self._sent.rate, at=time.monotonic())
            case BandwidthEstimate():
                self._rate_controller.on_bandwidth_estimate(report.rate, sent=self._sent.rate)

    async def recv(self) -> "av.Packet[Any]":
        """The next packet. Raises MediaStreamError at the end."""
        queued = await self._queue.get()
        if queued is None:
            raise MediaStreamError
        self._sent.add(queued.packet.size)
        return queued.packet

    def _on_overrun(self) -> None:
        self._rate_controller.on_overrun()
        self._broadcast.request_key()


class FrameTrack(MediaStreamTrack):
    """A viewer aiortc encodes for (VP8); only the newest picture waits."""

    kind = "video"
    wants_packets = False

    def __init__(self, broadcast: Broadcast, ended: Callable[[], None]) -> None:
        super().__init__()
        self.rate = broadcast.bitrate
        self._ended = ended
        self._queue: asyncio.Queue[av.VideoFrame | None] = asyncio.Queue(1)

    def offer(self, frame: BroadcastFrame) -> None:
        _clear_queue(self._queue)
        self._queue.put_nowait(frame.picture)

    def on_report(self, report: ReceiverReport) -> None:
        """aiortc's own encoder has heard it already."""

    def end(self) -> None:
        _clear_queue(self._queue)
        self._queue.put_nowait(None)
        self._ended()

    async def recv(self) -> av.VideoFrame:
        """The newest picture. Raises MediaStreamError at the end."""
        picture = await self._queue.get()
        if picture is None:
            raise MediaStreamError
        # aiortc never takes the type back: left alone, every VP8 frame after a key frame would be one.
        picture.pict_type = PictureType.NONE
        return picture


class WebRtcServer:
    """Every peer connection of this host, by machine."""

    def __init__(self, broadcasts: BroadcastRegistry, *, ice_servers: Callable[[], list[RTCIceServer]] = list) -> None:
        self._broadcasts = broadcasts
        self._ice_servers = ice_servers
        self._ice_names = IceServerNames()
        self._peers: defaultdict[str, set[RTCPeerConnection]] = defaultdict(set)
        self._tasks: set[asyncio.Task[None]] = set()
        enable_playout_delay()

    async def answer(self, sandbox: Sandbox, offer: str) -> str:
        """The SDP that answers a viewer's. Raises InvalidOffer, MachineGone."""
        _check_offer(offer)
        broadcast = self._broadcasts.of(sandbox)
        h264 = "H264/90000" in offer and "packetization-mode=1" in offer
        # Without a list of its own aiortc asks a public STUN server.
        peer = RTCPeerConnection(RTCConfiguration(iceServers=await self._ice_names.resolve(self._ice_servers())))
        kind = PacketTrack if h264 else FrameTrack
        track = kind(broadcast, lambda: self._spawn(self._close_peer(sandbox.id, peer)))
        self._peers[sandbox.id].add(peer)
        try:
            transceiver = peer.addTransceiver(track, direction="sendonly")
            codecs = RTCRtpSender.getCapabilities("video").codecs
            name = "video/H264" if h264 else "video/VP8"
            # Before setRemoteDescription, or aiortc does not heed it.
            transceiver.setCodecPreferences([codec for codec in codecs if codec.mimeType in (name, "video/rtx")])
            patch_sender(transceiver.sender, broadcast.request_key, track.on_report)
            await peer.setRemoteDescription(RTCSessionDescription(_without_mdns(offer), "offer"))
            await peer.setLocalDescription(await peer.createAnswer())
        except INVALID_OFFER_ERRORS as error:
            await self._close_peer(sandbox.id, peer)
            raise InvalidOffer(f"this offer cannot be answered: {error}") from error
        self._follow(sandbox.id, peer, broadcast, track)
        return str(peer.localDescription.sdp)

    async def end(self, machine_id: str) -> None:
        """Disconnect all viewers of a machine."""
        self._broadcasts.forget(machine_id)
        for peer in tuple(self._peers.pop(machine_id, ())):
            await peer.close()

    async def close(self) -> None:
        """Let go of everyone."""
        for machine_id in tuple(self._peers):
            await self.end(machine_id)

    def _follow(
        self, machine_id: str, peer: RTCPeerConnection, broadcast: Broadcast, track: PacketTrack | FrameTrack
    ) -> None:
        """Send to the viewer once it is connected; drop it when it leaves or never connects."""
        loop = asyncio.get_running_loop()
        late = loop.call_later(CONNECT_TIMEOUT_SECONDS, lambda: self._spawn(self._close_peer(machine_id, peer)))

        @peer.on("connectionstatechange")
        def changed() -> None:
            if peer.connectionState == "connected":
                late.cancel()
                broadcast.join(track)
            elif peer.connectionState in ("failed", "closed"):
                late.cancel()
                broadcast.leave(track)
                self._spawn(self._close_peer(machine_id, peer))

    async def _close_peer(self, machine_id: str, peer: RTCPeerConnection) -> None:
        self._peers[machine_id].discard(peer)
        if not self._peers[machine_id]:
            del self._peers[machine_id]
        await peer.close()

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def set_host_addresses(addresses: tuple[str, ...]) -> None:
    """Offer browsers these addresses; with none given, those of every interface and the loopback's.

    aioice leaves 127.0.0.1 out, so that a page on the same machine could not connect without a network. The last call
    in a process decides.
    """

    def chosen(use_ipv4: bool, use_ipv6: bool) -> list[str]:
        loopback = ["127.0.0.1"] if use_ipv4 else []
        return list(addresses) or [*INTERFACE_ADDRESSES(use_ipv4, use_ipv6), *loopback]

    aioice.ice.get_host_addresses = chosen


def _check_offer(offer: str) -> None:
    """Refuse at once what no viewer of ours sends. Raises InvalidOffer."""
    if len(offer) > MAX_OFFER or offer.count("a=candidate:") > MAX_CANDIDATES:
        raise InvalidOffer("this offer is too long")
    if re.findall(r"^m=(\w+)", offer, re.MULTILINE) != ["video"]:
        raise InvalidOffer("an offer has one video section and nothing else")


def _without_mdns(offer: str) -> str:
    """The offer without mDNS names: resolving one takes a second, and the browser finds us without it."""
    lines = [line for line in offer.splitlines() if not re.match(r"a=candidate:.*\.local |a=end-of-candidates", line)]
    text = "".join(f"{line}\r\n" for line in lines if line)
    return text if "a=candidate:" in text else text + UNREACHABLE_CANDIDATE


def _clear_queue(queue: asyncio.Queue[Any]) -> None:
    while not queue.empty():
        queue.get_nowait()
