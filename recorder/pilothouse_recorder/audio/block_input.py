"""Base of the Windows and macOS microphones: a device that fills buffers of 0.1 s."""

from typing import Protocol

from ..clocks import now_ns
from ..errors import RecorderError
from .assembly import RATE, SAMPLE_BYTES, Block

BLOCK_BYTES = RATE // 10 * SAMPLE_BYTES
BUFFERS = 8
GONE_SECONDS = 2.0
"""A device that delivers nothing for this long was unplugged: neither system reports that."""
OK = 0
"""Success code of both MMSYSERR and OSStatus."""


class BlockCalls(Protocol):
    """The calls to a system whose device is open."""

    def take(self, seconds: float) -> bytes | None:
        """Wait for a full buffer. Returns None if none was filled in time."""

    def close(self) -> None:
        """Stop and release the device."""


class BlockInput:
    """An open microphone.

    `code` is the result of opening the device. `busy` is the code of a device that another program uses exclusively.

    Raises RecorderError with `no_microphone` or `microphone_busy`.
    """

    def __init__(self, calls: BlockCalls, code: int, *, busy: int, code_name: str) -> None:
        self._calls = calls
        if code == busy:
            raise RecorderError("microphone_busy", "Another program holds the microphone alone.")
        if code != OK:
            raise RecorderError("no_microphone", f"The microphone does not open ({code_name} {code}).")

    def read(self) -> Block:
        """Wait for the next 0.1 s. Raises RecorderError with `no_microphone` once the device is gone."""
        samples = self._calls.take(GONE_SECONDS)
        if samples is None:
            raise RecorderError("no_microphone", "The microphone has gone.")
        return Block(samples, now_ns(), 0)

    def close(self) -> None:
        """Release it."""
        self._calls.close()
