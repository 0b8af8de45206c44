"""Where the host comes in: a socket it made before this process began, which nobody else can name."""

import select
import socket

from vm_bridge.guest.wire import GREETING

ANSWER_SECONDS = 5.0
"""Longest a host may leave what it is sent unread."""


class Door:
    """Gives each host that comes the memory with the frames, so that a later one can go on where one ended.

    `leash` is how long a sandbox outlives the last one (seconds).
    """

    def __init__(self, listener: socket.socket, memory: int, leash: float) -> None:
        self._listener, self._memory, self._leash = listener, memory, leash

    def open(self) -> socket.socket | None:
        """The next host; None when none came in time."""
        if not select.select([self._listener], [], [], self._leash)[0]:
            return None
        link, _ = self._listener.accept()
        try:
            socket.send_fds(link, [GREETING], [self._memory])
        except OSError:
            link.close()
            return self.open()
        return link
