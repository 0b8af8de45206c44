"""Tasks side by side, as a benchmark needs them: the first that fails ends all, with its own error."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")


async def run_together(*works: Coroutine[Any, Any, T]) -> list[T]:
    """The results of all, in order. The first failure cancels the others and is raised when these have ended."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def in_background(*works: Coroutine[Any, Any, object]) -> AsyncIterator[list[asyncio.Task[object]]]:
    """Tasks that run while the block runs, and are cancelled when it ends.

    The first task that fails ends the block: the `with` statement raises that task's error, whatever the block was
    waiting for.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
            yield tasks
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
