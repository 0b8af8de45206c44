"""x264 asked directly: FFmpeg passes on neither a quantiser for each picture nor which parts stand still.

It is the library that PyAV brings along, by its interface of build 165 (x264.h).
"""

import ctypes
import weakref
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import av
import numpy as np
import numpy.typing as npt

OPEN_FUNCTION = "x264_encoder_open_165"
"""The name holds the build, so that another one is not met by mistake."""
PARAMETER_BYTES = 4096
"""More than the structure of parameters takes."""
WIDTH, HEIGHT, USES_BLOCK_INFO = 28, 32, 628
"""Where those parameters lie that have no name (`i_width`, `i_height`, `analyse.b_mb_info`)."""
I420 = 2
AUTOMATIC, KEY_FRAME = 0, 1
UNCHANGED = 1
"""Of a macroblock: it is what it was in the picture before."""
BLOCK = 16

BlockMap = npt.NDArray[np.uint8]
"""One entry for each macroblock, in rows."""


class _Picture(ctypes.Structure):
    _fields_ = [
        *(("kind", ctypes.c_int), ("quantiser_plus_one", ctypes.c_int), ("structure", ctypes.c_int)),
        *(("is_key", ctypes.c_int), ("pts", ctypes.c_int64), ("dts", ctypes.c_int64), ("parameters", ctypes.c_void_p)),
        *(("layout", ctypes.c_int), ("planes", ctypes.c_int)),
        *(("strides", ctypes.c_int * 4), ("plane", ctypes.c_void_p * 4)),
        *(("offsets", ctypes.c_void_p), ("offsets_free", ctypes.c_void_p)),
        *(("blocks", ctypes.c_void_p), ("blocks_free", ctypes.c_void_p)),
        ("rest", ctypes.c_uint8 * 512),
    ]


class _NalUnit(ctypes.Structure):
    _fields_ = [
        *(("reference", ctypes.c_int), ("kind", ctypes.c_int), ("long_start", ctypes.c_int)),
        *(("first", ctypes.c_int), ("last", ctypes.c_int), ("size", ctypes.c_int), ("data", ctypes.c_void_p)),
    ]


class EncodedPicture(NamedTuple):
    """One picture's bytes, and whether it needs no other."""

    data: bytes
    is_key: bool


class X264Encoder:
    """One encoder. Not for several threads at once."""

    def __init__(self, width: int, height: int, options: Mapping[str, str]) -> None:
        """`options` are x264's own names and values. Raises ValueError for those it does not take."""
        self._library = _library()
        self._size = (width, height)
        parameters = (ctypes.c_uint8 * PARAMETER_BYTES)()
        self._library.x264_param_default_preset(parameters, b"ultrafast", b"zerolatency")
        for name, value in options.items():
            if self._library.x264_param_parse(parameters, name.encode(), value.encode()) != 0:
                raise ValueError(f"x264 does not take {name}={value}")
        for offset, number in ((WIDTH, width), (HEIGHT, height), (USES_BLOCK_INFO, 1)):
            ctypes.c_int.from_buffer(parameters, offset).value = number
        self._library.x264_param_apply_profile(parameters, b"baseline")
        self._encoder = getattr(self._library, OPEN_FUNCTION)(parameters)
        self._library.x264_param_cleanup(parameters)
        if not self._encoder:
            raise ValueError(f"x264 does not take {width}x{height} with {dict(options)}")
        weakref.finalize(self, self._library.x264_encoder_close, self._encoder)

    @property
    def blocks(self) -> tuple[int, int]:
        """How many rows and columns of macroblocks a picture has."""
        width, height = self._size
        return -(-height // BLOCK), -(-width // BLOCK)

    def encode(
        self,
        picture: av.VideoFrame,
        number: int,
        *,
        key: bool,
        quantiser: int,
        unchanged_blocks: BlockMap | None = None,
    ) -> EncodedPicture:
        """The bytes of a yuv420p picture; `number` rises. `standing` is STANDING where it is the picture before, 0
        elsewhere."""
        given, made = _Picture(), _Picture()
        self._library.x264_picture_init(ctypes.byref(given))
        given.kind, given.quantiser_plus_one, given.pts = KEY_FRAME if key else AUTOMATIC, quantiser + 1, number
        given.layout, given.planes = I420, 3
        for index, plane in enumerate(picture.planes):
            given.strides[index], given.plane[index] = plane.line_size, plane.buffer_ptr
        if unchanged_blocks is not None:
            given.blocks = unchanged_blocks.ctypes.data
        units, count = ctypes.POINTER(_NalUnit)(), ctypes.c_int()
        size = self._library.x264_encoder_encode(
            self._encoder, ctypes.byref(units), ctypes.byref(count), ctypes.byref(given), ctypes.byref(made)
        )
        if size <= 0:
            raise RuntimeError(f"x264 gave no picture ({size})")
        return EncodedPicture(ctypes.string_at(units[0].data, size), bool(made.is_key))


@cache
def _library() -> ctypes.CDLL:
    folder = Path(av.__file__).parents[1] / "av.libs"
    library = ctypes.CDLL(str(next(iter(folder.glob("libx264-*")), "libx264.so")))
    getattr(library, OPEN_FUNCTION).restype = ctypes.c_void_p
    library.x264_encoder_close.argtypes = [ctypes.c_void_p]
    library.x264_encoder_encode.argtypes = [ctypes.c_void_p] * 5
    return library
