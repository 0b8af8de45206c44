"""Opens a microphone with what the system has: PulseAudio, waveIn of Windows, or audio queues of macOS."""

import sys
from typing import Protocol

from .assembly import Block


class Source(Protocol):
    """What blocks of sound come from."""

    def read(self) -> Block:
        """Wait for the next block. Raises RecorderError with `no_microphone`."""

    def close(self) -> None:
        """Release it."""


def open_microphone(source: str = "") -> Source:
    """The microphone of this name; empty: the default one. Raises RecorderError with `no_microphone`, `microphone_busy`
    where another program holds it alone, and `permission_missing`."""
    if sys.platform == "win32":
        from .wave_in import WaveInput, WindowsWaves

        return WaveInput(WindowsWaves(), source)
    if sys.platform == "darwin":
        from .audio_queue import MacQueues, QueueInput

        return QueueInput(MacQueues(), source)
    from .pulse import Microphone

    return Microphone(source)
