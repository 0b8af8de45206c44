"""What the pool and the streams need of a place where a machine lives; hosts and drivers provide it."""

import socket
from collections.abc import AsyncIterator, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from vm_bridge.machine import Capabilities, Machine

MAX_RESET_SECONDS = 60.0
"""Longest that a reset may take, where a machine says nothing else."""
Box = tuple[int, int, int, int]
"""Left, top, right and bottom of a part of a picture (pixels)."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One capture. `pixels` is BGRX, rows top down, stride `width * 4`, valid until the next frame is
    asked for; `captured_at` is seconds since the epoch; `serial` rises with every changed picture. Outside of `changed`
    it is the frame that the same subscription gave before; None: it may differ anywhere."""

    serial: int
    captured_at: float
    width: int
    height: int
    pixels: memoryview
    changed: Box | None = None


class FrameSource(Protocol):
    """The live picture of one sandbox. Nothing is captured while no subscription is open."""

    def subscribe(self, *, fps: float) -> AbstractAsyncContextManager[AsyncIterator[Frame]]:
        """Frames as the picture changes, at most `fps` a second, the current one first; a static
        picture yields nothing more. Ends when the sandbox does."""
        ...


@dataclass(frozen=True, slots=True)
class Usage:
    """What a sandbox costs now: proportional set size (bytes), CPU seconds so far, processes.

    All are zero where the host cannot measure it.
    """

    pss: int = 0
    cpu_seconds: float = 0.0
    processes: int = 0


class Sandbox(Protocol):
    """One running machine and the means to look after it."""

    id: str
    image: str
    frames: FrameSource | None
    vnc_socket: Path | None
    """Unix socket of its RFB server, if any."""

    @property
    def reset_seconds(self) -> float:
        """Longest that a reset may take."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What it can do; the size of its screen may be another one after a task was prepared."""
        ...

    def bind(self, fencing_token: int) -> Machine:
        """A view whose every call carries this token; the guest refuses a lower one than it has seen."""
        ...

    async def reset(self) -> None:
        """Back to the image's first state: fresh writable layer, no process left, and every view used so far stale.

        Waits for a reset that runs already.
        """
        ...

    async def healthy(self) -> bool:
        """Whether the guest answers in time."""
        ...

    async def dial(self, port: int) -> socket.socket:
        """A connection to a port of the machine's own loopback, not blocking.

        Raises ConnectionRefusedError when nothing listens there, another OSError when the machine has ended.
        """
        ...

    async def usage(self) -> Usage:
        """What it costs now."""
        ...

    async def destroy(self) -> None:
        """End every process and remove the writable layer. Idempotent."""
        ...


class Host(Protocol):
    """A place that can make sandboxes."""

    images: tuple[str, ...]

    async def create(self, image: str) -> Sandbox:
        """A started sandbox whose guest answers. Raises NoMachine when it cannot be made."""
        ...

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        """Those of the named sandboxes that an earlier bridge left running, with everything in them; whatever else
        it left is ended. Called once, before anything is created."""
        ...

    async def close(self) -> None:
        """Destroy everything this host made."""
        ...
