"""Desktops in pods of a Kubernetes cluster. A reset puts a new pod in the place of the old one."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from vm_bridge.guest.common.machine_io import tree_digest
from vm_bridge.hosts.kubernetes.pod_api import PodApi
from vm_bridge.hosts.kubernetes.pod_factory import PodFactory
from vm_bridge.hosts.kubernetes.pod_spec import PodSettings
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.hosts.process_sandbox import PreparedImage
from vm_bridge.hosts.runtime_folder import RuntimeFolder
from vm_bridge.images.build import prepare_image
from vm_bridge.images.manifest import read_manifest
from vm_bridge.images.tools import INSTALLED_FOLDER
from vm_bridge.network.egress_proxy import EgressProxy
from vm_bridge.network.sandbox_network import EgressFactory
from vm_bridge.sandbox import Sandbox
from vm_bridge.suites import Suite

MAX_START_SECONDS = 240.0


class PodSandbox(LocalSandbox):
    """A desktop whose present processes are those of one pod."""

    reset_seconds = MAX_START_SECONDS + 60.0


class KubernetesHost(LocalHost):
    """A local host whose sandboxes are pods: one for each machine, and one that is started ahead for the next reset."""

    sandbox_type = PodSandbox

    def __init__(
        self,
        data: Path,
        settings: PodSettings,
        suites: Mapping[str, Suite] | None = None,
        *,
        tools: Path = INSTALLED_FOLDER,
        make_egress: EgressFactory = EgressProxy,
        make_api: Callable[[PodSettings], PodApi] = PodApi,
    ) -> None:
        self._pods = PodFactory(settings, make_api)
        super().__init__(data, suites, tools=tools, make_egress=make_egress, sandboxes=self._pods)

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        adopted = await super().adopt(ids)  # which needs no API
        self._pods.sweep()
        return adopted

    async def close(self) -> None:
        try:
            await super().close()
        finally:
            await self._pods.close()

    def _prepare(self, runtime: RuntimeFolder, name: str) -> PreparedImage:
        """The image as the bridge knows it; pods have their own copy, without the tools."""
        folder = runtime.image(prepare_image(self._sandbox_factory.images[name], self._data, self._tools))
        return PreparedImage(name, folder, read_manifest(folder), tree_digest(folder / "home"), tools=None, services=())
