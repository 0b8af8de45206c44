"""Opens a microphone with the system's API: PulseAudio, waveIn on Windows, or audio queues on macOS."""

import sys
from typing import Protocol

from .assembly import Block


class Source(Protocol):
    """A source of blocks of sound."""

    def read(self) -> Block:
        """Wait for the next block. Raises RecorderError with `no_microphone`."""

    def close(self) -> None:
        """Release it."""


def open_microphone(source: str = "") -> Source:
    """Open the microphone with this name; empty means the default one.

    Raises RecorderError with `no_microphone`, `permission_missing`, or `microphone_busy` if another program uses it
    exclusively.
    """
    if sys.platform == "win32":
        from .wave_in import WaveInput, WindowsWaves

        return WaveInput(WindowsWaves(), source)
    if sys.platform == "darwin":
        from .audio_queue import MacQueues, QueueInput

        return QueueInput(MacQueues(), source)
    from .pulse import Microphone

    return Microphone(source)
