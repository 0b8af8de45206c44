"""Runs a command of the operator's that puts a machine back."""

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from tempfile import TemporaryFile

from vm_bridge.errors import MachineGone

REVERT_SECONDS = 600.0
"""Longest it may take."""
SHOWN = 500
"""So much of the end of what it said is shown (bytes)."""


async def command_run(argv: Sequence[str]) -> None:
    """Run a command of the operator's to its end; what it leaves running, as a machine it started, runs on. Where it
    takes too long or nobody waits for it any more, it is ended with all of its group. Raises MachineGone."""
    with TemporaryFile() as said:  # who waited for the end of a pipe would wait for what it left running
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
            said.seek(max(0, said.seek(0, os.SEEK_END) - SHOWN))
            words = said.read(SHOWN).decode("utf-8", "replace")
            raise MachineGone(f"{argv[0]} ended with {process.returncode}: {words}")
