"""Waits for a settled screen, concurrent with the loop of an episode."""

import asyncio
from collections.abc import Callable

from agent_backend.episode.machine_session import MachineSession
from protocol.trajectory.observations import Observation


class SettleControl:
    """Cuts the settle of an action short, and continues a settle that did not wait for a program's timer.

    `wake` is called when the screen has settled after such a timer.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._skipping: asyncio.Task[None] | None = None
        self._rest: asyncio.Task[Observation] | None = None

    def skip(self, session: MachineSession | None) -> None:
        """Cut the current settle short."""
        if session is not None and (self._skipping is None or self._skipping.done()):
            self._skipping = asyncio.create_task(session.skip_settle())

    def go_on(self, session: MachineSession) -> None:
        """Wait for the timers that the last action did not wait for."""
        self._rest = asyncio.create_task(session.observe_settled())
        self._rest.add_done_callback(lambda _: self._wake())

    @property
    def waiting(self) -> bool:
        """Whether it waits for timers, or holds a screen that was not taken yet."""
        return self._rest is not None

    @property
    def rested(self) -> bool:
        """Whether the settled screen is ready for `take`."""
        return self._rest is not None and self._rest.done()

    def take(self) -> Observation:
        """Return the settled screen, once. Raises BridgeError."""
        assert self._rest is not None, "a screen was waited for"
        rest, self._rest = self._rest, None
        return rest.result()

    async def end(self, session: MachineSession) -> bool:
        """Stop waiting for timers, because the machine gets other work. Returns whether it was waiting."""
        rest, self._rest = self._rest, None
        if rest is not None:
            rest.cancel()
            await asyncio.gather(rest, session.skip_settle(), return_exceptions=True)
        return rest is not None

    async def finish(self) -> None:
        """Return once the awaited timers have fired: their effect counts for a verdict."""
        if self._rest is not None:
            await asyncio.wait((self._rest,))

    async def close(self) -> None:
        """Cancel both waits."""
        tasks = [task for task in (self._skipping, self._rest) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
