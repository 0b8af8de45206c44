"""Trees that stand ready, each with a guest that waits and no desktop: half of a start done before it is asked for."""

import asyncio
import secrets
from contextlib import suppress
from pathlib import Path

from vm_bridge.errors import MachineGone
from vm_bridge.hosts.process_sandbox import PreparedImage, ProcessSandbox, ProcessSandboxFactory


class PrestartedSandboxes:
    """Keeps one tree of each image ready from its first use on; `folder` is where trees are made."""

    def __init__(self, folder: Path, sandboxes: ProcessSandboxFactory) -> None:
        self.folder, self.sandboxes = folder, sandboxes
        self._coming: dict[str, asyncio.Task[ProcessSandbox]] = {}

    async def take(self, image: PreparedImage, *, for_task: bool) -> ProcessSandbox:
        """A tree of this image without a desktop. Raises MachineGone when none can be started.

        One with programs of its own takes seconds until it is ready. It is kept for a task, which somebody waits for: a
        machine that is put back after its lease would take it just before the next claim.
        """
        keep = image.manifest.start and not for_task
        coming = None if keep else self._coming.pop(image.name, None)
        if coming is not None:
            tree = await self._arrived(coming)
            if tree is not None:
                return tree
        return await self._spawn(image)

    def refill(self, image: PreparedImage) -> None:
        """Begin to make the next one; called when nobody waits."""
        if image.name not in self._coming:
            self._coming[image.name] = asyncio.create_task(self._spawn(image))

    async def close(self) -> None:
        """End those that nobody took."""
        for coming in [self._coming.pop(name) for name in tuple(self._coming)]:
            tree = await self._arrived(coming)
            if tree is not None:
                await tree.end()

    async def _arrived(self, coming: "asyncio.Task[ProcessSandbox]") -> ProcessSandbox | None:
        """A tree that was made in advance, unless it failed or died since."""
        with suppress(MachineGone):
            tree = await coming
            if not tree.link.gone:
                return tree
            await tree.end()
        return None

    async def _spawn(self, image: PreparedImage) -> ProcessSandbox:
        return await self.sandboxes.spawn(image, self.folder / f"{image.name}-{secrets.token_hex(4)}")
