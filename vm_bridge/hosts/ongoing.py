"""What is being done to a machine and must end before another has it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from vm_bridge.errors import MachineGone


class Ongoing:
    """Works on one machine, which somebody else than who does them may end."""

    def __init__(self) -> None:
        self._running: dict[asyncio.Timeout, asyncio.Event] = {}

    @asynccontextmanager
    async def work(self) -> AsyncIterator[None]:
        """What the block does is ended as a cancellation ends it. Raises MachineGone where it was."""
        bound, over = asyncio.timeout(None), asyncio.Event()
        try:
            async with bound:
                self._running[bound] = over
                yield
        except TimeoutError:
            if bound.expired():
                raise MachineGone("the machine was taken away meanwhile") from None
            raise
        finally:
            self._running.pop(bound, None)
            over.set()

    async def end(self) -> None:
        """Returns when nothing is being done any more."""
        running = dict(self._running)
        for bound in running:
            if not bound.expired():
                bound.reschedule(0.0)
        for over in running.values():
            await over.wait()
