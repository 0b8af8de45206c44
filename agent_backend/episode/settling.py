"""The waits for a screen at rest that go on beside the loop of an episode."""

import asyncio
from collections.abc import Callable

from agent_backend.episode.machine_session import MachineSession
from protocol.trajectory.observations import Observation


class SettleControl:
    """Cuts the settle of an act short, and goes on with one that did not wait for a program's timer.

    `wake` is called when the screen rests after such a timer.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._skipping: asyncio.Task[None] | None = None
        self._rest: asyncio.Task[Observation] | None = None

    def skip(self, session: MachineSession | None) -> None:
        """Wait for no screen any more."""
        if session is not None and (self._skipping is None or self._skipping.done()):
            self._skipping = asyncio.create_task(session.skip_settle())

    def go_on(self, session: MachineSession) -> None:
        """Wait for the timers that the last act did not wait for."""
        self._rest = asyncio.create_task(session.observe_settled())
        self._rest.add_done_callback(lambda _: self._wake())

    @property
    def waiting(self) -> bool:
        """Whether timers are waited for, or the screen after them is there and was not taken."""
        return self._rest is not None

    @property
    def rested(self) -> bool:
        """Whether the screen that was waited for is there, to be taken."""
        return self._rest is not None and self._rest.done()

    def take(self) -> Observation:
        """The screen at rest, once. Raises BridgeError."""
        assert self._rest is not None, "a screen was waited for"
        rest, self._rest = self._rest, None
        return rest.result()

    async def end(self, session: MachineSession) -> bool:
        """Wait for the timers no more: something else is done on the machine now. Returns whether they were waited
        for."""
        rest, self._rest = self._rest, None
        if rest is not None:
            rest.cancel()
            await asyncio.gather(rest, session.skip_settle(), return_exceptions=True)
        return rest is not None

    async def finish(self) -> None:
        """Return once the timers that are waited for have come: what they do counts for a verdict."""
        if self._rest is not None:
            await asyncio.wait((self._rest,))

    async def close(self) -> None:
        """Let go of both waits."""
        tasks = [task for task in (self._skipping, self._rest) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
