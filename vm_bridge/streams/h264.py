"""An H.264 encoder for screens: no delay, no periodic key frames, a bounded burst, a rate that can be changed."""

import struct
from fractions import Fraction
from typing import Any

import av
import numpy as np
from av.video.frame import PictureType
from av.video.reformatter import Colorspace, VideoReformatter

CLOCK = 90_000
"""Ticks of a timestamp in a second (RTP's video clock)."""
TIME_BASE = Fraction(1, CLOCK)
BT709 = 1
BURST_FRAMES = 1.5
"""How much may be sent at once, in frames at the ceiling: what a link without a pacer takes well."""
BEST_QUANTISER = 20
"""Finer than this nobody sees."""
SHARP_QUANTISER = 26
"""Text drawn coarser than this looks soft."""
QUANTISER_SCALE = 118
"""How FFmpeg scales quantisers in its statistics (FF_QP2LAMBDA)."""


class Converter:
    """BGRX pixels to the planes an encoder reads (BT.709, limited range)."""

    def __init__(self) -> None:
        self._reformatter = VideoReformatter()

    def convert(self, pixels: memoryview, width: int, height: int) -> av.VideoFrame:
        """The picture, cut to an even size, as chroma subsampling needs."""
        screen = np.frombuffer(pixels, np.uint8).reshape(height, width, 4)
        screen = screen[: height & ~1, : width & ~1]
        source = av.VideoFrame.from_numpy_buffer(np.ascontiguousarray(screen), format="bgra")
        # POINT: colours are halved by picking, at half the cost of averaging; text is luma and stays sharp.
        return self._reformatter.reformat(
            source, format="yuv420p", interpolation="POINT", dst_colorspace=Colorspace.ITU709
        )


class H264Encoder:
    """One stream's encoder; every picture gives one packet at once.

    x264 runs at a constant rate with a floor under its quantiser: while the picture needs less than the rate, quality
    is what counts. Only in this mode does it take a new rate while it runs, and so without a key frame.
    """

    def __init__(self, width: int, height: int, *, fps: float, bitrate: int) -> None:
        self.size = (width, height)
        self.burst = int(bitrate / fps * BURST_FRAMES / 8)
        """Bytes the largest packets aim to stay under."""
        codec = av.CodecContext.create("libx264", "w")
        codec.width, codec.height, codec.pix_fmt = width, height, "yuv420p"
        codec.time_base, codec.framerate = TIME_BASE, Fraction(fps).limit_denominator(1000)
        codec.profile = "Baseline"
        codec.gop_size = 2**30
        codec.thread_count = 1
        codec.colorspace = codec.color_primaries = codec.color_trc = BT709
        codec.bit_rate = bitrate
        codec.options = {
            "preset": "ultrafast",
            "tune": "zerolatency",
            "maxrate": str(bitrate),
            "bufsize": str(self.burst * 8),
            "qmin": str(BEST_QUANTISER),
            "sc_threshold": "0",
            "forced-idr": "1",
        }
        self._codec = codec

    @property
    def bitrate(self) -> int:
        """What a second of changing pictures may take (bits)."""
        return self._codec.bit_rate or 0

    @bitrate.setter
    def bitrate(self, bitrate: int) -> None:
        self._codec.bit_rate = bitrate

    def encode(self, picture: av.VideoFrame, pts: int, *, key: bool) -> "av.Packet[Any]":
        """The packet of `picture` at `pts` (in CLOCK ticks, rising); with `key` one that needs no other."""
        picture.pts, picture.time_base = pts, TIME_BASE
        picture.pict_type = PictureType.I if key else PictureType.NONE
        (packet,) = self._codec.encode(picture)
        packet.time_base = TIME_BASE
        return packet


def is_sharp(packet: "av.Packet[Any]") -> bool:
    """Whether the encoder could afford to draw this packet's picture well."""
    (lagrange,) = struct.unpack_from("<I", bytes(packet.get_sidedata("quality_stats")))
    return bool(lagrange <= SHARP_QUANTISER * QUANTISER_SCALE)
