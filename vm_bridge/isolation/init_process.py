"""The first process of a sandbox, with which the kernel ends all others."""

import json
import os
import select
import signal
from contextlib import suppress
from pathlib import Path

from vm_bridge.errors import MachineGone

MAX_INFO = 4096


class InitProcess:
    """Held by a descriptor, so that its number cannot come to mean another process.

    `began` is when it was started, by the kernel's own count: together with its number it means one process for ever.
    """

    def __init__(self, pid: int, began: int | None = None) -> None:
        """Raises MachineGone when that process has ended already."""
        try:
            self._descriptor = os.pidfd_open(pid)
            self.pid, self.began = pid, _start_time(pid)
        except (OSError, IndexError) as error:
            raise MachineGone("the sandbox has ended") from error
        if began is not None and began != self.began:
            os.close(self._descriptor)
            raise MachineGone("the sandbox has ended")

    @classmethod
    def told(cls, info: int) -> "InitProcess":
        """The one bubblewrap tells of on this descriptor. Raises MachineGone when it has ended already."""
        try:
            return cls(int(json.loads(os.read(info, MAX_INFO))["child-pid"]))
        except (ValueError, KeyError) as error:
            raise MachineGone("the sandbox ended as it started") from error

    def end(self, seconds: float) -> None:
        """Returns when no process of the sandbox is left. Raises MachineGone when that takes too long."""
        try:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)
            ended, _, _ = select.select([self._descriptor], [], [], seconds)
        finally:
            self.close()
        if not ended:
            raise MachineGone("processes of the sandbox do not end")

    def close(self) -> None:
        """Let go of it; it goes on."""
        os.close(self._descriptor)


def _start_time(pid: int) -> int:
    return int(Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[19])
