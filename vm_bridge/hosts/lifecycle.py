"""Start and end of a sandbox: cleanup when a start fails, and cancelling its running operations."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from vm_bridge.errors import BridgeError, MachineGone, NoMachine
from vm_bridge.sandbox import Sandbox


@asynccontextmanager
async def destroy_on_failure(sandbox: Sandbox) -> AsyncIterator[None]:
    """Start the sandbox inside the context. On any failure it is destroyed, because nothing else references it.

    Raises NoMachine for errors of the host or the system, such as a full disk; one that says more keeps its code.
    """
    try:
        yield
    except BaseException as error:
        await sandbox.destroy()
        if isinstance(error, BridgeError | OSError) and not isinstance(error, NoMachine):
            raise NoMachine(str(error)) from error
        raise


class OperationGroup:
    """Operations on one machine, which another task may end."""

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
