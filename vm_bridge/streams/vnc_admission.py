"""Who may open a VNC connection, decided before a process is made for it.

The gateway forks for each viewer. What has no valid ticket must cost less than that: a request is read whole, and its
origin and the signature of its ticket are checked, in the process that listens.
"""

import logging
import re
import select
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from vm_bridge.api.tickets import Ticket, verify_ticket
from vm_bridge.config import Config
from vm_bridge.errors import TicketRefused

REQUEST_SECONDS = 5.0
"""Longest that a request may take to come whole."""
LONGEST_REQUEST = 16 * 1024
MOST_WAITING = 128
"""Connections whose request has not come whole; beyond that the oldest is closed."""
END_OF_HEADERS = b"\r\n\r\n"
REFUSAL = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
TOKEN = re.compile(r"[?&]token=([^&\s]*)")

logger = logging.getLogger(__name__)

Connection = tuple[socket.socket, tuple[str, int]]
Check = Callable[[bytes], object]
"""Looks at a whole request. Raises TicketRefused."""


@dataclass(slots=True)
class _Waiting:
    """A connection whose request is on its way."""

    link: socket.socket
    address: tuple[str, int]
    until: float


class Admission:
    """A listening socket that hands out admitted connections alone; selectable, as a socket is.

    Connections that are refused get 403 and cost neither a process nor a thread.
    """

    def __init__(self, listener: socket.socket, check: Check) -> None:
        self._listener, self._check = listener, check
        self._waiting: dict[int, _Waiting] = {}
        self._epoll = select.epoll()
        listener.setblocking(False)
        self._epoll.register(listener, select.EPOLLIN)

    def fileno(self) -> int:
        """Readable when `accept` has something to do."""
        return self._epoll.fileno()

    def accept(self) -> Connection:
        """An admitted connection, whose request has not been read. Raises InterruptedError where there is none yet."""
        self.sweep()
        for descriptor, _ in self._epoll.poll(0, maxevents=1):
            if descriptor == self._listener.fileno():
                self._take()
            elif (admitted := self._look(self._waiting[descriptor])) is not None:
                return admitted
        raise InterruptedError(4, "no connection has been admitted yet")

    def sweep(self) -> None:
        """Close what has been silent for too long."""
        now = time.monotonic()
        for waiting in [each for each in self._waiting.values() if each.until < now]:
            self._drop(waiting)

    def close(self) -> None:
        """Listen no more."""
        self.forget()
        self._listener.close()

    def forget(self) -> None:
        """Close what a new process has of it by its birth; the connections go on in the process that listens."""
        for waiting in self._waiting.values():
            waiting.link.close()
        self._waiting.clear()
        self._epoll.close()

    def _take(self) -> None:
        with suppress(OSError):  # it has gone again
            link, address = self._listener.accept()
            if len(self._waiting) >= MOST_WAITING:
                self._drop(next(iter(self._waiting.values())))
            link.setblocking(False)
            self._waiting[link.fileno()] = _Waiting(link, address[:2], time.monotonic() + REQUEST_SECONDS)
            # Told of anew with each part that comes: what has been looked at stays in the socket for who serves it.
            self._epoll.register(link, select.EPOLLIN | select.EPOLLET)

    def _look(self, waiting: _Waiting) -> Connection | None:
        try:
            request = waiting.link.recv(LONGEST_REQUEST, socket.MSG_PEEK)
        except BlockingIOError:
            return None
        except OSError:
            request = b""
        if END_OF_HEADERS not in request:
            if len(request) in (0, LONGEST_REQUEST):
                self._drop(waiting)
            return None
        try:
            self._check(request)
        except TicketRefused as refused:
            logger.info("%s refused: %s", waiting.address[0], refused)
            self._refuse(waiting)
            return None
        self._let_go(waiting)
        waiting.link.setblocking(True)
        return waiting.link, waiting.address

    def _refuse(self, waiting: _Waiting) -> None:
        with suppress(OSError):
            waiting.link.recv(LONGEST_REQUEST)  # what is left unread would make the kernel drop the answer
            waiting.link.send(REFUSAL)
        self._drop(waiting)

    def _drop(self, waiting: _Waiting) -> None:
        self._let_go(waiting)
        waiting.link.close()

    def _let_go(self, waiting: _Waiting) -> None:
        del self._waiting[waiting.link.fileno()]
        with suppress(OSError):
            self._epoll.unregister(waiting.link)


def admitted(config: Config, request: bytes) -> Ticket:
    """The valid ticket of a request by one of our pages. Whether it was used before, only the ledger knows.

    Raises TicketRefused.
    """
    first, *lines = request.partition(END_OF_HEADERS)[0].decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): text.strip() for name, _, text in (line.partition(":") for line in lines)}
    if headers.get("origin") not in config.web_origins:
        raise TicketRefused("a page of another origin")
    found = TOKEN.search(first)
    return verify_ticket(config.ticket_keys, found[1] if found else "", "vnc")
