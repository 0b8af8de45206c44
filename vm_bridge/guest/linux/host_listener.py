"""Accepts hosts on a private socket that the host created before this process started."""

import select
import socket

from vm_bridge.guest.common.wire import GREETING


class SharedMemoryHostListener:
    """Sends each host the frame memory, so that a later host can continue where one ended.

    `idle_seconds` is how long a sandbox outlives the last host (seconds).
    """

    def __init__(self, listener: socket.socket, memory: int, idle_seconds: float) -> None:
        self._listener, self._memory, self._idle_seconds = listener, memory, idle_seconds

    def accept(self) -> socket.socket | None:
        """The next host, or None if none came in time."""
        while select.select([self._listener], [], [], self._idle_seconds)[0]:
            link, _ = self._listener.accept()
            try:
                socket.send_fds(link, [GREETING], [self._memory])
            except OSError:
                link.close()  # it disconnected again
            else:
                return link
        return None
