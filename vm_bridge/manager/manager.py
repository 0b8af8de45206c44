"""Claims that wait, and the reaper: what the manager does beside passing requests to the ledger."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager

from redis.asyncio import Redis
from redis.exceptions import RedisError

from vm_bridge.fleet import Quota, Waiting
from vm_bridge.ledger import Ledger
from vm_bridge.ledger.leases import Ask, Leases
from vm_bridge.ledger.overview import Overview
from vm_bridge.machine import Lease

logger = logging.getLogger(__name__)

ASK_EVERY = 2.0
"""How often a waiting claim is asked again, which shows that somebody waits (seconds)."""
REAP_EVERY = 0.25
"""Longest pause between two looks for leases that ended; shorter when one is known to end before (seconds)."""
SOONEST = 0.005
OUTAGE_PAUSE = 1.0
CLOSE_TIMEOUT = 5.0


class Manager:
    """Serves claims while `running`."""

    def __init__(self, redis: Redis) -> None:
        self.ledger = Ledger(redis)
        self.leases = Leases(redis)
        self.overview = Overview(redis)
        self._told: dict[str, asyncio.Event] = {}
        self._closing = False

    async def configure(self, *, warm: Mapping[str, int], quotas: Iterable[Quota]) -> None:
        """What the operator wrote down: warm targets as the least, quotas where they were changed."""
        for image, count in warm.items():
            await self.overview.warm_set(image, count, at_least=True)
        await self.overview.quotas_configure(quotas)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While the block runs, leases end in time and waiting claims hear at once."""
        tasks = [asyncio.create_task(self._always(work)) for work in (self._reap, self._listen)]
        try:
            yield
        finally:
            self._closing = True
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=CLOSE_TIMEOUT)

    async def allocate(self, ask: Ask, *, wait: float, gone: Callable[[], Awaitable[object]]) -> Lease | Waiting:
        """A lease, within `wait` seconds, else the place in the queue; `gone` returns when the asker went away.

        Raises what `Leases.claim` raises.
        """
        answer = await self.leases.claim(ask)
        if isinstance(answer, Lease) or wait <= 0:
            return answer
        told = self._told.setdefault(ask.request, asyncio.Event())
        leaving = asyncio.ensure_future(gone())
        try:
            return await self._await_lease(ask, told, leaving, time.monotonic() + wait)
        finally:
            leaving.cancel()
            self._told.pop(ask.request, None)

    async def _await_lease(
        self, ask: Ask, told: asyncio.Event, leaving: "asyncio.Future[object]", end: float
    ) -> Lease | Waiting:
        while not leaving.done():
            told.clear()
            answer = await self.leases.claim(ask)
            left = end - time.monotonic()
            if isinstance(answer, Lease) or left <= 0:
                return answer
            hearing = asyncio.ensure_future(told.wait())
            await asyncio.wait((hearing, leaving), timeout=min(left, ASK_EVERY), return_when=asyncio.FIRST_COMPLETED)
            hearing.cancel()
        answer = await self.leases.look(ask.request)
        # What is given from now on is not picked up and soon goes to the next, unless the asker comes back.
        await self.leases.away(ask.request)
        return answer

    async def _reap(self) -> None:
        ended, rest = await self.leases.expire()
        if ended:
            logger.info("%d leases ran out", ended)
        pause = REAP_EVERY if rest is None else min(rest, REAP_EVERY)
        await asyncio.sleep(max(SOONEST, pause))

    async def _listen(self) -> None:
        async for request in self.leases.told():
            if self._closing:
                return
            if request is not None and request in self._told:
                self._told[request].set()

    async def _always(self, work: Callable[[], Awaitable[None]]) -> None:
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
                await asyncio.sleep(OUTAGE_PAUSE)
