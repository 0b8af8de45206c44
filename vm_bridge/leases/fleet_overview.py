"""An operator's view of the whole fleet, and its settings."""

import itertools
import json
from collections.abc import Iterable
from typing import Any, cast

from redis.asyncio import Redis

from vm_bridge.fleet import HostInfo, ImageInfo, LostMachine, MachineInfo, MachineKind, QueueEntry, Quota
from vm_bridge.leases.guard import KEY_PREFIX, RedisScripts, parse_capabilities, parse_time

QUOTA_SCOPES = ("user", "pool")
MAX_LOST_MACHINES = 200


class FleetOverview:
    """Raises redis.RedisError when Redis cannot be reached. What is read of many keys is no single moment's."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._scripts = RedisScripts(redis)

    async def machines(self, *, session: str | None = None) -> tuple[MachineInfo, ...]:
        """Every machine, or those a session holds."""
        if session is not None:
            ids = sorted(await self._members(f"session:{session}"))
        else:
            ids = sorted(
                [name for host in await self._host_names() for name in await self._members(f"machines:{host}")]
            )
        if not ids:
            return ()
        async with self._redis.pipeline(transaction=False) as pipe:
            for machine_id in ids:
                pipe.hgetall(f"{KEY_PREFIX}machine:{machine_id}")
            pipe.hmget(f"{KEY_PREFIX}tokens", ids)
            pipe.zmscore(f"{KEY_PREFIX}leases", ids)
            *known, tokens, ends = await pipe.execute()
        rows = zip(ids, known, tokens, ends, strict=True)
        return tuple(_machine_info(*row) for row in rows if row[1])

    async def hosts(self) -> tuple[HostInfo, ...]:
        """Every host that has been heard of lately."""
        seen = await self._redis.zrange(f"{KEY_PREFIX}hosts", 0, -1, withscores=True)
        found = []
        for name, at in cast("list[tuple[str, float]]", seen):
            known = cast("dict[str, str]", await self._redis.hgetall(f"{KEY_PREFIX}host:{name}"))
            if known:
                found.append(_host_info(name, at, known, await self._redis.scard(f"{KEY_PREFIX}machines:{name}")))
        return tuple(found)

    async def images(self) -> tuple[ImageInfo, ...]:
        """Every image some host has."""
        targets = cast("dict[str, str]", await self._redis.hgetall(f"{KEY_PREFIX}warm"))
        found = []
        for name in await self._image_names():
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.zcard(f"{KEY_PREFIX}free:{name}")
                pipe.scard(f"{KEY_PREFIX}coming:{name}")
                pipe.zcard(f"{KEY_PREFIX}queue:{name}")
                free, coming, waiting = await pipe.execute()
            target = int(targets.get(name, 0))
            found.append(ImageInfo(name=name, target=target, free=free, coming=coming, waiting=waiting))
        return tuple(found)

    async def queue(self) -> tuple[QueueEntry, ...]:
        """Every waiting request, by image, in the order in which they are served."""
        found = []
        for image in await self._image_names():
            members = cast("list[str]", await self._redis.zrange(f"{KEY_PREFIX}queue:{image}", 0, -1))
            requests = [member.partition(" ")[2] for member in members]
            async with self._redis.pipeline(transaction=False) as pipe:
                for request in requests:
                    pipe.hgetall(f"{KEY_PREFIX}waiter:{request}")
                known = await pipe.execute()
            rows = enumerate(zip(requests, known, strict=True), start=1)
            found += [_queue_entry(position, request, fields) for position, (request, fields) in rows if fields]
        return tuple(found)

    async def losses(self) -> tuple[LostMachine, ...]:
        """The last machines that ended under their leases, the newest first."""
        found = cast("list[str]", await self._redis.lrange(f"{KEY_PREFIX}lost", 0, MAX_LOST_MACHINES - 1))
        return tuple(LostMachine(**{**loss, "at": parse_time(loss["at"])}) for loss in map(json.loads, found))

    async def quotas(self) -> tuple[Quota, ...]:
        """Every limit, and how many machines each user and pool holds that has one."""
        found = []
        for scope in QUOTA_SCOPES:
            limits = cast("dict[str, str]", await self._redis.hgetall(f"{KEY_PREFIX}quota:{scope}"))
            held = cast("dict[str, str]", await self._redis.hgetall(f"{KEY_PREFIX}held:{scope}"))
            found += [
                Quota(scope=scope, name=name, limit=int(limit), held=int(held.get(name, 0)))
                for name, limit in sorted(limits.items())
            ]
        return tuple(found)

    async def set_quota(self, quota: Quota) -> None:
        """Set or lift a limit; machines held beyond it stay with their holders."""
        await self._scripts.run("quota", quota.scope, quota.name, "" if quota.limit is None else quota.limit)

    async def configure_quotas(self, quotas: Iterable[Quota]) -> None:
        """Set the limits an operator wrote down, unless they are those of the last time: changes since then stay."""
        written = [quota.model_dump(mode="json", include={"scope", "name", "limit"}) for quota in quotas]
        text = json.dumps(written)
        if await self._redis.set(f"{KEY_PREFIX}configured", text, get=True) == text:
            return
        for quota in map(Quota.model_validate, written):
            await self.set_quota(quota)

    async def set_warm_target(self, image: str, count: int, *, at_least: bool) -> None:
        """How many machines of an image are kept ready; with `at_least` a higher target stays."""
        await self._scripts.run("warm", image, count, int(at_least))

    async def set_draining(self, host: str, draining: bool) -> bool:
        """Empty a host, or let it be filled again; False when there is no such host."""
        return bool(await self._scripts.run("drain", host, int(draining)))

    async def mark_hosts_lost(self, lost: Iterable[tuple[str, str]]) -> None:
        """End hosts, given as id and reason for their machines' holders, atomically.

        A holder notified about one host cannot get a machine of another in the same call.
        """
        await self._scripts.run("quit", *itertools.chain.from_iterable(lost))

    async def _host_names(self) -> list[str]:
        return cast("list[str]", await self._redis.zrange(f"{KEY_PREFIX}hosts", 0, -1))

    async def _image_names(self) -> list[str]:
        return sorted({image for host in await self.hosts() for image in host.images})

    async def _members(self, key: str) -> set[str]:
        return cast("set[str]", await self._redis.smembers(KEY_PREFIX + key))


def _machine_info(machine_id: str, known: dict[str, str], token: str | None, ends: float | None) -> MachineInfo:
    names = ("url", "last_act", "cpu_seconds", "cpu_share", "memory_bytes")
    url, acted, cpu, share, memory = (known.get(name) for name in names)
    return MachineInfo(
        id=machine_id,
        kind=_machine_kind(known.get("capabilities", "")),
        image=known["image"],
        host=known["host"],
        state=cast(Any, known["state"]),
        since=parse_time(known["since"]),
        **{name: known.get(name) or None for name in ("holder", "user", "pool", "session")},
        fencing_token=int(token) if token else None,
        expires_at=parse_time(ends) if ends else None,
        last_act=parse_time(float(acted) * 1000) if acted else None,
        cpu_seconds=float(cpu) if cpu else None,
        cpu_share=float(share) if share else None,
        memory_bytes=int(float(memory)) if memory else None,
        thumbnail=f"{url.rstrip('/')}/v1/machines/{machine_id}/thumbnail" if url else None,
    )


def _machine_kind(capabilities: str) -> MachineKind | None:
    if not capabilities:
        return None  # it is being created
    known = parse_capabilities(capabilities)
    if known.width == 0:
        return "terminal"
    if "press_home" in known.kinds:
        return "phone"
    return "browser" if "switch_page" in known.kinds else "desktop"


def _host_info(name: str, seen: float, known: dict[str, str], machines: int) -> HostInfo:
    return HostInfo(
        id=name,
        url=known["url"],
        images=tuple(json.loads(known["images"])),
        capacity=int(known["capacity"]),
        machines=machines,
        draining=known["draining"] == "1",
        last_seen=parse_time(seen),
        unbounded=tuple(json.loads(known["unbounded"])) if "unbounded" in known else None,
        browser_built=parse_time(float(known["browser_built"])) if known.get("browser_built") else None,
        warnings=tuple(json.loads(known.get("warnings", "[]"))),
    )


def _queue_entry(position: int, request: str, known: dict[str, str]) -> QueueEntry:
    return QueueEntry(
        request_id=request,
        position=position,
        since=parse_time(known["since"]),
        **{name: known[name] for name in ("image", "holder", "user", "pool", "session")},
    )
