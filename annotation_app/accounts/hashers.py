"""Password hashing with a bound on how much of it happens at once."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.hashers import Argon2PasswordHasher

from annotation_app.errors import TooMany

PARALLEL = 2
"""Hashes that a process computes at once; each takes 100 MiB and a core for a tenth of a second."""
WAITING = 4
"""Requests that may wait for one of those. Others are refused at once, so that threads stay free for other requests."""
BUSY = "Too many people are signing in at this moment. Try again in a few seconds."

_admitted = threading.BoundedSemaphore(PARALLEL + WAITING)
_computing = threading.BoundedSemaphore(PARALLEL)


@contextmanager
def _bounded() -> Iterator[None]:
    """Raises TooMany with code `sign_in_busy` when too many requests wait already."""
    if not _admitted.acquire(blocking=False):
        raise TooMany(BUSY, code="sign_in_busy")
    try:
        with _computing:
            yield
    finally:
        _admitted.release()


class BoundedArgon2Hasher(Argon2PasswordHasher):
    """Django's Argon2 hasher, of which at most `PARALLEL` run at once in a process.

    Stored hashes are the same as Django's own.
    """

    def encode(self, password: str, salt: str) -> str:
        with _bounded():
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with _bounded():
            return super().verify(password, encoded)
