"""What a runner sleeps on: an event, or the earliest of its deadlines (loop time)."""

import asyncio
import contextlib


class Wakeup:
    """An event that is waited for no longer than until a deadline."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.set = self._event.set
        self.clear = self._event.clear

    async def wait(self, *deadlines: float | None) -> None:
        """Return when the event is set or the earliest deadline has passed; None never passes."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(min((at for at in deadlines if at is not None), default=None)):
                await self._event.wait()


def is_due(at: float | None) -> bool:
    """Whether a deadline has passed; None never does."""
    return at is not None and asyncio.get_running_loop().time() >= at
