"""A PulseAudio of its own whose microphone is fed in real time, so that the true time of every sample is known."""

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

RATE, SAMPLE_BYTES = 16_000, 2
STEP_SAMPLES = RATE // 100
"""How much is fed at once: 10 ms."""
SAMPLE_NS = 1_000_000_000 // RATE
START_SECONDS = 20.0
POLL_SECONDS = 0.01


class FedMicrophone:
    """Feeds silence, and what it is given to play. `drift_ppm` makes its clock wrong by so many millionths."""

    def __init__(self, fifo: Path, drift_ppm: float = 0.0) -> None:
        self._fifo = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
        self._sample_ns = SAMPLE_NS / (1 + drift_ppm / 1e6)
        self._waiting = bytearray()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._begin_ns, self._fed = time.monotonic_ns(), 0
        self.muted = False
        """Whether what is fed gets lost, as where a device loses samples."""
        self._thread = threading.Thread(target=self._feed, daemon=True)
        self._thread.start()

    def play(self, samples: bytes) -> int:
        """Play this after what is playing. Returns the monotonic time of its first sample (nanoseconds)."""
        with self._lock:
            begin = self._fed + len(self._waiting) // SAMPLE_BYTES
            self._waiting += samples
            return self._time(begin)

    def wait_until(self, t_ns: int) -> None:
        """Wait until this moment."""
        while time.monotonic_ns() < t_ns:
            self._ended.wait(max(0.0, (t_ns - time.monotonic_ns()) / 1e9))

    def close(self) -> None:
        """End."""
        self._ended.set()
        self._thread.join()
        os.close(self._fifo)

    def _time(self, sample: int) -> int:
        return self._begin_ns + int(sample * self._sample_ns)

    def _feed(self) -> None:
        """Every sample is fed when its time has come: the last of a step at the moment of its capture."""
        size = STEP_SAMPLES * SAMPLE_BYTES
        while not self._ended.wait(max(0.0, (self._time(self._fed + STEP_SAMPLES) - time.monotonic_ns()) / 1e9)):
            with self._lock:
                step = bytes(self._waiting[:size]).ljust(size, b"\0")
                del self._waiting[:size]
                self._fed += STEP_SAMPLES
            if not self.muted:
                with suppress(BlockingIOError):  # nobody listens: the sound is lost, and time goes on
                    os.write(self._fifo, step)


@contextmanager
def pulse_server(folder: Path) -> Iterator[tuple[dict[str, str], Path]]:
    """A PulseAudio with one microphone. Gives the environment that leads to it, and the pipe that feeds it."""
    folder.mkdir()
    fifo, socket = folder / "microphone", folder / "native"
    environment = {"PULSE_SERVER": f"unix:{socket}", "PULSE_RUNTIME_PATH": str(folder), "HOME": str(folder)}
    microphone = f"module-pipe-source file={fifo} source_name=microphone format=s16le rate={RATE} channels=1"
    command = ["pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disable-shm=yes"]
    command += ["-L", f"module-native-protocol-unix auth-anonymous=1 socket={socket}", "-L", microphone]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, env={**os.environ, **environment}, stderr=log)
    try:
        ends = time.monotonic() + START_SECONDS
        while not (socket.exists() and fifo.exists()):
            if time.monotonic() > ends or server.poll() is not None:
                raise TimeoutError(f"PulseAudio did not start: {(folder / 'log').read_text()[-500:]}")
            time.sleep(POLL_SECONDS)
        yield environment, fifo
    finally:
        server.terminate()
        with suppress(subprocess.TimeoutExpired):
            server.wait(10)


def has_pulse() -> bool:
    """Whether PulseAudio is installed."""
    return shutil.which("pulseaudio") is not None
