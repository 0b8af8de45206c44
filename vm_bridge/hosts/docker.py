"""Desktops in containers on this machine, made by Docker or another engine with its interface."""

import asyncio
import logging
from collections.abc import Collection, Mapping
from pathlib import Path

from vm_bridge.errors import MachineGone
from vm_bridge.hosts.docker_engine import Engine
from vm_bridge.hosts.docker_tree import PREFIX, SYSTEM, DockerTrees
from vm_bridge.hosts.local import LocalHost
from vm_bridge.images.tools import INSTALLED
from vm_bridge.network.egress import Egress
from vm_bridge.network.gate import MakeEgress
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
        tools: Path = INSTALLED,
        make_egress: MakeEgress = Egress,
        system: str = SYSTEM,
    ) -> None:
        self._engine = Engine()
        trees = DockerTrees(self._engine, system)
        super().__init__(data, suites, tools=tools, make_egress=make_egress, trees=trees)

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        try:
            adopted = await super().adopt(ids)
            await self._end_strays()
        except MachineGone as gone:
            # Other hosts of this bridge go on; whoever wants a container is told the same.
            logger.warning("no machines in containers: %s", gone)
            return []
        return adopted

    async def _end_strays(self) -> None:
        """End the containers of this host of which no folder tells: the temporary folder was emptied meanwhile."""
        folder = (await self._opened()).runtime.path
        kept = {PREFIX + path.name for path in (folder / "trees").iterdir()}
        for name in await asyncio.to_thread(self._engine.names, str(folder)):
            if name not in kept:
                await asyncio.to_thread(self._engine.remove, name)
