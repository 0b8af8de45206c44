"""What aiortc's sender lacks for a live screen: a browser that is heard, and pictures shown without delay."""

import contextlib
import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

from aiortc import RTCRtpSender, rtp
from aiortc.codecs import HEADER_EXTENSIONS
from aiortc.rtcrtpparameters import RTCRtpHeaderExtensionParameters, RTCRtpParameters

PLAYOUT_DELAY = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
AT_ONCE = bytes(3)
"""Shortest and longest delay, 12 bits each, both none: the browser draws a picture as soon as it has it."""


class AtOnce(rtp.HeaderExtensionsMap):
    """The header extensions of a packet, with a playout delay of none where the browser agreed to it."""

    _playout_delay: int | None = None

    def configure(self, parameters: RTCRtpParameters) -> None:
        super().configure(parameters)
        self._playout_delay = next((e.id for e in parameters.headerExtensions if e.uri == PLAYOUT_DELAY), None)

    def set(self, values: rtp.HeaderExtensions) -> tuple[int, bytes]:
        extensions = rtp.unpack_header_extensions(*super().set(values))
        if self._playout_delay is not None:
            extensions.append((self._playout_delay, AT_ONCE))
        packed: tuple[int, bytes] = rtp.pack_header_extensions(extensions)
        return packed


def offer_playout_delay() -> None:
    """Let aiortc agree to the playout delay extension. Idempotent; before any peer connection."""
    known = HEADER_EXTENSIONS["video"]
    if all(extension.uri != PLAYOUT_DELAY for extension in known):
        free = 1 + max(extension.id for extensions in HEADER_EXTENSIONS.values() for extension in extensions)
        known.append(RTCRtpHeaderExtensionParameters(id=free, uri=PLAYOUT_DELAY))


class Loss(NamedTuple):
    """Of the packets since the last report this share (0 to 1) did not arrive."""

    share: float


class Estimate(NamedTuple):
    """What the browser believes its link takes (bits per second)."""

    rate: int


Report = Loss | Estimate


def fit_sender(sender: RTCRtpSender, key_wanted: Callable[[], None], heard: Callable[[Report], None]) -> None:
    """Before the first packet: send AT_ONCE, and pass on what the browser says.

    aiortc keeps requests for key frames and estimates of the link to its own encoders, so a track of ready packets
    would never hear of them.
    """
    own_keyframe, own_rtcp = sender._send_keyframe, sender._handle_rtcp_packet

    def send_keyframe() -> None:
        own_keyframe()
        key_wanted()

    async def handle_rtcp_packet(packet: rtp.AnyRtcpPacket) -> None:
        await own_rtcp(packet)
        for report in reports_in(packet, sender._ssrc):
            heard(report)

    sender._send_keyframe = send_keyframe  # type: ignore[method-assign]
    sender._handle_rtcp_packet = handle_rtcp_packet  # type: ignore[method-assign]
    sender._RTCRtpSender__rtp_header_extensions_map = AtOnce()  # type: ignore[attr-defined]


def reports_in(packet: rtp.AnyRtcpPacket, ssrc: int) -> Iterator[Report]:
    """What an RTCP packet says of the stream `ssrc`."""
    if isinstance(packet, rtp.RtcpRrPacket | rtp.RtcpSrPacket):
        yield from (Loss(report.fraction_lost / 256) for report in packet.reports if report.ssrc == ssrc)
    elif isinstance(packet, rtp.RtcpPsfbPacket) and packet.fmt == rtp.RTCP_PSFB_APP:
        with contextlib.suppress(ValueError, struct.error):  # another application's message
            rate, streams = rtp.unpack_remb_fci(packet.fci)
            if ssrc in streams:
                yield Estimate(rate)
