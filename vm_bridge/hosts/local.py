"""Desktops on this machine: each in namespaces of its own, as an unprivileged user, all of it in memory."""

import asyncio
import logging
import secrets
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from vm_bridge.errors import BridgeError, NoMachine
from vm_bridge.hosts.attempt import attempt
from vm_bridge.hosts.kept import kept_read
from vm_bridge.hosts.limits import groups_sweep
from vm_bridge.hosts.localsandbox import LocalSandbox
from vm_bridge.hosts.nursery import Nursery
from vm_bridge.hosts.runtime import RuntimeFolder
from vm_bridge.hosts.tree import Image, LocalTrees, Trees
from vm_bridge.images.build import image_prepare
from vm_bridge.images.tools import INSTALLED, tools_prepare
from vm_bridge.network.egress import Egress
from vm_bridge.network.gate import Gate, MakeEgress
from vm_bridge.sandbox import Sandbox
from vm_bridge.suites import Suite

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Open:
    """What a host holds while it is in use."""

    runtime: RuntimeFolder
    nursery: Nursery


class LocalHost:
    """Makes desktops on this machine. `data` keeps prepared images, `tools` what all of them share, and images that
    were prepared ahead; sandboxes themselves store nothing on disk."""

    def __init__(
        self,
        data: Path,
        suites: Mapping[str, Suite] | None = None,
        *,
        tools: Path = INSTALLED,
        make_egress: MakeEgress = Egress,
        trees: Trees | None = None,
    ) -> None:
        """`trees` says what walls there are, by default those of bubblewrap."""
        self._trees: Trees = trees or LocalTrees()
        self.images = tuple(self._trees.images)
        self._data = data
        self._tools = tools
        self._make_egress = make_egress
        self._suites = suites or {}
        self._made: list[LocalSandbox] = []
        self._preparing = asyncio.Lock()
        self._open: _Open | None = None
        self._ready: dict[str, Image] = {}
        self._said = False

    async def create(self, image: str) -> Sandbox:
        prepared = await self._image(image)
        name = f"{image}-{secrets.token_hex(4)}"
        sandbox = self._sandbox(name, prepared)
        async with attempt(sandbox):
            await sandbox.start()
        self._say_what_is_unbounded(sandbox)
        return sandbox

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        opened = await self._opened()
        machines = sorted(opened.runtime.machines.iterdir())
        found = await asyncio.gather(*(self._adopted(opened, folder) for folder in machines if folder.name in ids))
        adopted = {sandbox.id: sandbox for sandbox in found if sandbox is not None}
        kept = {sandbox.tree.folder for sandbox in adopted.values()}
        ended = [folder for folder in opened.runtime.trees.iterdir() if folder not in kept]
        await asyncio.gather(*(asyncio.to_thread(self._trees.end, folder) for folder in ended))
        for folder in machines:
            if folder.name not in adopted:
                shutil.rmtree(folder, ignore_errors=True)
        return list(adopted.values())

    async def close(self) -> None:
        try:
            await asyncio.gather(*(sandbox.destroy() for sandbox in self._made))
        finally:
            self._made.clear()
            opened, self._open = self._open, None
            if opened is not None:
                await opened.nursery.close()
                opened.runtime.remove()

    async def _adopted(self, opened: _Open, folder: Path) -> LocalSandbox | None:
        """None where it has ended, or cannot be gone on with."""
        try:
            kept = kept_read(folder)
            # Before its image is prepared, which may take long: without a host it ends by itself.
            tree = await self._trees.adopt(opened.runtime.trees / kept.tree)
            try:
                sandbox = self._sandbox(folder.name, await self._image(kept.image))
            except BaseException:
                await tree.end()
                raise
            async with attempt(sandbox):
                await sandbox.adopt(tree, kept.task)
        except (BridgeError, OSError) as error:
            logger.warning("%s could not be adopted: %s", folder.name, error)
            return None
        return sandbox

    def _sandbox(self, name: str, image: Image) -> LocalSandbox:
        assert self._open is not None
        self._made = [made for made in self._made if not made.destroyed]
        folder = self._open.runtime.machines / name
        folder.mkdir(mode=0o700, exist_ok=True)
        sandbox = LocalSandbox(name, image, folder, self._open.nursery, self._suites, Gate(name, self._make_egress))
        self._made.append(sandbox)
        return sandbox

    async def _image(self, name: str) -> Image:
        """Raises NoMachine."""
        if name not in self.images:
            raise NoMachine(f"there is no image {name!r}; there are {', '.join(self.images)}")
        opened = await self._opened()
        async with self._preparing:
            if name not in self._ready:
                self._ready[name] = await asyncio.to_thread(self._prepare, opened.runtime, name)
        return self._ready[name]

    def _prepare(self, runtime: RuntimeFolder, name: str) -> Image:
        folder = runtime.image(image_prepare(self._trees.images[name], self._data, self._tools))
        return Image.read(name, folder, lambda: runtime.tools(tools_prepare(self._tools)))

    async def _opened(self) -> _Open:
        async with self._preparing:
            if self._open is None:
                await asyncio.to_thread(groups_sweep)
                runtime = await asyncio.to_thread(RuntimeFolder, self._data / self._trees.apart)
                self._open = _Open(runtime, Nursery(runtime.trees, self._trees))
                self._ready.clear()
            return self._open

    def _say_what_is_unbounded(self, sandbox: LocalSandbox) -> None:
        """Once, because every sandbox here is alike."""
        missing = sandbox.tree.groups.missing
        if missing and not self._said:
            logger.warning("no control groups for %s: sandboxes are not bounded in these", ", ".join(missing))
        self._said = True
