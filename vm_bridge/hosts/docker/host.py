"""Desktops in containers on this machine, made by Docker or another engine with its interface."""

import asyncio
import logging
from collections.abc import Collection, Mapping, Set
from contextlib import suppress
from pathlib import Path

from protocol.harbor.dockerfile import CONTAINER_IMAGE
from protocol.harbor.task_folders import HARBOR
from vm_bridge.errors import MachineGone
from vm_bridge.hosts.docker.container import PREFIX, SYSTEM_IMAGE, DockerSandboxFactory
from vm_bridge.hosts.docker.engine import ContainerEngine
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.process_sandbox import PreparedImage
from vm_bridge.hosts.runtime_folder import RuntimeFolder
from vm_bridge.images.manifest import ImageManifest
from vm_bridge.images.tools import INSTALLED_FOLDER
from vm_bridge.network.egress_proxy import EgressProxy
from vm_bridge.network.sandbox_network import EgressFactory
from vm_bridge.sandbox import Sandbox
from vm_bridge.suites import Suite
from vm_bridge.suites.harbor_container import ContainerHarborSuite

logger = logging.getLogger(__name__)
TASK_SUITES: Mapping[str, Suite] = {HARBOR: ContainerHarborSuite()}
TASK_LIMITS = ImageManifest(platform="terminal")
"""What the container of a task may take."""


class DockerHost(LocalHost):
    """A local host that isolates with a container engine; `system` is the engine's image that desktops see."""

    def __init__(
        self,
        data: Path,
        suites: Mapping[str, Suite] | None = None,
        *,
        tools: Path = INSTALLED_FOLDER,
        make_egress: EgressFactory = EgressProxy,
        system: str = SYSTEM_IMAGE,
        network: str = "",
    ) -> None:
        """`network` is the engine's network of builds, and of tasks that want one; none where it is empty."""
        self._engine = ContainerEngine()
        self._strays_left = False
        sandboxes = DockerSandboxFactory(self._engine, system, network)
        super().__init__(data, suites, tools=tools, make_egress=make_egress, sandboxes=sandboxes)

    async def create(self, image: str) -> Sandbox:
        if self._strays_left:
            await self._end_strays()
        return await super().create(image)

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        adopted = await super().adopt(ids)  # which needs no engine
        await self._end_strays()
        return adopted

    async def close(self) -> None:
        """Destroy everything this host made, images of tasks too."""
        folder = None if self._open is None else str(self._open.runtime.path)
        try:
            await super().close()
        finally:
            if folder is not None:
                with suppress(MachineGone):
                    await asyncio.to_thread(_remove_left, self._engine, folder, frozenset())

    def _suites_of(self, image: str) -> Mapping[str, Suite]:
        return TASK_SUITES if image == CONTAINER_IMAGE else super()._suites_of(image)

    def _prepare(self, runtime: RuntimeFolder, name: str) -> PreparedImage:
        if name != CONTAINER_IMAGE:
            return super()._prepare(runtime, name)
        return PreparedImage(name, runtime.path, TASK_LIMITS, home="", tools=None, services=())

    async def _end_strays(self) -> None:
        """End the containers of this host of which no folder tells: the temporary folder was emptied meanwhile, or
        only the engine could end them; and remove the images that an earlier host built for tasks. Where the engine
        does not answer it is asked again before the next machine is made."""
        folder = (await self._opened()).runtime.path
        try:
            # Folders are created before their containers.
            kept = frozenset(PREFIX + path.name for path in (folder / "trees").iterdir())
            await asyncio.to_thread(_remove_left, self._engine, str(folder), kept)
        except MachineGone as gone:
            logger.warning("unused containers may be left: %s", gone)
            self._strays_left = True
        else:
            self._strays_left = False


def _remove_left(engine: ContainerEngine, owner: str, kept: Set[str]) -> None:
    """End every container of a host but some, and remove its images that none of them needs. Raises MachineGone."""
    for name in engine.names(owner):
        if name not in kept:
            engine.remove(name)
    for image in engine.images(owner):
        engine.remove_image(image)
