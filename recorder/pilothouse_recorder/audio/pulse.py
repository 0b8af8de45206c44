"""A microphone through PulseAudio, or PipeWire in its place: libpulse-simple by ctypes."""

import ctypes

from ..clocks import now_ns
from ..errors import RecorderError
from .assembly import RATE, SAMPLE_BYTES, Block

LIBRARY = "libpulse-simple.so.0"
RECORD, S16LE = 2, 3
BLOCK_SAMPLES = RATE // 10
FRAGMENT_BYTES = RATE // 50 * SAMPLE_BYTES
"""How much the server sends at once: 20 ms."""
UNSET = 0xFFFFFFFF
US = 1_000


class _SampleSpec(ctypes.Structure):
    _fields_ = [("format", ctypes.c_int), ("rate", ctypes.c_uint32), ("channels", ctypes.c_uint8)]


class _BufferAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("maxlength", "tlength", "prebuf", "minreq", "fragsize")]


class Microphone:
    """An open microphone. `source` is its name; empty: the default one. Raises RecorderError with `no_microphone`."""

    def __init__(self, source: str = "") -> None:
        try:
            self._library = ctypes.CDLL(LIBRARY)
        except OSError:
            raise RecorderError("no_microphone", f"{LIBRARY} is not installed.") from None
        self._library.pa_simple_new.restype = ctypes.c_void_p
        self._library.pa_simple_get_latency.restype = ctypes.c_uint64
        spec, attributes = _SampleSpec(S16LE, RATE, 1), _BufferAttributes(UNSET, UNSET, UNSET, UNSET, FRAGMENT_BYTES)
        self._error = ctypes.c_int(0)
        stream = self._library.pa_simple_new(
            None, b"pilothouse-recorder", RECORD, source.encode() or None, b"voice",
            ctypes.byref(spec), None, ctypes.byref(attributes), ctypes.byref(self._error),
        )  # fmt: skip
        if not stream:
            raise self._failure("The microphone does not open")
        self._stream = ctypes.c_void_p(stream)
        self._buffer = ctypes.create_string_buffer(BLOCK_SAMPLES * SAMPLE_BYTES)

    def read(self) -> Block:
        """Wait for the next 0.1 s. Raises RecorderError with `no_microphone` once it is gone."""
        if self._library.pa_simple_read(self._stream, self._buffer, len(self._buffer), ctypes.byref(self._error)) < 0:
            raise self._failure("The microphone has gone")
        latency = self._library.pa_simple_get_latency(self._stream, ctypes.byref(self._error))
        return Block(self._buffer.raw, now_ns(), latency * US)

    def close(self) -> None:
        """Release it; only in the thread that reads."""
        self._library.pa_simple_free(self._stream)

    def _failure(self, what: str) -> RecorderError:
        self._library.pa_strerror.restype = ctypes.c_char_p
        reason = self._library.pa_strerror(self._error) or b"unknown"
        return RecorderError("no_microphone", f"{what}: {reason.decode()}.")
