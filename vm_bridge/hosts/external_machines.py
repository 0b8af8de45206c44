"""Machines an operator provides by address: leased to one user at a time, reverted by the operator's command."""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from tempfile import TemporaryFile
from typing import Generic, Protocol, TypeVar

from vm_bridge.errors import MachineGone, NoMachine
from vm_bridge.hosts.lifecycle import OperationGroup

REVERT_SECONDS = 600.0
"""Longest it may take."""
MAX_ERROR_CHARACTERS = 500
"""So much of the end of what it said is shown (bytes)."""


async def run_operator_command(argv: Sequence[str]) -> None:
    """Run an operator's command to its end. Processes that it leaves, such as a machine that it started, keep running.

    On timeout or cancellation, its whole process group is ended. Raises MachineGone.
    """
    with TemporaryFile() as said:  # a pipe would only end with the processes that it leaves
        try:
            process = await asyncio.create_subprocess_exec(
                *argv, stdin=asyncio.subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
            )
        except OSError as error:
            raise MachineGone(f"{argv[0]}: {error}") from error
        try:
            async with asyncio.timeout(REVERT_SECONDS):
                await process.wait()
        except TimeoutError:
            raise MachineGone(f"{argv[0]} did not end within {REVERT_SECONDS:g} s") from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):  # it ended just now
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        if process.returncode:
            said.seek(max(0, said.seek(0, os.SEEK_END) - MAX_ERROR_CHARACTERS))
            words = said.read(MAX_ERROR_CHARACTERS).decode("utf-8", "replace")
            raise MachineGone(f"{argv[0]} ended with {process.returncode}: {words}")


BOOT_SECONDS = 300.0
"""Longest a machine may take to answer once it was put back."""
BOOT_POLL = 0.5
REACH_SECONDS = 60.0
"""Longest that one try to reach it takes."""
RESET_SECONDS = 2 * (REVERT_SECONDS + BOOT_SECONDS + REACH_SECONDS)
"""Longest that a reset may take, after it waited for one that a lease had begun."""


class MachineReverter:
    """Reverts one machine to its initial state. `revert` is a command; the machine's address is appended. Without it
    the machine never reverts: the next lease finds what the last one left."""

    def __init__(self, address: str, revert: Sequence[str]) -> None:
        self._address, self._revert = address, tuple(revert)
        self._ongoing = OperationGroup()
        self._ended = False

    async def run(self, reach: Callable[[], Awaitable[None]]) -> None:
        """Revert it and wait until it is reachable; `reach` raises MachineGone until then. Raises MachineGone."""
        if self._ended:
            raise MachineGone(f"{self._address} was given up")
        async with self._ongoing.work():
            if self._revert:
                await run_operator_command((*self._revert, self._address))
            ends = time.monotonic() + BOOT_SECONDS
            while True:
                try:
                    return await reach()
                except MachineGone:
                    if not self._revert or time.monotonic() > ends:
                        raise
                await asyncio.sleep(BOOT_POLL)

    async def end(self) -> None:
        """Stop reverting and end the command: from now on the machine belongs to another user. Idempotent."""
        self._ended = True
        await self._ongoing.end()


class ExternalMachine(Protocol):
    """One such machine while it is lent."""

    released: bool
    """Whether it is unused, so that it can be leased again."""

    async def start(self) -> None:
        """Raises MachineGone when it does not answer."""
        ...

    async def destroy(self) -> None:
        """Return the machine, which its owner keeps running."""
        ...


S = TypeVar("S", bound=ExternalMachine)


class ExternalMachinePool(Generic[S]):
    """The machines of one image at these addresses; `make` is what is lent of one."""

    def __init__(self, image: str, addresses: Sequence[str], make: Callable[[str], S]) -> None:
        self._image, self._addresses, self._make = image, tuple(addresses), make
        self._leased: dict[str, S] = {}
        self._closed = False

    async def acquire(self) -> S:
        """One that answers. Raises NoMachine with what is wrong with those that were free."""
        problems = []
        for address in self._addresses:
            if not self._is_free(address):  # check again for each: the previous one may have taken minutes
                continue
            machine = self._leased[address] = self._make(address)
            try:
                await machine.start()
            except MachineGone as gone:
                problems.append(str(gone))
                await machine.destroy()
            except BaseException:
                await machine.destroy()
                raise
            else:
                return machine
        full = f"all {len(self._addresses)} machines of the image {self._image} are in use"
        raise NoMachine("; ".join(problems) or full)

    async def close(self) -> None:
        """Return all machines."""
        self._closed = True
        for machine in self._leased.values():
            await machine.destroy()

    def _is_free(self, address: str) -> bool:
        return not self._closed and (address not in self._leased or self._leased[address].released)
