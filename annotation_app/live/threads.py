"""Where the event loop reaches the database: threads of its own, so that no request waits behind an episode."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from channels.db import DatabaseSyncToAsync

WORKERS = 8
THREADS = ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="database")
R = TypeVar("R")


async def in_database(function: Callable[..., R], **arguments: object) -> R:
    """The result of a service or selector."""
    call = DatabaseSyncToAsync(function, thread_sensitive=False, executor=THREADS)
    result: R = await call(**arguments)
    return result
