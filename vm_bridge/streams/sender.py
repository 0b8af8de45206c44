"""What aiortc's sender lacks for a live screen: key requests that are heard, and pictures shown without delay."""

from collections.abc import Callable

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


def fit_sender(sender: RTCRtpSender, key_wanted: Callable[[], None]) -> None:
    """Before the first packet: send AT_ONCE, and bring the browser's PLI and FIR to `key_wanted`.

    aiortc keeps those requests to its own encoders, so a track of ready packets would never hear of them.
    """
    own = sender._send_keyframe

    def send_keyframe() -> None:
        own()
        key_wanted()

    sender._send_keyframe = send_keyframe  # type: ignore[method-assign]
    sender._RTCRtpSender__rtp_header_extensions_map = AtOnce()  # type: ignore[attr-defined]
