"""Where the host comes in: a socket it made before this process began, which nobody else can name."""

import select
import socket

from vm_bridge.guest.common.wire import GREETING


class SharedMemoryHostListener:
    """Gives each host that comes the memory with the frames, so that a later one can go on where one ended.

    `leash` is how long a sandbox outlives the last one (seconds).
    """

    def __init__(self, listener: socket.socket, memory: int, idle_seconds: float) -> None:
        self._listener, self._memory, self._idle_seconds = listener, memory, idle_seconds

    def accept(self) -> socket.socket | None:
        """The next host; None when none came in time."""
        while select.select([self._listener], [], [], self._idle_seconds)[0]:
            link, _ = self._listener.accept()
            try:
                socket.send_fds(link, [GREETING], [self._memory])
            except OSError:
                link.close()  # it left again
            else:
                return link
        return None
