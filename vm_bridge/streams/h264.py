"""An H.264 encoder for screens: no delay, no periodic key frames, a bounded burst, a rate that can be changed."""

from fractions import Fraction
from typing import Any

import av
import numpy as np
import numpy.typing as npt
from av.video.reformatter import Colorspace, VideoReformatter

from vm_bridge.sandbox import Box
from vm_bridge.streams.quantiser import SHARP_LIMIT, Quantiser
from vm_bridge.streams.x264 import BLOCK, UNCHANGED, X264Encoder

CLOCK_RATE = 90_000
"""Ticks of a timestamp in a second (RTP's video clock)."""
TIME_BASE = Fraction(1, CLOCK_RATE)
BURST_FRAMES = 1.5
"""How much may be sent at once, in frames at the ceiling: what a link without a pacer takes well."""
X264_OPTIONS = {
    # The quantiser is said for each picture. It has to lie between those of key frames and of frames between others,
    # which these ratios put at 17 and 69.
    **{"qp": "35", "ipratio": "8", "pbratio": "50"},
    **{"threads": "1", "keyint": "infinite", "scenecut": "0", "repeat-headers": "1", "log": "-1"},
    **{"colorprim": "bt709", "transfer": "bt709", "colormatrix": "bt709"},
}

GRID_PIXELS = BLOCK
"""What changed is converted and searched in whole cells of so many pixels. Larger cells would give fewer sizes, but a
size that begins anew costs only a quarter of its converting."""
MAX_REFORMATTERS = 32


class PixelConverter:
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
        left, top, right, bottom = _align_to_grid(changed, size)
        if left < right and top < bottom:
            part = self._planes(screen[top:bottom, left:right])
            for plane, piece, scale in zip(last.planes, part.planes, (1, 2, 2), strict=True):
                rows, columns = slice(top // scale, bottom // scale), slice(left // scale, right // scale)
                _plane_array(plane)[rows, columns] = _plane_array(piece)[:, : (right - left) // scale]
        return last

    def _planes(self, pixels: npt.NDArray[np.uint8]) -> av.VideoFrame:
        height, width = pixels.shape[:2]
        if len(self._reformatters) > MAX_REFORMATTERS:
            self._reformatters.clear()
        reformatter = self._reformatters.setdefault((width, height), VideoReformatter())
        source = av.VideoFrame.from_numpy_buffer(pixels, format="bgra")
        # POINT: colours are halved by picking, at half the cost of averaging; text is luma and stays sharp.
        return reformatter.reformat(
            source, format="yuv420p", interpolation="POINT", dst_colorspace=Colorspace.ITU709, threads=1
        )


class H264Encoder:
    """One stream's encoder; every picture gives one packet at once.

    While a picture fits what may be sent, quality is what counts. A new rate holds from the next picture on, without a
    key frame. What is said to stand still is not looked at, which is half of the work.
    """

    def __init__(self, width: int, height: int, *, fps: float, bitrate: int) -> None:
        self.size = (width, height)
        self.bitrate = bitrate
        """What a second of changing pictures may take (bits)."""
        self.burst = int(bitrate / fps * BURST_FRAMES / 8)
        """Bytes the largest packets aim to stay under, at this rate."""
        self._quantiser = Quantiser(BURST_FRAMES / fps)
        self._codec = X264Encoder(width, height, X264_OPTIONS | {"fps": str(Fraction(fps).limit_denominator(1000))})
        self._unchanged_blocks = np.empty(self._codec.blocks, np.uint8)
        self._number = 0

    @property
    def sharp(self) -> bool:
        """Whether the latest picture could be drawn well."""
        return self._quantiser.last <= SHARP_LIMIT

    def encode(self, picture: av.VideoFrame, pts: int, *, key: bool, changed: Box | None = None) -> "av.Packet[Any]":
        """The packet of `picture` at `pts` (in CLOCK ticks, rising); with `key` one that needs no other. `changed` is
        the box outside of which it is the picture encoded before."""
        whole = key or changed is None or self._number == 0
        left, top, right, bottom = (
            (0, 0, *self.size) if whole or changed is None else _align_to_grid(changed, self.size)
        )
        luma = _plane_array(picture.planes[0])[top : max(top, bottom), left : max(left, right)]
        quantiser = self._quantiser.choose(luma, pts / CLOCK_RATE, self.bitrate / 8)
        self._unchanged_blocks.fill(UNCHANGED)
        self._unchanged_blocks[top // BLOCK : -(-bottom // BLOCK), left // BLOCK : -(-right // BLOCK)] = 0
        data, is_key = self._codec.encode(
            picture,
            self._number,
            key=key,
            quantiser=quantiser,
            unchanged_blocks=None if whole else self._unchanged_blocks,
        )
        self._quantiser.record_size(len(data))
        self._number += 1
        packet = av.Packet(data)
        packet.pts = packet.dts = pts
        packet.time_base, packet.is_keyframe = TIME_BASE, is_key
        return packet


def _align_to_grid(box: Box, size: tuple[int, int]) -> Box:
    """The box made larger to the grid, and cut to the picture."""
    left, top = (max(0, edge // GRID_PIXELS * GRID_PIXELS) for edge in box[:2])
    right, bottom = (min(-(-edge // GRID_PIXELS) * GRID_PIXELS, end) for edge, end in zip(box[2:], size, strict=True))
    return left, top, right, bottom


def _plane_array(plane: Any) -> npt.NDArray[np.uint8]:
    return np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size)
