"""Client for operators: machines, hosts, queue, losses, warm targets and quotas."""

from urllib.parse import quote

from pydantic import TypeAdapter

from vm_bridge.api.request_sender import RequestSender
from vm_bridge.api.wire import DrainRequest, ReclaimRequest, WarmTarget
from vm_bridge.errors import MachineGone
from vm_bridge.fleet import HostInfo, ImageInfo, LostMachine, MachineInfo, QueueEntry, Quota

MACHINES = TypeAdapter(tuple[MachineInfo, ...])
HOSTS = TypeAdapter(tuple[HostInfo, ...])
IMAGES = TypeAdapter(tuple[ImageInfo, ...])
QUEUE_ENTRIES = TypeAdapter(tuple[QueueEntry, ...])
LOST_MACHINES = TypeAdapter(tuple[LostMachine, ...])
QUOTAS = TypeAdapter(tuple[Quota, ...])


class FleetClient:
    """Every method raises the `BridgeError` that the bridge returned, or BridgeUnavailable."""

    def __init__(self, caller: RequestSender, base_url: str) -> None:
        self._caller = caller
        self._base_url = base_url

    async def machines(self) -> tuple[MachineInfo, ...]:
        """Every machine with its state, holder and cost."""
        return MACHINES.validate_json(await self._get("machines"))

    async def machines_of(self, session: str) -> tuple[MachineInfo, ...]:
        """The machines that an episode or rollout holds."""
        return MACHINES.validate_json(await self._get(f"machines?session={quote(session, safe='')}"))

    async def hosts(self) -> tuple[HostInfo, ...]:
        """The machine hosts."""
        return HOSTS.validate_json(await self._get("hosts"))

    async def images(self) -> tuple[ImageInfo, ...]:
        """The images hosts have, and how many machines of each are ready."""
        return IMAGES.validate_json(await self._get("images"))

    async def queue(self) -> tuple[QueueEntry, ...]:
        """Requests that wait for machines, in the order in which they are served."""
        return QUEUE_ENTRIES.validate_json(await self._get("queue"))

    async def losses(self) -> tuple[LostMachine, ...]:
        """The last machines that ended under their leases, the newest first."""
        return LOST_MACHINES.validate_json(await self._get("losses"))

    async def quotas(self) -> tuple[Quota, ...]:
        """How many machines users and pools may hold at once."""
        return QUOTAS.validate_json(await self._get("quotas"))

    async def set_quota(self, quota: Quota) -> None:
        """Set or lift a limit."""
        await self._caller.call("PUT", f"{self._base_url}/quotas", quota)

    async def set_warm_target(self, *, image: str, count: int) -> None:
        """Keep `count` machines of an image ready, even if that is fewer than before."""
        await self._caller.call("PUT", f"{self._base_url}/images/{image}/warm", WarmTarget(count=count))

    async def set_draining(self, host: str, *, draining: bool) -> None:
        """Drain a host as its leases end, or stop draining. Raises UnknownHost."""
        await self._caller.call("PUT", f"{self._base_url}/hosts/{host}/draining", DrainRequest(draining=draining))

    async def reclaim(self, machine_id: str, *, reason: str) -> None:
        """Take a machine from its holder, who gets the reason. Raises StaleLease if the machine has no holder."""
        await self._caller.call(
            "POST", f"{self._base_url}/machines/{machine_id}/reclaim", ReclaimRequest(reason=reason)
        )

    async def thumbnail(self, machine: MachineInfo) -> bytes:
        """A small JPEG of a machine's screen. Raises MachineGone if it has none any more."""
        if machine.thumbnail is None:
            raise MachineGone(f"{machine.id} shows nothing")
        host_url = machine.thumbnail.partition("/v1/machines/")[0]
        headers = self._caller.host_headers(machine.host, host_url)
        return await self._caller.call("GET", machine.thumbnail, headers=headers)

    async def _get(self, name: str) -> bytes:
        return await self._caller.call("GET", f"{self._base_url}/{name}")
