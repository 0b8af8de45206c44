"""Desktops on this machine: each in namespaces of its own, as an unprivileged user, all of it in memory."""

import asyncio
import logging
import secrets
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from vm_bridge.errors import ApplicationMissing, BridgeError, NoMachine
from vm_bridge.hosts.lifecycle import destroy_on_failure
from vm_bridge.hosts.local.application_sandbox import ApplicationSandbox
from vm_bridge.hosts.local.prestarted_sandboxes import PrestartedSandboxes
from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.hosts.osworld.evaluator import remove_stale_folders
from vm_bridge.hosts.osworld.evaluator_settings import DEFAULT_SETTINGS, EvaluatorSettings
from vm_bridge.hosts.persisted_state import read_state
from vm_bridge.hosts.process_sandbox import BubblewrapSandboxFactory, PreparedImage, ProcessSandboxFactory
from vm_bridge.hosts.runtime_folder import RuntimeFolder
from vm_bridge.images.build import IMAGES, list_images, prepare_image
from vm_bridge.images.manifest import missing_applications, read_manifest
from vm_bridge.images.tools import INSTALLED_FOLDER, prepare_tools
from vm_bridge.isolation.cgroups import remove_empty_groups
from vm_bridge.network.egress_proxy import EgressProxy
from vm_bridge.network.sandbox_network import EgressFactory, SandboxNetwork
from vm_bridge.sandbox import Sandbox
from vm_bridge.suites import Suite

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _HostState:
    """What a host holds while it is in use."""

    runtime: RuntimeFolder
    prestarted: PrestartedSandboxes


class LocalHost:
    """Makes desktops on this machine. `data` keeps prepared images, `tools` what all of them share, and images that
    were prepared ahead; sandboxes themselves store nothing on disk."""

    sandbox_type: ClassVar[type[LocalSandbox]] = LocalSandbox

    def __init__(
        self,
        data: Path,
        suites: Mapping[str, Suite] | None = None,
        *,
        tools: Path = INSTALLED_FOLDER,
        make_egress: EgressFactory = EgressProxy,
        sandboxes: ProcessSandboxFactory | None = None,
        evaluator: EvaluatorSettings = DEFAULT_SETTINGS,
    ) -> None:
        """`sandboxes` says what walls there are, by default those of bubblewrap; `evaluator` what there is for task
        files of OSWorld."""
        self._evaluator = evaluator
        self._sandbox_factory: ProcessSandboxFactory = sandboxes or BubblewrapSandboxFactory()
        self.images = tuple(self._sandbox_factory.images)
        for missing in filter(None, map(explain_missing_applications, list_images())):
            logger.info("%s (%s)", missing, ApplicationMissing.code)
        self._data = data
        self._tools = tools
        self._make_egress = make_egress
        self._suites = suites or {}
        self._made: list[LocalSandbox] = []
        self._preparing = asyncio.Lock()
        self._open: _HostState | None = None
        self._ready: dict[str, PreparedImage] = {}
        self._said = False

    async def create(self, image: str) -> Sandbox:
        prepared = await self._image(image)
        name = f"{image}-{secrets.token_hex(4)}"
        sandbox = self._sandbox(name, prepared)
        async with destroy_on_failure(sandbox):
            await sandbox.start()
        self._say_what_is_unbounded(sandbox)
        return sandbox

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        opened = await self._opened()
        await remove_stale_folders(opened.runtime.path)
        machines = sorted(opened.runtime.machines.iterdir())
        found = await asyncio.gather(*(self._adopted(opened, folder) for folder in machines if folder.name in ids))
        adopted = {sandbox.id: sandbox for sandbox in found if sandbox is not None}
        kept = {sandbox.tree.folder for sandbox in adopted.values()}
        ended = [folder for folder in opened.runtime.sandboxes.iterdir() if folder not in kept]
        await asyncio.gather(*(asyncio.to_thread(self._sandbox_factory.end, folder) for folder in ended))
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
                await opened.prestarted.close()
                opened.runtime.remove()

    async def _adopted(self, opened: _HostState, folder: Path) -> LocalSandbox | None:
        """None where it has ended, or cannot be gone on with."""
        try:
            kept = read_state(folder)
            # Before its image is prepared, which may take long: without a host it ends by itself.
            tree = await self._sandbox_factory.adopt(opened.runtime.sandboxes / kept.tree)
            try:
                sandbox = self._sandbox(folder.name, await self._image(kept.image))
            except BaseException:
                await tree.end()
                raise
            async with destroy_on_failure(sandbox):
                await sandbox.adopt(tree, kept.task)
        except (BridgeError, OSError) as error:
            logger.warning("%s could not be adopted: %s", folder.name, error)
            return None
        return sandbox

    def _sandbox(self, name: str, image: PreparedImage) -> LocalSandbox:
        assert self._open is not None
        self._made = [made for made in self._made if not made.destroyed]
        folder = self._open.runtime.machines / name
        folder.mkdir(mode=0o700, exist_ok=True)
        parts = name, image, folder, self._open.prestarted, self._suites_of(image.name)
        network = SandboxNetwork(name, self._make_egress)
        if image.manifest.osworld:
            sandbox: LocalSandbox = ApplicationSandbox(*parts, network, self._evaluator, self._open.runtime.path)
        else:
            sandbox = self.sandbox_type(*parts, network)
        self._made.append(sandbox)
        return sandbox

    def _suites_of(self, image: str) -> Mapping[str, Suite]:
        """The suites whose tasks machines of an image do."""
        return self._suites

    async def _image(self, name: str) -> PreparedImage:
        """Raises NoMachine, and ApplicationMissing where the image is made of what this host does not have."""
        if name not in self.images:
            if missing := explain_missing_applications(name):
                raise ApplicationMissing(missing)
            raise NoMachine(f"there is no image {name!r}; there are {', '.join(self.images)}")
        opened = await self._opened()
        async with self._preparing:
            if name not in self._ready:
                self._ready[name] = await asyncio.to_thread(self._prepare, opened.runtime, name)
        return self._ready[name]

    def _prepare(self, runtime: RuntimeFolder, name: str) -> PreparedImage:
        folder = runtime.image(prepare_image(self._sandbox_factory.images[name], self._data, self._tools))
        return PreparedImage.read(name, folder, lambda: runtime.tools(prepare_tools(self._tools)))

    async def _opened(self) -> _HostState:
        async with self._preparing:
            if self._open is None:
                await asyncio.to_thread(remove_empty_groups)
                runtime = await asyncio.to_thread(RuntimeFolder, self._data / self._sandbox_factory.apart)
                self._open = _HostState(runtime, PrestartedSandboxes(runtime.sandboxes, self._sandbox_factory))
                self._ready.clear()
            return self._open

    def _say_what_is_unbounded(self, sandbox: LocalSandbox) -> None:
        """Once, because every sandbox here is alike."""
        missing = sandbox.tree.groups.missing
        if missing and not self._said:
            logger.warning("no control groups for %s: sandboxes have no limits for these", ", ".join(missing))
        self._said = True


def explain_missing_applications(image: str) -> str:
    """What an image needs that this host does not have, and how to get it; empty where there is nothing."""
    missing = missing_applications(read_manifest(IMAGES / image)) if image in list_images() else ()
    names, packages = ", ".join(each.name for each in missing), " ".join(each.package for each in missing)
    return f"the image {image} needs {names}: apt-get install {packages}" if missing else ""
