"""Password hashing with limited concurrency, on threads of low priority."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from django.contrib.auth.hashers import Argon2PasswordHasher

from annotation_app.errors import TooMany

MAX_PARALLEL_HASHES = 2
"""Hashes that a process computes at once. Each takes 100 MiB and a core for a quarter of a second."""
MAX_WAITING_HASHES = 4
"""Requests that may wait for a hash. Others are refused at once, so that threads stay free for other requests."""
HASHING_NICENESS = 5
"""Niceness of a hashing thread. On a busy processor it gets about a third of a request's share."""
BUSY_MESSAGE = "Too many people are signing in at this moment. Try again in a few seconds."

T = TypeVar("T")


def _lower_priority() -> None:
    """Lower the priority of this thread and of threads that it starts, within the process."""
    with suppress(OSError):  # a system without niceness per thread
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + HASHING_NICENESS)


_admission_slots = threading.BoundedSemaphore(MAX_PARALLEL_HASHES + MAX_WAITING_HASHES)
_hashing_threads = ThreadPoolExecutor(MAX_PARALLEL_HASHES, thread_name_prefix="hash", initializer=_lower_priority)


def _hash_in_turn(compute: Callable[[], T]) -> T:
    """Run `compute` when its turn has come and return its result.

    Raises TooMany with code `sign_in_busy` when too many requests are waiting.
    """
    if not _admission_slots.acquire(blocking=False):
        raise TooMany(BUSY_MESSAGE, code="sign_in_busy")
    try:
        return _hashing_threads.submit(compute).result()
    finally:
        _admission_slots.release()


class BoundedArgon2Hasher(Argon2PasswordHasher):
    """Django's Argon2 hasher, limited to `MAX_PARALLEL_HASHES` concurrent hashes in a process, one core each.

    Django's own hasher uses eight threads for one hash, which leaves other requests little of a machine with few cores.
    Passwords with such hashes are rehashed when their owner signs in.
    """

    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        return _hash_in_turn(lambda: super(BoundedArgon2Hasher, self).encode(password, salt))

    def verify(self, password: str, encoded: str) -> bool:
        return _hash_in_turn(lambda: super(BoundedArgon2Hasher, self).verify(password, encoded))
