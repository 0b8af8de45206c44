"""The making of a sandbox: whole, or nothing of it is left."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from vm_bridge.errors import BridgeError, NoMachine
from vm_bridge.sandbox import Sandbox


@asynccontextmanager
async def attempt(sandbox: Sandbox) -> AsyncIterator[None]:
    """Start the sandbox within. Where that fails, for whatever reason, it is destroyed: nobody else knows of it.

    Raises NoMachine in place of what the host or the system refused, such as a full disk.
    """
    try:
        yield
    except BaseException as error:
        await sandbox.destroy()
        if isinstance(error, BridgeError | OSError):
            raise NoMachine(str(error)) from error
        raise
