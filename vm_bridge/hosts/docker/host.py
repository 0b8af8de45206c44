"""Desktops in containers on this machine, made by Docker or another engine with its interface."""

import asyncio
import logging
from collections.abc import Collection, Mapping
from pathlib import Path

from vm_bridge.errors import MachineGone
from vm_bridge.hosts.docker.container import PREFIX, SYSTEM_IMAGE, DockerSandboxFactory
from vm_bridge.hosts.docker.engine import ContainerEngine
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.images.tools import INSTALLED_FOLDER
from vm_bridge.network.egress_proxy import EgressProxy
from vm_bridge.network.sandbox_network import EgressFactory
from vm_bridge.sandbox import Sandbox
from vm_bridge.suites import Suite

logger = logging.getLogger(__name__)


class DockerHost(LocalHost):
    """A local host whose walls an engine builds; `system` is the engine's image that desktops see."""

    def __init__(
        self,
        data: Path,
        suites: Mapping[str, Suite] | None = None,
        *,
        tools: Path = INSTALLED_FOLDER,
        make_egress: EgressFactory = EgressProxy,
        system: str = SYSTEM_IMAGE,
    ) -> None:
        self._engine = ContainerEngine()
        self._strays_left = False
        sandboxes = DockerSandboxFactory(self._engine, system)
        super().__init__(data, suites, tools=tools, make_egress=make_egress, sandboxes=sandboxes)

    async def create(self, image: str) -> Sandbox:
        if self._strays_left:
            await self._end_strays()
        return await super().create(image)

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        adopted = await super().adopt(ids)  # which needs no engine
        await self._end_strays()
        return adopted

    async def _end_strays(self) -> None:
        """End the containers of this host of which no folder tells: the temporary folder was emptied meanwhile, or
        only the engine could end them. Where it does not answer it is asked again before the next machine is made."""
        folder = (await self._opened()).runtime.path
        try:
            names = await asyncio.to_thread(self._engine.names, str(folder))
            # Who begins a container makes its folder first.
            kept = {PREFIX + path.name for path in (folder / "trees").iterdir()}
            for name in names:
                if name not in kept:
                    await asyncio.to_thread(self._engine.remove, name)
        except MachineGone as gone:
            logger.warning("containers that nobody uses may be left: %s", gone)
            self._strays_left = True
        else:
            self._strays_left = False
