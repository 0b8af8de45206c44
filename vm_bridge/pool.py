"""The machines of this host: made, kept warm, reset when a lease ends, replaced when they die."""

import asyncio
import contextlib
import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator

from redis.exceptions import RedisError

from vm_bridge.creation_backoff import CreationBackoff
from vm_bridge.errors import BridgeError, MachineGone, NoMachine
from vm_bridge.leases import LeaseGuard
from vm_bridge.leases.inventory import HostInventory, HostJob, describe_machine
from vm_bridge.leases.known_leases import KnownLeases
from vm_bridge.leases.lease_file import LeaseFile
from vm_bridge.machine import Machine
from vm_bridge.sandbox import Host, Sandbox, Usage

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 1.0
"""How often this host says that it lives (seconds)."""
RESTOCK_SECONDS = 1.0
"""How often it looks whether enough machines stand ready (seconds)."""
HEALTH_CHECK_SECONDS = 3.0
"""How often machines are asked whether they live, and looked for where the ledger has lost them (seconds)."""
MAX_CONCURRENT_CHECKS, MAX_MISSED_CHECKS = 100, 2
"""Machines asked at a time; and times in a row without an answer after which one is replaced."""
USAGE_REPORT_SECONDS = 5.0
"""Interval of usage reports (seconds)."""
HEALTH_TIMEOUT_SECONDS = CLOSE_TIMEOUT_SECONDS = 5.0
RESTORED_TTL_SECONDS = 60.0
"""Validity of a restored lease unless its holder renews it (seconds)."""


class MachinePool:
    """The machines of this host. `ended` is called with every machine whose lease ended, before it is reset."""

    def __init__(
        self,
        host: Host,
        lease_guard: LeaseGuard,
        inventory: HostInventory,
        *,
        capacity: int,
        ended: Callable[[str], Awaitable[None]],
        lease_file: LeaseFile | None = None,
        browser_built: Callable[[], float | None] = lambda: None,
    ) -> None:
        """`lease_file` keeps who holds which machine for the next bridge; `browser_built` says when the package of the
        browser was made (seconds since the epoch)."""
        self._browser_built = browser_built
        self._host = host
        self._lease_file = lease_file
        self._lease_guard = lease_guard
        self._inventory = inventory
        self._capacity = capacity
        self._ended = ended
        self._machines: dict[str, Sandbox] = {}
        self._busy: set[str] = set()
        """Machines on their way to the shelf or out of the house."""
        self._creating: set[str] = set()
        """Names of machines being made."""
        self._highest = 0
        """The highest token a call came with."""
        self._leases = KnownLeases(inventory, lease_file, lambda each: describe_machine(self._machines[each]))
        self._misses: dict[str, int] = {}
        """How often in a row a machine did not answer."""
        self._suspects: set[str] = set()
        """Machines that were neither free nor leased nor on their way when it was last looked."""
        self._last_actions: dict[str, float] = {}
        self._reported_usage: dict[str, dict[str, float]] = {}
        self._cpu_samples: dict[str, tuple[float, float]] = {}
        """Processor seconds of each machine, and when they were read."""
        self._reported_facts: dict[str, str] = {}
        """The last facts about this host reported to the operator."""
        self._backoff = CreationBackoff()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False

    async def start(self) -> None:
        """Take over what an earlier bridge left running, and begin to warm."""
        known = await self._register() | await self._restore_from_disk()
        # First: adopting may take longer than a host may be silent.
        self._spawn(self._run_periodically(HEARTBEAT_SECONDS, self._beat))
        for sandbox in await self._host.adopt(known):
            self._machines[sandbox.id] = sandbox
        for machine_id in known - self._machines.keys():
            await self._inventory.mark_lost(machine_id, f"{machine_id} did not outlive its bridge")
        for sandbox in tuple(self._machines.values()):
            if await self._inventory.adopt(sandbox) not in ("leased", "free", "stranded"):
                self._spawn(self._recycle(sandbox.id))
        self._spawn(self._run_periodically(0, self._work))
        self._spawn(self._run_periodically(RESTOCK_SECONDS, self._restock))
        self._spawn(self._run_periodically(HEALTH_CHECK_SECONDS, self._check_machines))
        self._spawn(self._run_periodically(USAGE_REPORT_SECONDS, self._report_all_usage))

    async def close(self, *, leave: bool = False) -> None:
        """Stop, and destroy every machine; with `leave` they run on for the next bridge to adopt."""
        self._closing = True
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_TIMEOUT_SECONDS)
        if leave:
            return
        with contextlib.suppress(RedisError):
            await self._inventory.deregister("the bridge was shut down")
        if self._lease_file is not None:
            self._lease_file.clear()
        await self._host.close()

    async def machine(self, machine_id: str, token: int, driver: int | None = None) -> Machine:
        """The machine a lease holds. Raises MachineGone, StaleLease; see `LeaseGuard.check`."""
        await self._lease_guard.check(machine_id, token, driver)
        sandbox = self.sandbox(machine_id)
        self._highest = max(self._highest, token)
        if machine_id not in self._leases or self._leases.leases[machine_id].token != token:
            self._spawn(self._leases.learn(machine_id, self._machines))
        self._last_actions[machine_id] = time.time()
        return sandbox.bind(token)

    def sandbox(self, machine_id: str) -> Sandbox:
        """Raises MachineGone."""
        try:
            return self._machines[machine_id]
        except KeyError:
            raise MachineGone(f"there is no machine {machine_id}") from None

    async def _register(self) -> frozenset[str]:
        self._reported_facts = {}
        return await self._inventory.register(images=self._host.images, capacity=self._capacity)

    async def _work(self) -> None:
        """Do what the ledger hands over; `_tend` finds what was handed over and not done."""
        for work in await self._inventory.work(HEARTBEAT_SECONDS):
            self._spawn(self._do(work))

    async def _do(self, work: HostJob) -> None:
        match work.verb:
            case "want":
                await self._create_missing(work.name)
            case "reset":
                await self._recycle(work.name)
            case "drop":
                await self._retire(work.name)

    async def _beat(self) -> None:
        if not await self._inventory.heartbeat():
            logger.warning("Redis has no record of this host")
            await self._register()
            await self._restore_leases()
            await self._find_lost()

    async def _restock(self) -> None:
        for image in self._host.images:
            await self._create_missing(image)

    async def _create_missing(self, image: str) -> None:
        """Start as many machines as are wanted and there is room for."""
        while not self._closing:
            full = len(self._machines) + len(self._creating) >= self._capacity
            name = f"new-{secrets.token_hex(6)}"
            with self._room_for(name) as room:
                if not await self._inventory.reserve_creation(image, name, urgent=full or self._backoff.resting(image)):
                    return
                if full and not await self._make_room(image):
                    await self._inventory.mark_lost(name, "there is no room")
                    return
                self._spawn(self._create(image, name, room.pop_all()))

    @contextlib.contextmanager
    def _room_for(self, name: str) -> Iterator[contextlib.ExitStack]:
        """Count a machine that is being made, until this ends or whoever takes the stack over closes it.

        It is counted before anything is awaited, or another image would take the room.
        """
        with contextlib.ExitStack() as room:
            self._creating.add(name)
            room.callback(self._creating.discard, name)
            yield room

    async def _make_room(self, image: str) -> bool:
        """Give up one idle machine of another image."""
        for sandbox in tuple(self._machines.values()):
            if (
                sandbox.image != image
                and sandbox.id not in self._busy
                and await self._inventory.withdraw_free_machine(sandbox.id)
            ):
                await self._drop(sandbox, "its room was needed")
                return True
        return False

    async def _create(self, image: str, name: str, room: contextlib.ExitStack) -> None:
        try:
            with room:
                sandbox = await self._host.create(image)
        except (BridgeError, OSError) as error:
            logger.warning("no new %s: %s", image, error)
            if self._backoff.failed(image, error):
                failure = error if isinstance(error, NoMachine) else NoMachine(str(error))
                return await self._inventory.report_creation_failure(image, name, failure)
            await self._inventory.mark_lost(name, str(error))
            return await self._create_missing(image)
        self._backoff.succeeded(image)
        self._machines[sandbox.id] = sandbox
        with self._exclusive(sandbox):
            await self._inventory.add_free_machine(sandbox, above=self._highest, reservation=name)

    async def _recycle(self, machine_id: str) -> None:
        """Make a machine whose lease ended ready for the next, or replace it."""
        sandbox = self._machines.get(machine_id)
        if sandbox is None or machine_id in self._busy:
            return
        with self._exclusive(sandbox):
            if await self._inventory.in_use(machine_id):
                return  # this was done before, and the machine given out again
            await self._ended(machine_id)
            ready = await self._reset(sandbox)
            if ready:
                await self._inventory.add_free_machine(sandbox, above=self._highest)
        if not ready:
            await self._drop(sandbox, f"{machine_id} could not be reset")

    async def _retire(self, machine_id: str) -> None:
        """Destroy an unwanted machine."""
        sandbox = self._machines.get(machine_id)
        if sandbox is None or machine_id in self._busy:
            return
        with self._exclusive(sandbox):
            if await self._inventory.in_use(machine_id):
                return
            await self._drop(sandbox, f"{machine_id} was no longer needed")

    @contextlib.contextmanager
    def _exclusive(self, sandbox: Sandbox) -> Iterator[None]:
        """Nobody else may move this machine; where the way breaks off, whatever the reason, `_find_lost` finds it."""
        self._busy.add(sandbox.id)
        try:
            yield
        finally:
            self._busy.discard(sandbox.id)

    async def _reset(self, sandbox: Sandbox) -> bool:
        """Whether the machine is as new."""
        try:
            async with asyncio.timeout(sandbox.reset_seconds):
                await sandbox.reset()
        except (BridgeError, OSError, TimeoutError) as error:
            logger.warning("%s could not be reset: %s", sandbox.id, error or "it takes too long")
            return False
        return await self._is_healthy(sandbox)

    async def _is_healthy(self, sandbox: Sandbox) -> bool:
        try:
            async with asyncio.timeout(HEALTH_TIMEOUT_SECONDS):
                return await sandbox.healthy()
        except TimeoutError:
            return False

    async def _drop(self, sandbox: Sandbox, reason: str) -> None:
        """Destroy a machine. Its holder gets the reason, and its viewers are disconnected."""
        with self._exclusive(sandbox):
            await self._inventory.mark_lost(sandbox.id, reason)
            self._machines.pop(sandbox.id, None)
            for known in (self._misses, self._last_actions, self._reported_usage):
                known.pop(sandbox.id, None)
            self._cpu_samples.pop(sandbox.id, None)
            await self._ended(sandbox.id)
            await sandbox.destroy()

    async def _check_machines(self) -> None:
        """Take lost machines back and replace those that died; a machine that hangs delays only its neighbours."""
        await self._find_lost()
        still = [sandbox for sandbox in self._machines.values() if sandbox.id not in self._busy]
        for first in range(0, len(still), MAX_CONCURRENT_CHECKS):
            await asyncio.gather(*map(self._check_health, still[first : first + MAX_CONCURRENT_CHECKS]))

    async def _check_health(self, sandbox: Sandbox) -> None:
        misses = 0 if await self._is_healthy(sandbox) else self._misses.get(sandbox.id, 0) + 1
        self._misses[sandbox.id] = misses
        if misses >= MAX_MISSED_CHECKS and self._machines.get(sandbox.id) is sandbox and sandbox.id not in self._busy:
            logger.warning("%s does not answer", sandbox.id)
            await self._drop(sandbox, f"{sandbox.id} died or hung; what was done on it is lost")

    async def _find_lost(self) -> None:
        """Put right what the ledger and this host do not agree about: Redis lost its memory, or a way broke off."""
        reservation = set(self._creating)
        known = await self._leases.read_all(self._machines)
        if known is None:
            return  # the next beat registers this host and puts its leases back
        machine_records = {machine_id: record.state for machine_id, record in known.items()}
        idle = self._machines.keys() - self._busy
        suspects = {machine_id for machine_id in idle if machine_records.get(machine_id) not in ("leased", "free")}
        for machine_id in suspects & self._suspects:  # those of the last round: the others are on their way
            logger.warning("%s is missing in the ledger", machine_id)
            self._spawn(self._recycle(machine_id))
        self._suspects = suspects
        for machine_id in machine_records.keys() - self._machines.keys() - reservation - self._creating:
            await self._inventory.mark_lost(machine_id, f"{machine_id} is no more")

    async def _restore_leases(self) -> None:
        """Put back the leases of a ledger that lost its data; holders renew them as before."""
        held = (
            (describe_machine(self._machines[each]), lease)
            for each, lease in tuple(self._leases.leases.items())
            if each in self._machines and each not in self._busy
        )
        await self._inventory.restore(held, ttl=RESTORED_TTL_SECONDS)

    async def _restore_from_disk(self) -> frozenset[str]:
        """The same for what an earlier bridge wrote down, before machines are adopted: holders do not wait so long."""
        kept = {} if self._lease_file is None else self._lease_file.read()
        return await self._inventory.restore(kept.values(), ttl=RESTORED_TTL_SECONDS)

    async def _report_all_usage(self) -> None:
        for sandbox in tuple(self._machines.values()):
            if sandbox.id not in self._busy:
                await self._report_usage(sandbox)
        await self._report_host()

    async def _report_host(self) -> None:
        """Let the operator see what machines here may take without a bound, and how old the browser is."""
        built = await asyncio.to_thread(self._browser_built)
        facts = {"browser_built": "" if built is None else str(int(built * 1000))}
        if self._machines:
            found = {name for sandbox in self._machines.values() for name in sandbox.capabilities.unbounded}
            facts["unbounded"] = json.dumps(sorted(found))
        if facts != self._reported_facts:
            await self._inventory.report_host(**facts)
            self._reported_facts = facts

    async def _report_usage(self, sandbox: Sandbox) -> None:
        """Let the operator see what a machine costs and when it last acted, where that has changed."""
        try:
            usage = await sandbox.usage()
        except (BridgeError, OSError):  # it died just now, and is found by the next round
            return
        now = time.monotonic()
        before, at = self._cpu_samples.get(sandbox.id, (usage.cpu_seconds, now))
        self._cpu_samples[sandbox.id] = (usage.cpu_seconds, now)
        share = max(0.0, usage.cpu_seconds - before) / (now - at) if now > at else 0.0
        facts: dict[str, float] = {}
        if usage != Usage():
            facts = {"cpu_seconds": usage.cpu_seconds, "cpu_share": round(share, 2), "memory_bytes": usage.pss}
        if acted := self._last_actions.get(sandbox.id):
            facts["last_act"] = acted
        if facts and self._reported_usage.get(sandbox.id) != facts:
            self._reported_usage[sandbox.id] = facts
            await self._inventory.report_usage(sandbox.id, **facts)

    async def _run_periodically(self, pause: float, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work` again and again; a round that fails, whatever the reason, must not be the last."""
        while not self._closing:  # redis-py may swallow a cancellation that meets a time limit of its own
            try:
                await work()
            except RedisError as error:
                logger.warning("Redis does not answer: %s", error)
                await asyncio.sleep(HEARTBEAT_SECONDS)
            except Exception:
                logger.exception("a round of the pool failed")
                await asyncio.sleep(HEARTBEAT_SECONDS)
            await asyncio.sleep(pause)

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        if self._closing:
            work.close()
            return
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        if isinstance(error, RedisError):
            logger.warning("Redis does not answer: %s", error)
        else:
            logger.error("a pool task failed", exc_info=error)
