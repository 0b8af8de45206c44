"""Assigns machines: claims, places in the queue, renewals and ends of leases."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple

from redis.asyncio import Redis

from vm_bridge.errors import CommandConflict
from vm_bridge.fleet import QueuePosition, RenewalResult
from vm_bridge.leases.guard import KEY_PREFIX, RedisScripts, parse_capabilities, parse_error, parse_time
from vm_bridge.machine import Lease

HOST_SILENT_SECONDS = 5.0
"""After this silence of a host, its idle machines are not leased (seconds)."""
HOST_LOST_SECONDS = 60.0
"""And after so much all its machines count as lost."""

NOTIFICATION_POLL_SECONDS = 1.0


class ClaimRequest(NamedTuple):
    """A wish for a machine. Asked again under the same `request` it is the same wish. `ttl` in seconds."""

    request: str
    image: str
    holder: str
    user: str = ""
    pool: str = ""
    session: str = ""
    ttl: float = 60.0


class LeaseStore:
    """Raises redis.RedisError when Redis cannot be reached."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._scripts = RedisScripts(redis)

    async def claim(self, claim_request: ClaimRequest) -> Lease | QueuePosition:
        """A machine under a token higher than every earlier one, or a place in the queue.

        Raises NoMachine when no host has such an image or could make one, StaleLease when the lease of this request
        has ended, CommandConflict when the request was for another image.
        """
        given = _parse_claim(await self._scripts.run("claim", *claim_request[:-1], int(claim_request.ttl * 1000)))
        if given.image != claim_request.image:
            raise CommandConflict(f"request {claim_request.request} was for {given.image} before")
        return given

    async def claim_status(self, request: str) -> Lease | QueuePosition:
        """Status of a request; a waiting request keeps its place. Raises the errors of `claim`, and UnknownClaim."""
        return _parse_claim(await self._scripts.run("look", request))

    async def mark_waiter_gone(self, request: str) -> None:
        """Who waited has gone; its place is kept for a moment."""
        await self._scripts.run("away", request)

    async def cancel(self, request: str) -> None:
        """Give up a request, whether it waits or has its machine. Idempotent."""
        await self._scripts.run("cancel", request)

    async def renew(self, leases: Sequence[tuple[str, int]], *, ttl: float) -> tuple[RenewalResult, ...]:
        """Put the ends of leases (machine, token) off to `ttl` seconds from now; what became of each."""
        text = " ".join([f"{machine_id} {token}" for machine_id, token in leases])
        end, *failed = await self._scripts.run("renew", int(ttl * 1000), text)
        failures: dict[int, str] = dict(zip(failed[::2], failed[1::2], strict=True))
        expires_at = parse_time(end)
        return tuple(
            RenewalResult(machine_id=machine_id, fencing_token=token, expires_at=expires_at)
            if place not in failures
            else _failed_renewal(machine_id, token, failures[place])
            for place, (machine_id, token) in enumerate(leases)
        )

    async def extend(self, machine_id: str, token: int, *, ttl: float) -> Lease:
        """Put the end of one lease off to `ttl` seconds from now.

        Raises:
            StaleLease, MachineGone: It has ended; the message says why.
        """
        given = _parse_claim(await self._scripts.run("extend", machine_id, token, int(ttl * 1000)))
        assert isinstance(given, Lease), "who holds a machine does not wait for it"
        return given

    async def decline(self, request: str, machine_id: str, token: int) -> None:
        """End the lease a request was just given and drop its machine, which does not answer. Idempotent.

        The same request may be made again, and gets another machine.
        """
        await self._scripts.run("decline", request, machine_id, token)

    async def release(self, machine_id: str, token: int) -> None:
        """End a lease; nothing happens when it had ended before."""
        await self._scripts.run("release", machine_id, token)

    async def reclaim(self, machine_id: str, reason: str) -> bool:
        """Take a machine from its holder, who gets the reason. Returns False if it has no holder."""
        return bool(await self._scripts.run("reclaim", machine_id, reason))

    async def expire(self) -> tuple[int, float | None]:
        """End what is over: leases, places of those who went away, hosts that fell silent.

        How many leases ended, and in how many seconds the next one will.
        """
        ended, rest = await self._scripts.run("expire", int(HOST_SILENT_SECONDS * 1000), int(HOST_LOST_SECONDS * 1000))
        return int(ended), float(rest) / 1000 if rest else None

    async def notifications(self) -> AsyncIterator[str | None]:
        """The requests that have just been granted or refused, for ever; None now and then while there are none.

        Some may be missed; asking again tells.
        """
        async with self._redis.pubsub(ignore_subscribe_messages=True) as channel:
            await channel.subscribe(f"{KEY_PREFIX}told")
            while True:
                message = await channel.get_message(timeout=NOTIFICATION_POLL_SECONDS)
                yield None if message is None else message["data"]


def _parse_claim(answer: list[Any]) -> Lease | QueuePosition:
    """The lease or the place a script gives. Raises the error it speaks of."""
    match answer:
        case ["leased", machine_id, token, ends, holder, image, url, capabilities, host]:
            return _parse_lease(machine_id, token, ends, holder, image, url, capabilities, host)
        case ["waiting", request, image, position, waiting, estimate, why]:
            return QueuePosition(
                request_id=request,
                image=image,
                position=position,
                waiting=waiting,
                estimated_seconds=float(estimate) / 1000 if estimate else None,
                why=why,
            )
        case _:
            raise parse_error(answer[1])


def _parse_lease(
    machine_id: str, token: str, ends: str, holder: str, image: str, url: str, capabilities: str, host: str
) -> Lease:
    return Lease(
        machine_id=machine_id,
        fencing_token=int(token),
        holder=holder,
        image=image,
        host_url=url,
        host=host,
        expires_at=parse_time(ends),
        capabilities=parse_capabilities(capabilities),
    )


def _failed_renewal(machine_id: str, token: int, error_text: str) -> RenewalResult:
    error = parse_error(error_text)
    return RenewalResult(machine_id=machine_id, fencing_token=token, code=error.code, message=str(error))
