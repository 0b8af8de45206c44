"""Runs a command of the operator's that puts a machine back."""

import asyncio
from collections.abc import Sequence

from vm_bridge.errors import MachineGone

REVERT_SECONDS = 600.0
"""Longest it may take."""


async def command_run(argv: Sequence[str]) -> None:
    """Run a command of the operator's to its end. Raises MachineGone."""
    try:
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
    except OSError as error:
        raise MachineGone(f"{argv[0]}: {error}") from error
    try:
        async with asyncio.timeout(REVERT_SECONDS):
            said, _ = await process.communicate()
    except TimeoutError:
        raise MachineGone(f"{argv[0]} did not end within {REVERT_SECONDS:g} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise MachineGone(f"{argv[0]} ended with {process.returncode}: {said[-500:].decode('utf-8', 'replace')}")
