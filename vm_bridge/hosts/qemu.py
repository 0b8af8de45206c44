"""Desktops in virtual machines of QEMU: another kernel for each, put back to a state instead of started anew."""

import asyncio
import logging
import secrets
from collections.abc import Collection, Mapping
from pathlib import Path

from vm_bridge.errors import BridgeError, NoMachine
from vm_bridge.hosts.attempt import attempt
from vm_bridge.hosts.kept import kept_read
from vm_bridge.hosts.qemu_process import PACKAGES, machine_end, qemu_installed
from vm_bridge.hosts.qemu_sandbox import QemuSandbox
from vm_bridge.hosts.qemu_states import IMAGE as INSIDE
from vm_bridge.hosts.qemu_states import Ready, states_prepare
from vm_bridge.hosts.runtime import RuntimeFolder
from vm_bridge.images.build import IMAGES
from vm_bridge.images.manifest import manifest_read
from vm_bridge.network.egress import Egress
from vm_bridge.network.gate import Gate, MakeEgress
from vm_bridge.sandbox import Sandbox
from vm_bridge.suites import Suite
from vm_bridge.virtual.base import INSTALLED

logger = logging.getLogger(__name__)

IMAGE = "desktop-vm"
MEMORY_MIB = 1024


class QemuHost:
    """`disks` keeps what all hosts of this machine boot from, and the states after the first boot."""

    images: tuple[str, ...] = (IMAGE,)

    def __init__(
        self,
        data: Path,
        suites: Mapping[str, Suite] | None = None,
        *,
        disks: Path = INSTALLED,
        memory: int = MEMORY_MIB,
        make_egress: MakeEgress = Egress,
    ) -> None:
        self._data, self._disks, self._memory = data, disks, memory
        self._suites = suites or {}
        self._manifest = manifest_read(IMAGES / INSIDE)
        self._make_egress = make_egress
        self._made: list[QemuSandbox] = []
        self._preparing = asyncio.Lock()
        self._ready: Ready | None = None
        self._opening = asyncio.Lock()
        self._runtime: RuntimeFolder | None = None

    async def create(self, image: str) -> Sandbox:
        if image not in self.images:
            raise NoMachine(f"there is no image {image!r}; there are {', '.join(self.images)}")
        ready = await self.prepared()
        folder = (await self._opened()).trees / f"{image}-{secrets.token_hex(4)}"
        folder.mkdir(mode=0o700)
        sandbox = self._sandbox(folder, image)
        async with attempt(sandbox):
            await sandbox.begin(ready)
        return sandbox

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        left = sorted((await self._opened()).trees.iterdir())
        adopted = await asyncio.gather(*(self._adopted(folder) for folder in left if folder.name in ids))
        going = {sandbox.id: sandbox for sandbox in adopted if sandbox is not None}
        await asyncio.gather(*(asyncio.to_thread(machine_end, folder) for folder in left if folder.name not in going))
        return list(going.values())

    async def close(self) -> None:
        await asyncio.gather(*(sandbox.destroy() for sandbox in self._made))
        self._made.clear()
        runtime, self._runtime = self._runtime, None
        if runtime is not None:
            runtime.remove()

    async def _adopted(self, folder: Path) -> Sandbox | None:
        """None where it has ended, or cannot be gone on with. Nothing is made for it: while a first machine boots those
        that are left would end by themselves."""
        try:
            sandbox = self._sandbox(folder, kept_read(folder).image)
            async with attempt(sandbox):
                await sandbox.adopt()
        except BridgeError as gone:
            logger.warning("%s could not be adopted: %s", folder.name, gone)
            return None
        return sandbox

    def _sandbox(self, folder: Path, image: str) -> QemuSandbox:
        gate = Gate(folder.name, self._make_egress)
        sandbox = QemuSandbox(folder.name, image, self._manifest, folder, self._suites, gate)
        self._made = [*(made for made in self._made if not made.destroyed), sandbox]
        return sandbox

    async def _opened(self) -> RuntimeFolder:
        async with self._opening:
            if self._runtime is None:
                self._runtime = await asyncio.to_thread(RuntimeFolder, self._data / "virtual")
            return self._runtime

    async def prepared(self) -> Ready:
        """The states its machines start from, made once. Raises NoMachine."""
        async with self._preparing:
            if not qemu_installed():
                raise NoMachine(f"QEMU is not installed; install {PACKAGES}")
            if self._ready is None:
                self._ready = await states_prepare(self._data, self._disks, self._memory)
            return self._ready
