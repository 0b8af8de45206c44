"""A microphone of Windows, by waveIn of winmm. Windows converts from the device's own rate."""

import sys
from typing import Protocol

from ..clocks import now_ns
from ..errors import RecorderError
from .assembly import RATE, SAMPLE_BYTES
from .block_input import BLOCK_BYTES, BUFFERS, OK, BlockCalls, BlockInput

DEFAULT_DEVICE = -1
BAD_DEVICE, BUSY, NO_DRIVER = 2, 4, 6
"""Codes of MMSYSERR."""


class WaveCalls(BlockCalls, Protocol):
    """The calls to winmm; `WindowsWaves` implements them."""

    def names(self) -> list[str]:
        """Names of the microphones, indexed by device number."""

    def open(self, device: int) -> int:
        """Open a device for samples of 16 bits, 16 kHz, one channel, and start it. Returns a code of MMSYSERR."""


class WaveInput(BlockInput):
    """An open microphone. `source` is the start of its name; empty means the default one.

    Raises RecorderError as BlockInput does.
    """

    def __init__(self, calls: WaveCalls, source: str = "") -> None:
        super().__init__(calls, calls.open(_find_device(calls.names(), source)), busy=BUSY, code_name="winmm's error")


def _find_device(names: list[str], source: str) -> int:
    if not names:
        raise RecorderError("no_microphone", "Windows has no microphone.")
    if not source:
        return DEFAULT_DEVICE
    for number, name in enumerate(names):
        if name.casefold().startswith(source.casefold()):
            return number
    raise RecorderError("no_microphone", f"There is no microphone {source!r}; there are: {', '.join(names)}.")


if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    BY_EVENT, DONE, PCM = 0x00050000, 0x00000001, 1

    class _Format(ctypes.Structure):
        _pack_ = 1
        _fields_ = [
            ("tag", wintypes.WORD),
            ("channels", wintypes.WORD),
            ("rate", wintypes.DWORD),
            ("bytes_per_second", wintypes.DWORD),
            ("block_align", wintypes.WORD),
            ("bits", wintypes.WORD),
            ("extra", wintypes.WORD),
        ]

    class _Header(ctypes.Structure):
        _fields_ = [
            ("data", ctypes.c_void_p),
            ("length", wintypes.DWORD),
            ("recorded", wintypes.DWORD),
            ("user", ctypes.c_void_p),
            ("flags", wintypes.DWORD),
            ("loops", wintypes.DWORD),
            ("next", ctypes.c_void_p),
            ("reserved", ctypes.c_void_p),
        ]

    class _Capabilities(ctypes.Structure):
        _fields_ = [
            ("maker", wintypes.WORD),
            ("product", wintypes.WORD),
            ("version", wintypes.UINT),
            ("name", wintypes.WCHAR * 32),
            ("formats", wintypes.DWORD),
            ("channels", wintypes.WORD),
            ("reserved", wintypes.WORD),
        ]

    class WindowsWaves:
        """winmm with a ring of buffers."""

        def __init__(self) -> None:
            self._winmm, self._kernel = ctypes.WinDLL("winmm"), ctypes.WinDLL("kernel32")
            self._winmm.waveInGetDevCapsW.argtypes = [ctypes.c_size_t, ctypes.c_void_p, wintypes.UINT]
            self._winmm.waveInOpen.argtypes = [
                *(ctypes.c_void_p, wintypes.UINT, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, wintypes.DWORD)
            ]
            for name in ("waveInPrepareHeader", "waveInUnprepareHeader", "waveInAddBuffer"):
                getattr(self._winmm, name).argtypes = [ctypes.c_void_p, ctypes.c_void_p, wintypes.UINT]
            for name in ("waveInStart", "waveInReset", "waveInClose"):
                getattr(self._winmm, name).argtypes = [ctypes.c_void_p]
            self._kernel.CreateEventW.restype = wintypes.HANDLE
            self._kernel.WaitForSingleObject.argtypes = [wintypes.HANDLE, wintypes.DWORD]
            self._kernel.CloseHandle.argtypes = [wintypes.HANDLE]
            self._handle = ctypes.c_void_p()
            self._event: int | None = None
            self._buffers: list[ctypes.Array[ctypes.c_char]] = []
            self._headers: list[_Header] = []
            self._next = 0

        def names(self) -> list[str]:
            """The names of the microphones."""
            found = []
            for number in range(self._winmm.waveInGetNumDevs()):
                about = _Capabilities()
                self._winmm.waveInGetDevCapsW(number, ctypes.byref(about), ctypes.sizeof(about))
                found.append(about.name)
            return found

        def open(self, device: int) -> int:
            """Open and start. Returns an MMSYSERR code."""
            kind = _Format(PCM, 1, RATE, RATE * SAMPLE_BYTES, SAMPLE_BYTES, 8 * SAMPLE_BYTES, 0)
            self._event = self._kernel.CreateEventW(None, False, False, None)
            code = self._winmm.waveInOpen(
                *(ctypes.byref(self._handle), device & 0xFFFFFFFF, ctypes.byref(kind), self._event, None, BY_EVENT)
            )
            if code != OK:
                return int(code)
            for _ in range(BUFFERS):
                buffer = ctypes.create_string_buffer(BLOCK_BYTES)
                header = _Header(ctypes.addressof(buffer), BLOCK_BYTES)
                self._buffers.append(buffer)
                self._headers.append(header)
                self._winmm.waveInPrepareHeader(self._handle, ctypes.byref(header), ctypes.sizeof(header))
                self._winmm.waveInAddBuffer(self._handle, ctypes.byref(header), ctypes.sizeof(header))
            return int(self._winmm.waveInStart(self._handle))

        def take(self, seconds: float) -> bytes | None:
            """The next full buffer."""
            header, buffer = self._headers[self._next], self._buffers[self._next]
            ends = now_ns() + int(seconds * 1e9)
            while not header.flags & DONE:
                left = (ends - now_ns()) // 1_000_000
                if left <= 0:
                    return None
                self._kernel.WaitForSingleObject(self._event, left)
            samples = buffer.raw[: header.recorded]
            self._winmm.waveInAddBuffer(self._handle, ctypes.byref(header), ctypes.sizeof(header))
            self._next = (self._next + 1) % BUFFERS
            return samples

        def close(self) -> None:
            """Stop and release it."""
            self._winmm.waveInReset(self._handle)
            for header in self._headers:
                self._winmm.waveInUnprepareHeader(self._handle, ctypes.byref(header), ctypes.sizeof(header))
            self._winmm.waveInClose(self._handle)
            if self._event:
                self._kernel.CloseHandle(self._event)
