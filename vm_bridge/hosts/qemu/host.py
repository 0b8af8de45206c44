"""Desktops in QEMU virtual machines: each has its own kernel, and a reset loads a saved state."""

import asyncio
import logging
import secrets
from collections.abc import Collection, Mapping
from pathlib import Path

from vm_bridge.errors import BridgeError, NoMachine
from vm_bridge.hosts.lifecycle import destroy_on_failure
from vm_bridge.hosts.persisted_state import read_state
from vm_bridge.hosts.qemu.sandbox import QemuSandbox
from vm_bridge.hosts.qemu.states import IMAGE as INSIDE
from vm_bridge.hosts.qemu.states import PreparedMachine, prepare_states
from vm_bridge.hosts.qemu.virtual_machine import PACKAGES, end_machine, is_qemu_installed
from vm_bridge.hosts.runtime_folder import RuntimeFolder
from vm_bridge.images.build import IMAGES
from vm_bridge.images.manifest import read_manifest
from vm_bridge.network.egress_proxy import EgressProxy
from vm_bridge.network.sandbox_network import EgressFactory, SandboxNetwork
from vm_bridge.sandbox import Sandbox
from vm_bridge.suites import Suite
from vm_bridge.virtual.base_image import DEFAULT_DISKS_FOLDER

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
        disks: Path = DEFAULT_DISKS_FOLDER,
        memory: int = MEMORY_MIB,
        make_egress: EgressFactory = EgressProxy,
    ) -> None:
        self._data, self._disks, self._memory = data, disks, memory
        self._suites = suites or {}
        self._manifest = read_manifest(IMAGES / INSIDE)
        self._make_egress = make_egress
        self._made: list[QemuSandbox] = []
        self._preparing = asyncio.Lock()
        self._ready: PreparedMachine | None = None
        self._opening = asyncio.Lock()
        self._runtime: RuntimeFolder | None = None

    async def create(self, image: str) -> Sandbox:
        if image not in self.images:
            raise NoMachine(f"there is no image {image!r}; there are {', '.join(self.images)}")
        ready = await self.prepared()
        folder = (await self._opened()).sandboxes / f"{image}-{secrets.token_hex(4)}"
        folder.mkdir(mode=0o700)
        sandbox = self._sandbox(folder, image)
        async with destroy_on_failure(sandbox):
            await sandbox.begin(ready)
        return sandbox

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        left = sorted((await self._opened()).sandboxes.iterdir())
        adopted = await asyncio.gather(*(self._adopted(folder) for folder in left if folder.name in ids))
        going = {sandbox.id: sandbox for sandbox in adopted if sandbox is not None}
        await asyncio.gather(*(asyncio.to_thread(end_machine, folder) for folder in left if folder.name not in going))
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
            sandbox = self._sandbox(folder, read_state(folder).image)
            async with destroy_on_failure(sandbox):
                await sandbox.adopt()
        except BridgeError as gone:
            logger.warning("%s could not be adopted: %s", folder.name, gone)
            return None
        return sandbox

    def _sandbox(self, folder: Path, image: str) -> QemuSandbox:
        gate = SandboxNetwork(folder.name, self._make_egress)
        sandbox = QemuSandbox(folder.name, image, self._manifest, folder, self._suites, gate)
        self._made = [*(made for made in self._made if not made.destroyed), sandbox]
        return sandbox

    async def _opened(self) -> RuntimeFolder:
        async with self._opening:
            if self._runtime is None:
                self._runtime = await asyncio.to_thread(RuntimeFolder, self._data / "virtual")
            return self._runtime

    async def prepared(self) -> PreparedMachine:
        """The states its machines start from, made once. Raises NoMachine."""
        async with self._preparing:
            if not is_qemu_installed():
                raise NoMachine(f"QEMU is not installed; install {PACKAGES}")
            if self._ready is None:
                self._ready = await prepare_states(self._data, self._disks, self._memory)
            return self._ready
