"""The episodes this process serves: who sits at which desk, who holds control, which runners live here.

An episode is driven by the process that has its annotator's socket, under a lease in the database with a
fencing token. Another process takes it over when that one dies, loses the socket, or is told so.
"""

import asyncio
import logging
import os
import secrets
import socket
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from uuid import UUID

from django.db import Error as DatabaseError

from annotation_app.episodes import selectors, services
from annotation_app.episodes.publish import PROCESS, publish_moved
from annotation_app.live.store import ignore_event, was_taken
from annotation_app.live.threads import in_database
from annotation_app.live.wiring import Driver, driving
from vocabulary.messages import (
    Acknowledged,
    Autopilot,
    Command,
    Control,
    ControlChanged,
    Event,
    Ping,
    Rejected,
    Snapshot,
    TakeControl,
)

logger = logging.getLogger(__name__)

BEAT = 3.0
"""Seconds between looks at leases, policies and empty seats."""
RUNNER_SECONDS = 10.0
"""How long an episode waits for a process that died on another host."""
CONTROL_GRACE = 20.0
"""How long control is kept for somebody whose socket dropped (seconds)."""
PRESENCE = 60.0
"""So long after their last word somebody still counts as being here (seconds)."""


@dataclass(eq=False, slots=True)
class Seat:
    """One socket at a desk. `steers`: its person is the annotator; `tell` never waits; `check` ends it when that
    person may not sit here any more."""

    name: str
    steers: bool
    tell: Callable[[Event], None]
    refresh: Callable[[], None]
    """Sends the snapshot again."""
    check: Callable[[], Awaitable[None]]
    heard_at: float = 0.0
    """When it last said something (loop time)."""


@dataclass(eq=False, slots=True)
class Desk:
    """One episode in this process: its seats, the one that holds control, since when that one is gone (loop
    time), its driver, if that lives here, who looks after it at this moment, and whether it has ended."""

    episode_id: UUID
    seats: list[Seat] = field(default_factory=list)
    holder: Seat | None = None
    dropped_at: float | None = None
    driver: Driver | None = None
    running: asyncio.Task[None] | None = None
    looking: asyncio.Task[None] | None = None
    over: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def control_of(self, seat: Seat) -> Control:
        """Who holds control, seen from a seat."""
        if self.holder is seat:
            return "mine"
        elsewhere = self.driver is None and not self.over
        return "other" if elsewhere or self.holder is not None else "nobody"

    def steering(self) -> Seat | None:
        """The seat of the annotator that has waited longest."""
        return next((seat for seat in self.seats if seat.steers), None)


def process_is_dead(runner: str) -> bool:
    """Whether a process of this very host is known to be gone; of others nothing is known."""
    host, pid, _ = runner.rsplit(":", 2)
    if host != socket.gethostname():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return int(pid) == os.getpid()  # ours, but another start: the number was given out again


class Registry:
    """Every desk of this process. Lives in one event loop, from the first seat to `close`."""

    def __init__(self) -> None:
        self._desks: dict[UUID, Desk] = {}
        self._stack = AsyncExitStack()
        self._driver_make: Callable[[UUID, int], Driver] | None = None
        self._beating: asyncio.Task[None] | None = None

    # --- seats

    async def sit(self, episode_id: UUID, seat: Seat) -> Desk:
        """Take a seat; the annotator's first one gets control."""
        await self._open()
        desk = self._desks.setdefault(episode_id, Desk(episode_id))
        desk.seats.append(seat)
        self._hear(seat)
        if seat.steers:
            await self._ensure_driver(desk)
            if desk.driver is not None and desk.holder is None:
                await self._hold(desk, seat)
        return desk

    async def leave(self, episode_id: UUID, seat: Seat) -> None:
        """Give up a seat, if it was taken; control is kept for a while for whoever comes back."""
        desk = self._desks.get(episode_id)
        if desk is None or seat not in desk.seats:
            return
        desk.seats.remove(seat)
        if desk.holder is seat:
            desk.holder = None
            desk.dropped_at = asyncio.get_running_loop().time()
            await self._attend(desk, attended=False)

    async def submit(self, desk: Desk, seat: Seat, command: Command) -> None:
        """Pass a command on, if this seat may give it; its fate is told to the seat."""
        self._hear(seat)

        async def reply(event: Event) -> None:
            seat.tell(event)

        if isinstance(command, Ping):
            return
        if isinstance(command, TakeControl):
            await self._take_control(desk, seat, command)
        elif desk.holder is not seat:
            await self._refuse_here(desk, seat, command)
        elif desk.driver is None:
            seat.tell(_refusal(command, "not_running", "This episode is not running here."))
        else:
            await desk.driver.submit(command, reply)

    async def _refuse_here(self, desk: Desk, seat: Seat, command: Command) -> None:
        """Refuse a command of a seat without control, unless it was taken before: its answer was lost with a connection
        or a process. Where the record cannot be read nothing is said, and the page asks again."""
        name = getattr(command, "command_id", None)
        try:
            known = seat.steers and await was_taken(desk.episode_id, command)
        except DatabaseError as error:
            logger.warning("whether command %s was taken before is not known: %s", name, error)
            return
        if known and name:
            return seat.tell(Acknowledged(command_id=name))
        seat.tell(_refusal(command, "view_only", "Somebody else holds control of this episode."))

    def moved(self, episode_id: UUID) -> None:
        """Another process took an episode over."""
        desk = self._desks.get(episode_id)
        if desk is not None and desk.driver is not None:
            desk.driver.stop()
            desk.driver = desk.holder = desk.dropped_at = None
            self._tell_control(desk)

    async def snapshot(self, desk: Desk, seat: Seat) -> Snapshot:
        """The whole state for a seat, with what only the runner knows of a running inference."""
        state = await in_database(selectors.episode_state, episode_id=desk.episode_id)
        live = desk.driver.state if desk.driver is not None else None
        if live is not None and live.version == state.version:
            names = ("thinking", "thinking_error", "noting", "noting_error")
            state = state.model_copy(update={name: getattr(live, name) for name in names})
        return Snapshot(state=state, control=desk.control_of(seat))

    async def close(self) -> None:
        """Stop every runner; the episodes stay as they are, for the next process."""
        looks = [task for task in (self._beating, *(desk.looking for desk in self._desks.values())) if task]
        for task in looks:
            task.cancel()
        await asyncio.gather(*looks, return_exceptions=True)
        running = [desk.running for desk in self._desks.values() if desk.running is not None]
        for desk in self._desks.values():
            if desk.driver is not None:
                desk.driver.stop()
        await asyncio.gather(*running, return_exceptions=True)
        await self._stack.aclose()
        self._desks.clear()
        self._driver_make = self._beating = None

    # --- control

    async def _take_control(self, desk: Desk, seat: Seat, command: TakeControl) -> None:
        if not seat.steers:
            return seat.tell(_refusal(command, "view_only", "Only the annotator steers this episode."))
        async with desk.lock:
            if desk.driver is None and not await self._is_over(desk):
                token = await in_database(
                    services.runner_take, episode_id=desk.episode_id, runner=PROCESS, seconds=RUNNER_SECONDS
                )
                await publish_moved(str(desk.episode_id))
                self._start(desk, token)
        if desk.driver is None:
            return seat.tell(_refusal(command, "not_running", "This episode has ended."))
        await self._hold(desk, seat)
        seat.tell(Acknowledged(command_id=command.command_id))

    async def _hold(self, desk: Desk, seat: Seat) -> None:
        desk.holder, desk.dropped_at = seat, None
        self._tell_control(desk)
        await self._attend(desk, attended=True)

    def _tell_control(self, desk: Desk) -> None:
        holder = desk.holder.name if desk.holder else ""
        for seat in desk.seats:
            seat.tell(ControlChanged(control=desk.control_of(seat), holder=holder))

    async def _attend(self, desk: Desk, *, attended: bool) -> None:
        if desk.driver is not None:
            await in_database(
                services.runner_attend, episode_id=desk.episode_id, token=desk.driver.token, attended=attended
            )

    # --- drivers

    async def _is_over(self, desk: Desk) -> bool:
        status = await in_database(selectors.episode_status, episode_id=desk.episode_id)
        desk.over = status in selectors.ENDED_STATUSES
        return desk.over

    async def _ensure_driver(self, desk: Desk) -> None:
        """Drive the episode from here, unless it is over or another process holds it."""
        async with desk.lock:
            if desk.driver is not None or desk.over or await self._is_over(desk):
                return
            token = await in_database(
                services.runner_acquire,
                episode_id=desk.episode_id,
                runner=PROCESS,
                seconds=RUNNER_SECONDS,
                dead=process_is_dead,
            )
            if token is not None:
                self._start(desk, token)

    def _start(self, desk: Desk, token: int) -> None:
        assert self._driver_make is not None, "somebody sits here, so the registry is open"
        driver = self._driver_make(desk.episode_id, token)
        desk.driver = driver
        desk.running = asyncio.create_task(driver.run(), name=f"episode-{desk.episode_id}")
        desk.running.add_done_callback(lambda task: self._ended(desk, driver, task))

    def _ended(self, desk: Desk, driver: Driver, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("the runner of episode %s broke", desk.episode_id, exc_info=error)
        if desk.driver is driver:
            desk.over = driver.state is not None and driver.state.status in selectors.ENDED_STATUSES
            desk.driver = desk.holder = desk.dropped_at = None
            self._tell_control(desk)

    # --- the beat

    async def _open(self) -> None:
        if self._driver_make is None:
            self._driver_make = await self._stack.enter_async_context(driving())
            self._beat_on()

    def _beat_on(self) -> None:
        self._beating = asyncio.create_task(self._beat(), name="registry")
        self._beating.add_done_callback(self._beat_ended)

    def _beat_ended(self, task: asyncio.Task[None]) -> None:
        """Without a beat every lease of this process would run out, so it goes on whatever broke it."""
        if not task.cancelled():
            logger.error("the beat broke; it goes on", exc_info=task.exception())
            self._beat_on()

    async def _beat(self) -> None:
        """Keep this process's leases and have every desk looked after, for as long as it lives."""
        while True:
            await asyncio.sleep(BEAT)
            try:
                kept = await in_database(services.runners_renew, runner=PROCESS, seconds=RUNNER_SECONDS)
            except DatabaseError as error:
                logger.warning("the database did not answer; trying again: %s", error)
                continue
            for desk in tuple(self._desks.values()):
                if desk.driver is not None and desk.episode_id not in kept:
                    self.moved(desk.episode_id)
                if desk.looking is None or desk.looking.done():
                    desk.looking = asyncio.create_task(self._look_after(desk), name=f"desk-{desk.episode_id}")
                    desk.looking.add_done_callback(_looked)

    async def _look_after(self, desk: Desk) -> None:
        """See to one desk; a machine or a database that is slow to answer delays no other desk."""
        if desk.driver is not None:
            await desk.driver.keep()  # first: whatever else fails, the machine stays ours
        for seat in tuple(desk.seats):
            await seat.check()
        if desk.driver is not None:
            await desk.driver.refresh()
            await self._control_look(desk)
        elif (waiting := desk.steering()) is not None:
            await self._ensure_driver(desk)
            if desk.driver is not None:
                await self._hold(desk, waiting)
        elif not desk.seats:
            del self._desks[desk.episode_id]
        await self._presence_look(desk)

    async def _control_look(self, desk: Desk) -> None:
        """Hand control on when its holder did not come back; a policy does not act unwatched."""
        now = asyncio.get_running_loop().time()
        if desk.dropped_at is None or now - desk.dropped_at < CONTROL_GRACE:
            return
        desk.dropped_at = None
        if (waiting := desk.steering()) is not None:
            return await self._hold(desk, waiting)
        driver = desk.driver
        if driver is not None and driver.state is not None and driver.state.autopilot:
            await driver.submit(Autopilot(command_id=f"unwatched-{secrets.token_hex(8)}", on=False), ignore_event)

    async def _presence_look(self, desk: Desk) -> None:
        """Keep the task for an annotator who is here; their desk shows the new end of the lease."""
        holder, now = desk.holder, asyncio.get_running_loop().time()
        if holder is None or now - holder.heard_at > PRESENCE:
            return
        if await in_database(services.lease_renew, episode_id=desk.episode_id):
            for seat in desk.seats:
                seat.refresh()

    def _hear(self, seat: Seat) -> None:
        seat.heard_at = asyncio.get_running_loop().time()


def _looked(task: asyncio.Task[None]) -> None:
    """Say what kept a desk from being looked after; the next beat tries again."""
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("%s was not looked after", task.get_name(), exc_info=error)


def _refusal(command: Command, code: str, message: str) -> Rejected:
    return Rejected(command_id=getattr(command, "command_id", None), code=code, message=message)


registry = Registry()
"""The one of this process."""
