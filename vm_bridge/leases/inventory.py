"""A host's reports about its machines, and its jobs."""

import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

from redis.asyncio import Redis
from redis.exceptions import NoPermissionError, ResponseError

from vm_bridge.errors import NoMachine
from vm_bridge.fleet import HostWarning
from vm_bridge.leases.guard import KEY_PREFIX, RedisScripts
from vm_bridge.sandbox import Sandbox

logger = logging.getLogger(__name__)

MAX_JOBS_PER_POLL = 100
REDIS_OPERATOR = "default"
"""The Redis user with every right."""


class HostJob(NamedTuple):
    """A job for a host: `reset` or `drop` a machine whose lease ended, or create machines of an image that is in
    demand."""

    verb: Literal["reset", "drop", "want"]
    name: str


class LeaseRecord(NamedTuple):
    """The holder of a machine, and the lease's token."""

    token: int
    request: str
    holder: str
    user: str
    pool: str
    session: str


class MachineDescription(NamedTuple):
    """A machine in the lease store; `capabilities` are JSON."""

    id: str
    image: str
    vnc_socket: str
    capabilities: str


class MachineRecord(NamedTuple):
    """The lease store's record of a machine; `lease` is set while it is leased."""

    state: str
    lease: LeaseRecord | None


RECORD_FIELDS = len(MachineRecord._fields) + len(LeaseRecord._fields)
"""Of each machine in the answer of `states`: its name, its state and its lease."""


@dataclass(frozen=True, slots=True)
class HostInventory:
    """The machines of one host. Raises redis.RedisError when Redis cannot be reached."""

    redis: Redis
    scripts: RedisScripts
    host: str
    url: str
    """URL for the calls on its machines."""
    secret_shared: bool = False
    """Whether this host knows the secret that signs for all hosts."""

    async def register(self, *, images: tuple[str, ...], capacity: int) -> frozenset[str]:
        """Register this host. Returns the machines that it is known to have."""
        warnings = json.dumps(await self._warnings())
        return frozenset(
            await self.scripts.run("register", self.host, self.url, capacity, json.dumps(images), warnings)
        )

    async def _warnings(self) -> tuple[HostWarning, ...]:
        """Rights of this host beyond its own work."""
        try:
            redis_shared = await self.redis.acl_whoami() == REDIS_OPERATOR
        except NoPermissionError:  # a custom user of the operator
            redis_shared = False
        except ResponseError:  # Redis before 6.0 has no users
            redis_shared = True
        return (*(("redis_shared",) if redis_shared else ()), *(("secret_shared",) if self.secret_shared else ()))

    async def heartbeat(self) -> bool:
        """Report that this host is alive. Returns False if Redis has forgotten it."""
        return bool(await self.scripts.run("beat", self.host))

    async def deregister(self, reason: str) -> None:
        """This host ends with all its machines; their holders get the reason."""
        await self.scripts.run("quit", self.host, reason)

    async def work(self, timeout_seconds: float) -> tuple[HostJob, ...]:
        """What there is to do, waiting at most `timeout_seconds` for the first of it."""
        key = f"{KEY_PREFIX}work:{self.host}"
        first = await self.redis.blpop([key], timeout=timeout_seconds)
        if first is None:
            return ()
        more = await self.redis.lpop(key, MAX_JOBS_PER_POLL) or []
        return tuple(_parse_job(item) for item in cast("list[str]", [first[1], *more]))

    async def reserve_creation(self, image: str, name: str, *, urgent: bool) -> bool:
        """Whether another machine is wanted; with `urgent`, only if requests wait. Reserves its creation as `name`."""
        return bool(await self.scripts.run("begin", self.host, image, name, int(urgent)))

    async def report_creation_failure(self, image: str, name: str, error: NoMachine) -> None:
        """The creation reserved as `name` failed; the first waiting request gets the reason."""
        await self.scripts.run("fail", name, image, error.code, str(error))

    async def add_free_machine(self, sandbox: Sandbox, *, above: int, reservation: str = "") -> None:
        """Offer a free machine, with tokens higher than `above`."""
        await self.scripts.run(
            "shelve", self.host, sandbox.id, sandbox.image, reservation, above, *self._description(sandbox)
        )

    async def adopt(self, sandbox: Sandbox) -> str:
        """The state of a machine that outlived its bridge."""
        return cast(str, await self.scripts.run("adopt", sandbox.id, *self._description(sandbox)))

    async def withdraw_free_machine(self, machine_id: str) -> bool:
        """Withdraw a free machine from claims. Returns False if it was claimed before."""
        return bool(await self.scripts.run("take", machine_id))

    async def mark_lost(self, machine_id: str, reason: str) -> None:
        """A machine is lost; its holder gets the reason."""
        await self.scripts.run("lose", machine_id, reason)

    async def restore(self, leases: Iterable[tuple[MachineDescription, LeaseRecord]], *, ttl: float) -> frozenset[str]:
        """Put leases back that the ledger lost with all its data, for `ttl` seconds.

        Returns:
            The machines whose leases stand again. One does not where the ledger had ended it, or knows the machine.
        """
        restored = set()
        for machine, (token, *claim_request) in leases:
            described = (machine.id, machine.image, self.url, machine.vnc_socket, machine.capabilities)
            if await self.scripts.run("restore", self.host, *described, token, int(ttl * 1000), *claim_request):
                logger.warning("the lease of %s by %s was restored", machine.id, claim_request[1])
                restored.add(machine.id)
        return frozenset(restored)

    async def machine_records(self, *machine_ids: str) -> dict[str, MachineRecord] | None:
        """The machines this host is known to have, or those of them that are named; None when the host itself is not
        known."""
        flat = await self.scripts.run("states", self.host, *machine_ids)
        if flat is None:
            return None
        return {
            machine_id: MachineRecord(state, LeaseRecord(int(token), *claim_request) if token else None)
            for machine_id, state, token, *claim_request in zip(*[iter(flat)] * RECORD_FIELDS, strict=True)
        }

    async def in_use(self, machine_id: str) -> bool:
        """Whether a machine is free or leased."""
        return await self.redis.hget(f"{KEY_PREFIX}machine:{machine_id}", "state") in ("free", "leased")

    async def report_usage(self, machine_id: str, **facts: float) -> None:
        """What a machine costs and when it last acted."""
        flat = [part for fact in facts.items() for part in fact]
        await self.scripts.run("note", machine_id, *flat)

    async def report_host(self, **facts: str) -> None:
        """What the operator is to know of this host, by the names of `HostInfo`; lists as JSON, times in ms."""
        await self.scripts.run("tell", self.host, *(part for fact in facts.items() for part in fact))

    def _description(self, sandbox: Sandbox) -> tuple[str, str, str]:
        machine = describe_machine(sandbox)
        return self.url, machine.vnc_socket, machine.capabilities


def describe_machine(sandbox: Sandbox) -> MachineDescription:
    """The description of a machine for the lease store."""
    vnc_socket, capabilities = str(sandbox.vnc_socket or ""), sandbox.capabilities.model_dump_json()
    return MachineDescription(sandbox.id, sandbox.image, vnc_socket, capabilities)


def _parse_job(item: str) -> HostJob:
    verb, _, name = item.partition(" ")
    return HostJob(cast('Literal["reset", "drop", "want"]', verb), name)
