"""Where hosts come in: a port, for who has the secret."""

import queue
import secrets
import socket
import threading
from contextlib import suppress

from vm_bridge.guest.proof import GREETING, GUEST, HOST, NONCE, PROOF, proof, same
from vm_bridge.guest.wire import WireError, exactly

PROVING_SECONDS = 10.0
PROVING_AT_ONCE = 8
"""Most callers that may be about to prove themselves; more are hung up on."""


class Door:
    """One host at a time, the latest: the one before may be the host of a state that the machine was put back from,
    which will never hang up."""

    def __init__(self, host: str, port: int, secret: str) -> None:
        self._listener = socket.create_server((host, port), reuse_port=False)
        self.address: tuple[str, int] = self._listener.getsockname()
        self._secret = secret
        self._proving = threading.BoundedSemaphore(PROVING_AT_ONCE)
        self._came: queue.SimpleQueue[socket.socket] = queue.SimpleQueue()
        self._changing = threading.Lock()
        self._latest: socket.socket | None = None
        threading.Thread(target=self._attend, daemon=True).start()

    def open(self) -> socket.socket | None:
        """The next host."""
        return self._came.get()

    def _attend(self) -> None:
        while True:
            try:
                link, _ = self._listener.accept()
            except ConnectionError:
                continue  # who came has gone again
            if self._proving.acquire(blocking=False):
                threading.Thread(target=self._admit, args=(link,), daemon=True).start()
            else:
                link.close()

    def _admit(self, link: socket.socket) -> None:
        """Who says nothing keeps nobody else waiting."""
        try:
            link.settimeout(PROVING_SECONDS)
            self._prove(link)
            link.settimeout(None)
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except (OSError, WireError):
            link.close()
        else:
            self._take(link)
        finally:
            self._proving.release()

    def _prove(self, link: socket.socket) -> None:
        """Raises OSError, WireError."""
        ours = secrets.token_bytes(NONCE)
        link.sendall(GREETING + ours)
        answer = exactly(link, NONCE + PROOF)
        theirs, shown = answer[:NONCE], answer[NONCE:]
        if not same(shown, proof(self._secret, HOST, ours, theirs)):
            raise WireError("the host does not know the secret")
        link.sendall(proof(self._secret, GUEST, ours, theirs))

    def _take(self, link: socket.socket) -> None:
        with self._changing:
            before, self._latest = self._latest, link
            self._came.put(link)
        if before is not None:
            with suppress(OSError):  # it has hung up by itself
                before.shutdown(socket.SHUT_RDWR)
