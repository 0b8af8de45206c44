"""Claims that wait, and the reaper: what the manager does beside passing requests to the ledger."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager

from redis.asyncio import Redis
from redis.exceptions import RedisError

from vm_bridge.errors import NoMachine
from vm_bridge.fleet import TWIN_HOLDER, QueuePosition, Quota
from vm_bridge.leases import LeaseGuard
from vm_bridge.leases.fleet_overview import FleetOverview
from vm_bridge.leases.store import ClaimRequest, LeaseStore
from vm_bridge.machine import Lease

logger = logging.getLogger(__name__)

CLAIM_RETRY_SECONDS = 2.0
"""Polling interval of a waiting claim, which also shows that its client still waits (seconds)."""
MAX_EXPIRY_POLL_SECONDS = 0.25
"""Longest pause between two looks for leases that ended; shorter when one is known to end before (seconds)."""
MIN_EXPIRY_POLL_SECONDS = 0.005
OUTAGE_PAUSE_SECONDS = 1.0
CLOSE_TIMEOUT_SECONDS = 5.0


class LeaseManager:
    """Serves claims while `running`."""

    def __init__(self, redis: Redis) -> None:
        self.lease_guard = LeaseGuard(redis)
        self.leases = LeaseStore(redis)
        self.overview = FleetOverview(redis)
        self._notifications: dict[str, asyncio.Event] = {}
        self._closing = False

    async def configure(self, *, warm: Mapping[str, int], quotas: Iterable[Quota]) -> None:
        """What the operator wrote down: warm targets as the least, quotas where they were changed."""
        for image, count in warm.items():
            await self.overview.set_warm_target(image, count, at_least=True)
        await self.overview.configure_quotas(quotas)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While the block runs, leases end in time and waiting claims hear at once."""
        tasks = [asyncio.create_task(self._run_forever(work)) for work in (self._reap, self._listen)]
        try:
            yield
        finally:
            self._closing = True
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=CLOSE_TIMEOUT_SECONDS)

    async def allocate(
        self, claim_request: ClaimRequest, *, wait: float, wait_disconnect: Callable[[], Awaitable[object]]
    ) -> Lease | QueuePosition:
        """A lease, within `wait` seconds, else the place in the queue; `gone` returns when the asker went away.

        A twin never waits. Raises what `LeaseStore.claim` raises, and NoMachine where no room is left for a twin.
        """
        if claim_request.holder.startswith(TWIN_HOLDER):
            return await self._lease_twin(claim_request)
        answer = await self.leases.claim(claim_request)
        if isinstance(answer, Lease) or wait <= 0:
            return answer
        await self._take_twin_back(claim_request, answer)
        notifications = self._notifications.setdefault(claim_request.request, asyncio.Event())
        disconnected = asyncio.ensure_future(wait_disconnect())
        try:
            return await self._await_lease(claim_request, notifications, disconnected, time.monotonic() + wait)
        finally:
            disconnected.cancel()
            self._notifications.pop(claim_request.request, None)

    async def _lease_twin(self, claim_request: ClaimRequest) -> Lease:
        """A ready machine, where the next claim finds another one or the room for it. Raises NoMachine."""
        image = claim_request.image
        images = {each.name: each for each in await self.overview.images()}
        wanted = images.get(image)
        if wanted is None or not wanted.free or wanted.waiting or await self._room(image) < 2:
            raise NoMachine(f"no room is left for a twin of {image}")
        answer = await self.leases.claim(claim_request)
        if isinstance(answer, Lease):
            return answer
        await self.leases.cancel(claim_request.request)
        raise NoMachine(f"no {image} is free for a twin")

    async def _room(self, image: str) -> int:
        """How many machines of an image could be leased: idle ones, and those there is room for in place of nothing or
        of idle machines of other images."""
        hosts = [host for host in await self.overview.hosts() if image in host.images and not host.draining]
        names = {host.id for host in hosts}
        idle = [machine for machine in await self.overview.machines() if machine.state == "free"]
        return sum(max(0, host.capacity - host.machines) for host in hosts) + sum(each.host in names for each in idle)

    async def _take_twin_back(self, claim_request: ClaimRequest, place: QueuePosition) -> None:
        """Make a twin give up its place where a claim has none: in its pool's quota, or on a host that is full."""
        if place.why == "user_quota" or (place.why == "none_free" and await self._room(claim_request.image) > 0):
            return
        hosts = {host.id for host in await self.overview.hosts() if claim_request.image in host.images}
        twins = [
            machine
            for machine in await self.overview.machines()
            if machine.state == "leased"
            and (machine.holder or "").startswith(TWIN_HOLDER)
            and (machine.pool == claim_request.pool if place.why == "pool_quota" else machine.host in hosts)
        ]
        twins.sort(key=lambda machine: machine.image != claim_request.image)
        if twins:
            await self.leases.reclaim(twins[0].id, "a claim needs the place of this twin")

    async def _await_lease(
        self,
        claim_request: ClaimRequest,
        notifications: asyncio.Event,
        disconnected: "asyncio.Future[object]",
        end: float,
    ) -> Lease | QueuePosition:
        while not disconnected.done():
            notifications.clear()
            answer = await self.leases.claim(claim_request)
            left = end - time.monotonic()
            if isinstance(answer, Lease) or left <= 0:
                return answer
            notified = asyncio.ensure_future(notifications.wait())
            await asyncio.wait(
                (notified, disconnected), timeout=min(left, CLAIM_RETRY_SECONDS), return_when=asyncio.FIRST_COMPLETED
            )
            notified.cancel()
        answer = await self.leases.claim_status(claim_request.request)
        # What is given from now on is not picked up and soon goes to the next, unless the asker comes back.
        await self.leases.mark_waiter_gone(claim_request.request)
        return answer

    async def _reap(self) -> None:
        ended, rest = await self.leases.expire()
        if ended:
            logger.info("%d leases ran out", ended)
        pause = MAX_EXPIRY_POLL_SECONDS if rest is None else min(rest, MAX_EXPIRY_POLL_SECONDS)
        await asyncio.sleep(max(MIN_EXPIRY_POLL_SECONDS, pause))

    async def _listen(self) -> None:
        async for request in self.leases.notifications():
            if self._closing:
                return
            if request is not None and request in self._notifications:
                self._notifications[request].set()

    async def _run_forever(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work` again and again; a round that fails, whatever the reason, must not be the last."""
        while not self._closing:  # redis-py may swallow a cancellation that comes while it connects
            try:
                await work()
            except RedisError as error:
                logger.warning("Redis does not answer: %s", error)
            except Exception:
                logger.exception("a round of the manager failed")
            else:
                continue
            if not self._closing:
                await asyncio.sleep(OUTAGE_PAUSE_SECONDS)
