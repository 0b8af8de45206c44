"""Machines and their leases: kept warm, claimed in order of asking, taken back when a lease ends."""

import asyncio
import contextlib
import itertools
import logging
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from redis.exceptions import RedisError

from vm_bridge.errors import BridgeError, MachineGone, NoMachine
from vm_bridge.ledger import Claim, Ledger
from vm_bridge.machine import Lease, Machine
from vm_bridge.sandbox import Host, Sandbox

logger = logging.getLogger(__name__)

TICK = 0.5
"""How often ended leases are looked for (seconds)."""
HEALTH_EVERY = 5.0
"""How often idle machines are asked whether they live (seconds)."""
HEALTH_TIMEOUT = 5.0
CLOSE_TIMEOUT = 5.0
MAX_WAITING = 64
"""Most callers that may wait for one image."""
RETRY_AFTER = 5.0
"""Pause after a machine could not be made, unless somebody waits for one (seconds)."""


@dataclass(slots=True)
class _Waiter:
    holder: str
    ttl: float
    lease: "asyncio.Future[Lease]"


@dataclass(slots=True)
class _Shelf:
    """What the pool knows of one image."""

    target: int = 0
    """How many should stand ready."""
    coming: int = 0
    """How many are being made or reset and will be free soon."""
    waiting: deque[_Waiter] = field(default_factory=deque)
    retry_at: float = 0.0


class Pool:
    """The machines of this host. `ended` is told of every machine whose lease ended, before it is reset."""

    def __init__(
        self,
        host: Host,
        ledger: Ledger,
        *,
        host_url: str,
        capacity: int,
        warm: Mapping[str, int],
        ended: Callable[[str], Awaitable[None]],
    ) -> None:
        self._host = host
        self._ledger = ledger
        self._host_url = host_url
        self._capacity = capacity
        self._ended = ended
        self._machines: dict[str, Sandbox] = {}
        self._moving: set[str] = set()
        """Machines between a lease and the shelf."""
        self._creating = 0
        self._highest = 0
        self._warm = warm
        self._shelves = {image: _Shelf(target=warm.get(image, 0)) for image in host.images}
        self._serving: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False

    async def start(self) -> None:
        """Forget the machines of an earlier life, which died with it, and begin to warm."""
        await self._ledger.clear()
        self._spawn(self._every(TICK, self._keep))
        self._spawn(self._every(HEALTH_EVERY, self._tend))

    async def close(self) -> None:
        """Stop, and destroy every machine."""
        self._closing = True
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_TIMEOUT)
        with contextlib.suppress(RedisError):
            await self._ledger.clear()
        await self._host.close()

    async def allocate(self, *, image: str, holder: str, ttl: float, wait: float) -> Lease:
        """A lease on a machine of `image`: a free one, or the next to become free within `wait` seconds.

        First come, first served. Raises NoMachine.
        """
        shelf = self._shelf(image)
        if len(shelf.waiting) >= MAX_WAITING:
            raise NoMachine(f"{MAX_WAITING} others wait for {image} already")
        waiter = _Waiter(holder, ttl, asyncio.get_running_loop().create_future())
        shelf.waiting.append(waiter)
        try:
            await self._serve(image)
            return await asyncio.wait_for(waiter.lease, wait)
        except TimeoutError:
            raise NoMachine(f"no {image} became free within {wait:g} s") from None
        finally:
            if waiter in shelf.waiting:
                shelf.waiting.remove(waiter)

    async def renew(self, machine_id: str, token: int, *, ttl: float) -> Lease:
        """Raises StaleLease when the lease has ended."""
        claim = await self._ledger.renew(machine_id, token, ttl=ttl)
        return self._lease(claim, await self._ledger.holder(machine_id) or "")

    async def release(self, machine_id: str, token: int) -> None:
        """End a lease and make the machine ready for the next; nothing happens when it had ended before."""
        if await self._ledger.release(machine_id, token):
            self._spawn(self._recycle(machine_id))

    async def warm(self, image: str, count: int) -> None:
        """From now on keep `count` machines ready, as far as there is room; never fewer than the operator wants."""
        self._shelf(image).target = max(count, self._warm.get(image, 0))
        await self._serve(image)

    async def machine(self, machine_id: str, token: int) -> Machine:
        """The machine a lease holds. Raises MachineGone, StaleLease."""
        sandbox = self.sandbox(machine_id)
        await self._ledger.check(machine_id, token)
        return sandbox.bind(token)

    async def ping(self) -> None:
        """Raises redis.RedisError when Redis does not answer."""
        await self._ledger.ping()

    def sandbox(self, machine_id: str) -> Sandbox:
        """Raises MachineGone."""
        try:
            return self._machines[machine_id]
        except KeyError:
            raise MachineGone(f"there is no machine {machine_id}") from None

    def _shelf(self, image: str) -> _Shelf:
        try:
            return self._shelves[image]
        except KeyError:
            raise NoMachine(f"there is no image {image}") from None

    def _lease(self, claim: Claim, holder: str) -> Lease:
        sandbox = self.sandbox(claim.machine_id)
        return Lease(
            machine_id=claim.machine_id,
            fencing_token=claim.token,
            holder=holder,
            image=sandbox.image,
            host_url=self._host_url,
            expires_at=datetime.fromtimestamp(claim.ends / 1000, UTC),
            capabilities=sandbox.capabilities,
        )

    async def _serve(self, image: str) -> None:
        """Hand free machines to those who wait, in their order; then see that enough are coming."""
        shelf = self._shelves[image]
        async with self._serving[image]:
            while shelf.waiting:
                first = shelf.waiting[0]
                claim = await self._ledger.claim(image, holder=first.holder, ttl=first.ttl, above=self._highest)
                if claim is None:
                    break
                self._highest = max(self._highest, claim.token)
                if first in shelf.waiting and not first.lease.done():
                    shelf.waiting.remove(first)
                    first.lease.set_result(self._lease(claim, first.holder))
                else:
                    await self.release(claim.machine_id, claim.token)
        await self._supply(image)

    async def _supply(self, image: str) -> None:
        """Start as many machines as are wanted and there is room for."""
        shelf = self._shelves[image]
        free = len(await self._ledger.free(image))
        wanted = shelf.target + len(shelf.waiting) - free - shelf.coming
        if not shelf.waiting and asyncio.get_running_loop().time() < shelf.retry_at:
            return
        for _ in range(wanted):
            full = len(self._machines) + self._creating >= self._capacity
            # Counted before room is made, or another image would take the room.
            shelf.coming += 1
            self._creating += 1
            if full and not await self._evict(image):
                shelf.coming -= 1
                self._creating -= 1
                return
            self._spawn(self._create(image))

    async def _evict(self, image: str) -> bool:
        """Give up one idle machine of another image, when somebody waits for this one."""
        if not self._shelves[image].waiting:
            return False
        for other in itertools.filterfalse(image.__eq__, self._shelves):
            for machine_id in await self._ledger.free(other):
                if await self._ledger.take(machine_id, image=other):
                    await self._drop(self.sandbox(machine_id))
                    return True
        return False

    async def _create(self, image: str) -> None:
        shelf = self._shelves[image]
        try:
            sandbox = await self._host.create(image)
        except (BridgeError, OSError) as error:
            logger.warning("no new %s: %s", image, error)
            shelf.retry_at = asyncio.get_running_loop().time() + RETRY_AFTER
            if shelf.waiting and not shelf.waiting[0].lease.done():
                shelf.waiting.popleft().lease.set_exception(NoMachine(str(error)))
            return
        finally:
            self._creating -= 1
            shelf.coming -= 1
        self._machines[sandbox.id] = sandbox
        with self._on_its_way(sandbox):
            await self._shelve(sandbox)
        await self._serve(image)

    async def _recycle(self, machine_id: str) -> None:
        """Make a machine whose lease ended ready for the next, or replace it."""
        sandbox = self._machines.get(machine_id)
        if sandbox is None or machine_id in self._moving:
            return
        with self._on_its_way(sandbox):
            await self._ended(machine_id)
            ready = await self._reset(sandbox)
            if ready:
                await self._shelve(sandbox)
        if not ready:
            await self._drop(sandbox)
        await self._serve(sandbox.image)

    @contextlib.contextmanager
    def _on_its_way(self, sandbox: Sandbox) -> Iterator[None]:
        """Count a machine as coming; where that fails, whatever the reason, `_find_lost` finds it."""
        shelf = self._shelves[sandbox.image]
        self._moving.add(sandbox.id)
        shelf.coming += 1
        try:
            yield
        finally:
            self._moving.discard(sandbox.id)
            shelf.coming -= 1

    async def _reset(self, sandbox: Sandbox) -> bool:
        """Whether the machine is as new; not tried where nobody wants another one of its image."""
        shelf = self._shelves[sandbox.image]
        others = shelf.coming - 1 + await self._ready(sandbox.image)
        if others >= max(1, shelf.target) and not shelf.waiting:
            return False
        try:
            await sandbox.reset()
        except (BridgeError, OSError) as error:
            logger.warning("%s could not be reset: %s", sandbox.id, error)
            return False
        return await self._lives(sandbox)

    async def _ready(self, image: str) -> int:
        try:
            return len(await self._ledger.free(image))
        except RedisError:
            return 0

    async def _lives(self, sandbox: Sandbox) -> bool:
        try:
            return await asyncio.wait_for(sandbox.healthy(), HEALTH_TIMEOUT)
        except TimeoutError:
            return False

    async def _shelve(self, sandbox: Sandbox) -> None:
        socket = sandbox.vnc_socket
        await self._ledger.add(sandbox.id, image=sandbox.image, vnc_socket=str(socket) if socket else None)

    async def _drop(self, sandbox: Sandbox) -> None:
        self._machines.pop(sandbox.id, None)
        await sandbox.destroy()
        await self._ledger.forget(sandbox.id, image=sandbox.image)

    async def _keep(self) -> None:
        """End leases in time, and keep enough machines warm."""
        for machine_id in await self._ledger.expire():
            logger.info("the lease of %s ran out", machine_id)
            self._spawn(self._recycle(machine_id))
        for image in self._shelves:
            await self._serve(image)

    async def _tend(self) -> None:
        """Take lost machines back and replace idle ones that died; may take as long as a machine hangs."""
        await self._find_lost()
        for image in self._shelves:
            await self._bury(image)

    async def _every(self, pause: float, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work` again and again, through outages of Redis."""
        while not self._closing:  # redis-py may swallow a cancellation that meets a time limit of its own
            try:
                await work()
            except RedisError as error:
                logger.warning("Redis does not answer: %s", error)
            await asyncio.sleep(pause)

    async def _find_lost(self) -> None:
        """Take back machines that are neither free nor leased: Redis lost its memory, or failed half-way."""
        arrived = self._machines.keys() - self._moving  # before asking: one that arrives meanwhile is not lost
        free = {machine_id for image in self._shelves for machine_id in await self._ledger.free(image)}
        for machine_id in arrived - free:
            if await self._ledger.holder(machine_id) is None:
                logger.warning("%s was lost from the ledger", machine_id)
                self._spawn(self._recycle(machine_id))

    async def _bury(self, image: str) -> None:
        """Drop the free machines that died."""
        for machine_id in await self._ledger.free(image):
            sandbox = self._machines.get(machine_id)
            if sandbox is None or await self._lives(sandbox):
                continue
            if await self._ledger.take(machine_id, image=image):
                logger.warning("%s died while idle", machine_id)
                await self._drop(sandbox)

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        if self._closing:
            work.close()
            return
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("a pool task failed", exc_info=error)
