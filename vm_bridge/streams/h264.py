"""An H.264 encoder for screens: no delay, no periodic key frames, a bounded burst, a rate that can be changed."""

import struct
from fractions import Fraction
from typing import Any

import av
import numpy as np
import numpy.typing as npt
from av.video.frame import PictureType
from av.video.reformatter import Colorspace, VideoReformatter

from vm_bridge.sandbox import Box

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


GRID = 64
"""What changed is converted in whole cells of so many pixels, so that few sizes are met."""
KEPT_SIZES = 32


class Converter:
    """BGRX pixels to the planes an encoder reads (BT.709, limited range). Where only a part changed, only that part is
    converted, into the picture given out before: who keeps a picture asks for whole ones."""

    def __init__(self) -> None:
        self._reformatters: dict[tuple[int, int], VideoReformatter] = {}
        """By the size of what they convert: one that takes another size begins anew, which costs more than the work."""
        self._picture: av.VideoFrame | None = None

    def convert(
        self, pixels: memoryview, width: int, height: int, changed: Box | None = None, *, whole: bool = False
    ) -> av.VideoFrame:
        """The picture, cut to an even size, as chroma subsampling needs. `changed` is the box outside of which it is
        the one before; with `whole` a picture is given that nothing is written to later."""
        screen = np.frombuffer(pixels, np.uint8).reshape(height, width, 4)
        screen = screen[: height & ~1, : width & ~1]
        size = (width & ~1, height & ~1)
        last = self._picture
        if whole or changed is None or last is None or (last.width, last.height) != size:
            picture = self._planes(np.ascontiguousarray(screen))
            self._picture = None if whole else picture
            return picture
        left, top, right, bottom = _on_grid(changed, size)
        if left < right and top < bottom:
            part = self._planes(screen[top:bottom, left:right])
            for plane, piece, scale in zip(last.planes, part.planes, (1, 2, 2), strict=True):
                rows, columns = slice(top // scale, bottom // scale), slice(left // scale, right // scale)
                _samples(plane)[rows, columns] = _samples(piece)[:, : (right - left) // scale]
        return last

    def _planes(self, pixels: npt.NDArray[np.uint8]) -> av.VideoFrame:
        height, width = pixels.shape[:2]
        if len(self._reformatters) > KEPT_SIZES:
            self._reformatters.clear()
        reformatter = self._reformatters.setdefault((width, height), VideoReformatter())
        source = av.VideoFrame.from_numpy_buffer(pixels, format="bgra")
        # POINT: colours are halved by picking, at half the cost of averaging; text is luma and stays sharp.
        return reformatter.reformat(source, format="yuv420p", interpolation="POINT", dst_colorspace=Colorspace.ITU709)


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


def _on_grid(box: Box, size: tuple[int, int]) -> Box:
    """The box made larger to the grid, and cut to the picture."""
    left, top = (max(0, edge // GRID * GRID) for edge in box[:2])
    right, bottom = (min(-(-edge // GRID) * GRID, end) for edge, end in zip(box[2:], size, strict=True))
    return left, top, right, bottom


def _samples(plane: Any) -> npt.NDArray[np.uint8]:
    return np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size)


def is_sharp(packet: "av.Packet[Any]") -> bool:
    """Whether the encoder could afford to draw this packet's picture well."""
    (lagrange,) = struct.unpack_from("<I", bytes(packet.get_sidedata("quality_stats")))
    return bool(lagrange <= SHARP_QUANTISER * QUANTISER_SCALE)
