"""A microphone of macOS, by AudioToolbox's audio queues. The system converts from the device's own rate."""

import sys
from typing import Protocol

from .assembly import RATE, SAMPLE_BYTES
from .block_input import BLOCK_BYTES, BUFFERS, OK, BlockCalls, BlockInput

BUSY = 560_492_391
"""`!hog`: another program has exclusive use of the device."""


class QueueCalls(BlockCalls, Protocol):
    """The calls to AudioToolbox; `MacQueues` implements them."""

    def open(self, source: str) -> int:
        """Start a queue of 16 bits, 16 kHz, one channel, on the device with this UID. Returns an OSStatus."""


class QueueInput(BlockInput):
    """An open microphone. `source` is the UID of its device; empty: the default one.

    Raises RecorderError as BlockInput does.
    """

    def __init__(self, calls: QueueCalls, source: str = "") -> None:
        super().__init__(calls, calls.open(source), busy=BUSY, code_name="OSStatus")


if sys.platform == "darwin":
    import ctypes
    import queue

    LINEAR_PCM, SIGNED_PACKED, CURRENT_DEVICE = 0x6C70636D, 12, 0x61716364
    UTF8 = 0x08000100
    TOOLBOX = "/System/Library/Frameworks/AudioToolbox.framework/AudioToolbox"
    FOUNDATION = "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation"
    CALLBACK = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_uint32, ctypes.c_void_p)

    class _Format(ctypes.Structure):
        _fields_ = [
            ("rate", ctypes.c_double),
            *(
                (name, ctypes.c_uint32)
                for name in ("id", "flags", "packet_bytes", "packet_frames", "frame_bytes", "channels", "bits", "zero")
            ),
        ]

    class _Buffer(ctypes.Structure):
        _fields_ = [("capacity", ctypes.c_uint32), ("data", ctypes.c_void_p), ("size", ctypes.c_uint32)]

    class MacQueues:
        """An audio queue whose callback passes on its buffers."""

        def __init__(self) -> None:
            self._toolbox, self._foundation = ctypes.CDLL(TOOLBOX), ctypes.CDLL(FOUNDATION)
            self._toolbox.AudioQueueNewInput.argtypes = [
                *(ctypes.c_void_p, CALLBACK, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32),
                ctypes.c_void_p,
            ]
            self._toolbox.AudioQueueAllocateBuffer.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p]
            self._toolbox.AudioQueueEnqueueBuffer.argtypes = [
                *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p)
            ]
            self._toolbox.AudioQueueStart.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
            self._toolbox.AudioQueueDispose.argtypes = [ctypes.c_void_p, ctypes.c_bool]
            self._toolbox.AudioQueueSetProperty.argtypes = [
                *(ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32)
            ]
            self._foundation.CFStringCreateWithCString.restype = ctypes.c_void_p
            self._foundation.CFStringCreateWithCString.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32]
            self._filled: queue.SimpleQueue[bytes] = queue.SimpleQueue()
            self._queue = ctypes.c_void_p()
            self._callback = CALLBACK(self._receive)

        def open(self, source: str) -> int:
            """Start a queue. Returns an OSStatus."""
            kind = _Format(RATE, LINEAR_PCM, SIGNED_PACKED, SAMPLE_BYTES, 1, SAMPLE_BYTES, 1, 8 * SAMPLE_BYTES, 0)
            code = self._toolbox.AudioQueueNewInput(
                *(ctypes.byref(kind), self._callback, None, None, None, 0, ctypes.byref(self._queue))
            )
            if code == OK and source:
                name = ctypes.c_void_p(self._foundation.CFStringCreateWithCString(None, source.encode(), UTF8))
                code = self._toolbox.AudioQueueSetProperty(
                    *(self._queue, CURRENT_DEVICE, ctypes.byref(name), ctypes.sizeof(name))
                )
            if code != OK:
                return int(code)
            for _ in range(BUFFERS):
                buffer = ctypes.c_void_p()
                self._toolbox.AudioQueueAllocateBuffer(self._queue, BLOCK_BYTES, ctypes.byref(buffer))
                self._toolbox.AudioQueueEnqueueBuffer(self._queue, buffer, 0, None)
            return int(self._toolbox.AudioQueueStart(self._queue, None))

        def take(self, seconds: float) -> bytes | None:
            """The next buffer."""
            try:
                return self._filled.get(timeout=seconds)
            except queue.Empty:
                return None

        def close(self) -> None:
            """Stop and release it."""
            if self._queue.value:
                self._toolbox.AudioQueueDispose(self._queue, True)

        def _receive(
            self, _data: int, _queue: int, buffer: int, _start: int, _packets: int, _descriptions: int
        ) -> None:
            filled = _Buffer.from_address(buffer)
            self._filled.put(ctypes.string_at(filled.data, filled.size))
            self._toolbox.AudioQueueEnqueueBuffer(self._queue, buffer, 0, None)
