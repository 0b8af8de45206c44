"""Where hosts come in: a port, for who has the secret."""

import queue
import secrets
import socket
import threading
from contextlib import suppress

from vm_bridge.guest.common.handshake import GREETING, GUEST, HOST, NONCE, PROOF, compute_proof, proofs_equal
from vm_bridge.guest.common.wire import WireError, receive_exactly

HANDSHAKE_SECONDS = 10.0
MAX_HANDSHAKES = 8
"""Most callers that may be about to prove themselves; more are hung up on."""


class SecretHostListener:
    """One host at a time, the latest: the one before may be the host of a state that the machine was put back from,
    which will never hang up."""

    def __init__(self, host: str, port: int, secret: str) -> None:
        self._listener = socket.create_server((host, port), reuse_port=False)
        self.address: tuple[str, int] = self._listener.getsockname()
        self._secret = secret
        self._handshakes = threading.BoundedSemaphore(MAX_HANDSHAKES)
        self._accepted: queue.SimpleQueue[socket.socket] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._latest: socket.socket | None = None
        threading.Thread(target=self._attend, daemon=True).start()

    def accept(self) -> socket.socket | None:
        """The next host."""
        return self._accepted.get()

    def _attend(self) -> None:
        while True:
            try:
                link, _ = self._listener.accept()
            except ConnectionError:
                continue  # who came has gone again
            if self._handshakes.acquire(blocking=False):
                threading.Thread(target=self._admit, args=(link,), daemon=True).start()
            else:
                link.close()

    def _admit(self, link: socket.socket) -> None:
        """Who says nothing keeps nobody else waiting."""
        try:
            link.settimeout(HANDSHAKE_SECONDS)
            self._handshake(link)
            link.settimeout(None)
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except (OSError, WireError):
            link.close()
        else:
            self._replace_host(link)
        finally:
            self._handshakes.release()

    def _handshake(self, link: socket.socket) -> None:
        """Raises OSError, WireError."""
        ours = secrets.token_bytes(NONCE)
        link.sendall(GREETING + ours)
        answer = receive_exactly(link, NONCE + PROOF)
        theirs, host_proof = answer[:NONCE], answer[NONCE:]
        if not proofs_equal(host_proof, compute_proof(self._secret, HOST, ours, theirs)):
            raise WireError("the host does not know the secret")
        link.sendall(compute_proof(self._secret, GUEST, ours, theirs))

    def _replace_host(self, link: socket.socket) -> None:
        with self._lock:
            before, self._latest = self._latest, link
            self._accepted.put(link)
        if before is not None:
            with suppress(OSError):  # it has hung up by itself
                before.shutdown(socket.SHUT_RDWR)
