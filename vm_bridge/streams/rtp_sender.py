"""What aiortc's sender lacks for a live screen: a browser that is heard, and pictures shown without delay."""

import contextlib
import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

from aiortc import RTCRtpSender, rtp
from aiortc.codecs import HEADER_EXTENSIONS
from aiortc.rtcrtpparameters import RTCRtpHeaderExtensionParameters, RTCRtpParameters

PLAYOUT_DELAY = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
NO_PLAYOUT_DELAY = bytes(3)
"""Shortest and longest delay, 12 bits each, both none: the browser draws a picture as soon as it has it."""


class NoDelayHeaderExtensions(rtp.HeaderExtensionsMap):
    """The header extensions of a packet, with a playout delay of none where the browser agreed to it."""

    _playout_delay: int | None = None

    def configure(self, parameters: RTCRtpParameters) -> None:
        super().configure(parameters)
        self._playout_delay = next((e.id for e in parameters.headerExtensions if e.uri == PLAYOUT_DELAY), None)

    def set(self, values: rtp.HeaderExtensions) -> tuple[int, bytes]:
        extensions = rtp.unpack_header_extensions(*super().set(values))
        if self._playout_delay is not None:
            extensions.append((self._playout_delay, NO_PLAYOUT_DELAY))
        packed: tuple[int, bytes] = rtp.pack_header_extensions(extensions)
        return packed


def enable_playout_delay() -> None:
    """Let aiortc agree to the playout delay extension. Idempotent; before any peer connection."""
    known = HEADER_EXTENSIONS["video"]
    if all(extension.uri != PLAYOUT_DELAY for extension in known):
        free = 1 + max(extension.id for extensions in HEADER_EXTENSIONS.values() for extension in extensions)
        known.append(RTCRtpHeaderExtensionParameters(id=free, uri=PLAYOUT_DELAY))


class PacketLoss(NamedTuple):
    """Of the packets since the last report this share (0 to 1) did not arrive."""

    share: float


class BandwidthEstimate(NamedTuple):
    """What the browser believes its link takes (bits per second)."""

    rate: int


ReceiverReport = PacketLoss | BandwidthEstimate


def patch_sender(
    sender: RTCRtpSender, on_key_frame_request: Callable[[], None], on_report: Callable[[ReceiverReport], None]
) -> None:
    """Before the first packet: send AT_ONCE, and pass on what the browser says.

    aiortc keeps requests for key frames and estimates of the link to its own encoders, so a track of ready packets
    would never hear of them.
    """
    own_keyframe, own_rtcp = sender._send_keyframe, sender._handle_rtcp_packet

    def send_keyframe() -> None:
        own_keyframe()
        on_key_frame_request()

    async def handle_rtcp_packet(packet: rtp.AnyRtcpPacket) -> None:
        await own_rtcp(packet)
        for report in parse_reports(packet, sender._ssrc):
            on_report(report)

    sender._send_keyframe = send_keyframe  # type: ignore[method-assign]
    sender._handle_rtcp_packet = handle_rtcp_packet  # type: ignore[method-assign]
    sender._RTCRtpSender__rtp_header_extensions_map = NoDelayHeaderExtensions()  # type: ignore[attr-defined]


def parse_reports(packet: rtp.AnyRtcpPacket, ssrc: int) -> Iterator[ReceiverReport]:
    """What an RTCP packet says of the stream `ssrc`."""
    if isinstance(packet, rtp.RtcpRrPacket | rtp.RtcpSrPacket):
        yield from (PacketLoss(report.fraction_lost / 256) for report in packet.reports if report.ssrc == ssrc)
    elif isinstance(packet, rtp.RtcpPsfbPacket) and packet.fmt == rtp.RTCP_PSFB_APP:
        with contextlib.suppress(ValueError, struct.error):  # another application's message
            rate, streams = rtp.unpack_remb_fci(packet.fci)
            if ssrc in streams:
                yield BandwidthEstimate(rate)
