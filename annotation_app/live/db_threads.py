"""Where the event loop reaches the database: threads of its own, so that no request waits behind an episode."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from channels.db import DatabaseSyncToAsync

DB_THREAD_COUNT = 8
DB_THREADS = ThreadPoolExecutor(max_workers=DB_THREAD_COUNT, thread_name_prefix="database")
R = TypeVar("R")


async def run_in_db_thread(function: Callable[..., R], **arguments: object) -> R:
    """The result of a service or selector."""
    call = DatabaseSyncToAsync(function, thread_sensitive=False, executor=DB_THREADS)
    result: R = await call(**arguments)
    return result
