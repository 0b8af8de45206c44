"""Password hashing with a bound on how much of it happens at once."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.hashers import Argon2PasswordHasher

from annotation_app.errors import TooMany

MAX_PARALLEL_HASHES = 2
"""Hashes that a process computes at once; each takes 100 MiB and a core for a tenth of a second."""
MAX_WAITING_HASHES = 4
"""Requests that may wait for one of those. Others are refused at once, so that threads stay free for other requests."""
BUSY_MESSAGE = "Too many people are signing in at this moment. Try again in a few seconds."

_admission_slots = threading.BoundedSemaphore(MAX_PARALLEL_HASHES + MAX_WAITING_HASHES)
_hashing_slots = threading.BoundedSemaphore(MAX_PARALLEL_HASHES)


@contextmanager
def _hashing_slot() -> Iterator[None]:
    """Raises TooMany with code `sign_in_busy` when too many requests wait already."""
    if not _admission_slots.acquire(blocking=False):
        raise TooMany(BUSY_MESSAGE, code="sign_in_busy")
    try:
        with _hashing_slots:
            yield
    finally:
        _admission_slots.release()


class BoundedArgon2Hasher(Argon2PasswordHasher):
    """Django's Argon2 hasher, of which at most `PARALLEL` run at once in a process.

    Stored hashes are the same as Django's own.
    """

    def encode(self, password: str, salt: str) -> str:
        with _hashing_slot():
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with _hashing_slot():
            return super().verify(password, encoded)
