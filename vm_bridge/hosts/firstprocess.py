"""The first process of a sandbox, with which the kernel ends all others."""

import json
import os
import select

from vm_bridge.errors import MachineGone

MAX_INFO = 4096


class FirstProcess:
    """Held by a descriptor, so that its number cannot come to mean another process."""

    def __init__(self, info: int) -> None:
        """`info` is where bubblewrap told of it. Raises MachineGone when it has ended already."""
        try:
            pid = int(json.loads(os.read(info, MAX_INFO))["child-pid"])
            self._descriptor = os.pidfd_open(pid)
        except (OSError, ValueError, KeyError) as error:
            raise MachineGone("the sandbox ended as it started") from error

    def wait(self, seconds: float) -> None:
        """Returns when no process of the sandbox is left. Raises MachineGone when that takes too long."""
        ended, _, _ = select.select([self._descriptor], [], [], seconds)
        os.close(self._descriptor)
        if not ended:
            raise MachineGone("processes of the sandbox do not end")
