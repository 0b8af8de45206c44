"""One MP4 file of encoded packets: playable while it grows, seekable once it is finished."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import av

from vm_bridge.streams.h264 import CLOCK_RATE, TIME_BASE

FRAGMENT_OPTIONS = {
    # The header is written with the first fragment, when the encoder's parameters are known from its first packet.
    "movflags": "delay_moov+default_base_moof+frag_keyframe",
    "frag_duration": "1000000",
    "flush_packets": "1",
}
"""A fragment ends with a second or a key frame: no more than that is lost with a killed process."""


class Mp4Part:
    """A file being written. Not for several threads at once."""

    def __init__(self, path: Path, first: "av.Packet[Any]", *, width: int, height: int) -> None:
        assert first.is_keyframe
        assert first.pts is not None
        self.path = path
        self.started_at = first.pts / CLOCK_RATE
        """When its first picture was captured (seconds since the epoch)."""
        self.size = 0
        """Bytes of packets so far."""
        self._origin = first.pts
        self._file = av.open(str(path), "w", format="mp4", options=FRAGMENT_OPTIONS)
        self._stream = self._file.add_mux_stream("h264", width=width, height=height, time_base=TIME_BASE)
        self.write(first)

    def write(self, packet: "av.Packet[Any]") -> None:
        """Add a packet; its timestamp rises."""
        assert packet.pts is not None
        # A copy: muxing changes what it is given, and the viewers share it.
        own = av.Packet(bytes(packet))
        own.pts = own.dts = packet.pts - self._origin
        own.time_base, own.is_keyframe, own.stream = TIME_BASE, packet.is_keyframe, self._stream
        self._file.mux(own)
        self.size += packet.size

    def finish(self, at: float) -> None:
        """Close the file. Its last picture lasts until `at` (seconds since the epoch)."""
        self._file.close()
        aside = self.path.with_suffix(".tmp")
        _write_indexed(self.path, aside, Fraction(at) - Fraction(self._origin, CLOCK_RATE))
        aside.replace(self.path)


def _write_indexed(fragmented: Path, indexed: Path, seconds: Fraction) -> None:
    """Copy the packets of a file into one with a single index at its beginning."""
    options = {"movflags": "faststart"}
    with av.open(str(fragmented)) as source, av.open(str(indexed), "w", format="mp4", options=options) as target:
        stream = source.streams.video[0]
        copy = target.add_stream_from_template(stream)
        held: av.Packet[Any] | None = None
        for packet in source.demux(stream):
            if packet.dts is None:
                continue  # the mark of the end
            if held is not None:
                target.mux(held)
            packet.stream = copy
            held = packet
        if held is not None and held.pts is not None and held.time_base is not None:
            held.duration = max(1, int(seconds / held.time_base) - held.pts)
            target.mux(held)
