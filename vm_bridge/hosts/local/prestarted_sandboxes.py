"""Sandboxes that are started before they are needed: each has a guest that waits and no desktop yet."""

import asyncio
import secrets
from contextlib import suppress
from pathlib import Path

from vm_bridge.errors import MachineGone, NoMachine
from vm_bridge.hosts.process_sandbox import GuestTree, PreparedImage, ProcessSandboxFactory


class PrestartedSandboxes:
    """Keeps one sandbox of each image ready from its first use on; `folder` is where they are made."""

    def __init__(self, folder: Path, sandboxes: ProcessSandboxFactory) -> None:
        self.folder, self.sandboxes = folder, sandboxes
        self._coming: dict[str, asyncio.Task[GuestTree]] = {}

    async def take(self, image: PreparedImage) -> GuestTree:
        """A sandbox of this image without a desktop. Raises MachineGone or NoMachine when none can be started."""
        coming = self._coming.pop(image.name, None)
        if coming is not None:
            tree = await self._arrived(coming)
            if tree is not None:
                return tree
        return await self._spawn(image)

    def refill(self, image: PreparedImage) -> None:
        """Start the next sandbox. Called while no request waits."""
        if image.name not in self._coming:
            self._coming[image.name] = asyncio.create_task(self._spawn(image))

    async def close(self) -> None:
        """End the unused sandboxes."""
        for coming in [self._coming.pop(name) for name in tuple(self._coming)]:
            tree = await self._arrived(coming)
            if tree is not None:
                await tree.end()

    async def _arrived(self, coming: "asyncio.Task[GuestTree]") -> GuestTree | None:
        """A tree that was made in advance, unless it failed or died since."""
        with suppress(MachineGone, NoMachine):
            tree = await coming
            if not tree.link.gone:
                return tree
            await tree.end()
        return None

    async def _spawn(self, image: PreparedImage) -> GuestTree:
        return await self.sandboxes.spawn(image, self.folder / f"{image.name}-{secrets.token_hex(4)}")
