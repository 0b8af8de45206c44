"""The episodes that this process serves: their connected people, control, and local runners.

The process with the annotator's socket drives an episode, under a lease in the database with a fencing token.
Another process takes over when that one dies or loses the socket, or when a person takes control there.
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

from annotation_app.accounts.selectors import pseudonym
from annotation_app.episodes import selectors, services
from annotation_app.episodes.selectors import trajectories
from annotation_app.episodes.services.events import PROCESS_ID, publish_driver_moved
from annotation_app.errors import Conflict, Forbidden
from annotation_app.live.assistants import Assistant
from annotation_app.live.episode_driver import EpisodeDriver, episode_driver_factory
from annotation_app.live.store import ignore_event, is_recorded_command, run_in_db_thread
from protocol.messages.events import (
    Acknowledged,
    Autopilot,
    Command,
    ContinueText,
    Control,
    ControlChanged,
    Event,
    Ping,
    Rejected,
    Snapshot,
    TakeControl,
    TextContinued,
)

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 3.0
"""Seconds between checks of leases, policies and empty rooms."""
RUNNER_LEASE_SECONDS = 10.0
"""How long an episode waits for a process that died on another host."""
CONTROL_GRACE_SECONDS = 20.0
"""How long control is reserved for a person whose socket dropped (seconds)."""
UNSTORED_FIELDS = (
    *("thinking", "thinking_error", "thinking_code", "thinking_policy"),
    *("noting", "noting_error", "noting_policy"),
)
"""The part of an episode's state that only its runner knows."""
PRESENCE_SECONDS = 60.0
"""How long after their last message a person still counts as present (seconds)."""


@dataclass(eq=False, slots=True)
class SocketConnection:
    """One socket of a room. `steers`: its person is the annotator; `send_event` never waits; `check` closes it when
    that person loses access."""

    name: str
    steers: bool
    send_event: Callable[[Event], None]
    refresh: Callable[[], None]
    """Sends a new snapshot."""
    check: Callable[[], Awaitable[None]]
    last_command_at: float = 0.0
    """Time of the last message (loop time)."""
    user_id: int | None = None

    @property
    def assistant(self) -> Assistant | None:
        """The supervisor on this socket; None for the annotator."""
        return Assistant(pseudonym(self.user_id), self.user_id) if self.user_id and not self.steers else None


@dataclass(eq=False, slots=True)
class EpisodeRoom:
    """One episode in this process: its sockets, the one with control and since when that one is gone (loop time), its
    driver if it is local, the task that maintains it at the moment, and whether it has ended."""

    episode_id: UUID
    connections: list[SocketConnection] = field(default_factory=list)
    holder: SocketConnection | None = None
    dropped_at: float | None = None
    driver: EpisodeDriver | None = None
    driver_task: asyncio.Task[None] | None = None
    maintenance_task: asyncio.Task[None] | None = None
    ended: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def control_of(self, connection: SocketConnection) -> Control:
        """Who holds control, as seen from a socket."""
        if self.holder is connection:
            return "mine"
        elsewhere = self.driver is None and not self.ended
        return "other" if elsewhere or self.holder is not None else "nobody"

    def next_annotator(self) -> SocketConnection | None:
        """The annotator's socket that has waited longest."""
        return next((connection for connection in self.connections if connection.steers), None)


def process_is_dead(runner: str) -> bool:
    """Whether a process of this host is known to be dead; False for processes of other hosts."""
    host, pid, _ = runner.rsplit(":", 2)
    if host != socket.gethostname():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return int(pid) == os.getpid()  # this host and PID, but another start: the PID was reused


class RoomRegistry:
    """Every room of this process. Lives in one event loop, from the first socket to `close`."""

    def __init__(self) -> None:
        self._rooms: dict[UUID, EpisodeRoom] = {}
        self._stack = AsyncExitStack()
        self._make_driver: Callable[[UUID, int], EpisodeDriver] | None = None
        self._heartbeat_task: asyncio.Task[None] | None = None

    # --- sockets

    async def connect(self, episode_id: UUID, connection: SocketConnection) -> EpisodeRoom:
        """Add a socket. The annotator's first one gets control."""
        await self._open()
        room = self._rooms.setdefault(episode_id, EpisodeRoom(episode_id))
        room.connections.append(connection)
        self._record_activity(connection)
        if connection.steers:
            await self._ensure_driver(room)
            if room.driver is not None and room.holder is None:
                await self._give_control(room, connection)
        return room

    async def disconnect(self, episode_id: UUID, connection: SocketConnection) -> None:
        """Remove a socket, if present. Control is reserved for a while for a reconnect."""
        room = self._rooms.get(episode_id)
        if room is None or connection not in room.connections:
            return
        room.connections.remove(connection)
        if room.holder is connection:
            room.holder = None
            room.dropped_at = asyncio.get_running_loop().time()
            await self._record_attendance(room, attended=False)

    async def submit(self, room: EpisodeRoom, connection: SocketConnection, command: Command) -> None:
        """Pass a command on, if this socket may send it. The result is sent to the socket."""
        self._record_activity(connection)

        async def reply(event: Event) -> None:
            connection.send_event(event)

        if isinstance(command, Ping):
            return
        if isinstance(command, ContinueText):
            if room.holder is connection and room.driver is not None:
                return room.driver.runner.continuations.request(command, reply)
            return connection.send_event(TextContinued(request=command.request, code="view_only"))
        if isinstance(command, TakeControl):
            await self._take_control(room, connection, command)
        elif room.holder is not connection:
            await self._answer_without_control(room, connection, command)
        elif room.driver is None:
            connection.send_event(_rejection(command, "not_running", "This episode is not running here."))
        else:
            await room.driver.submit(command, reply, connection.assistant)

    async def _answer_without_control(self, room: EpisodeRoom, connection: SocketConnection, command: Command) -> None:
        """Refuse a command from a socket without control, unless it was accepted before and its answer was lost with a
        connection or a process. If the record cannot be read, send nothing; the page retries."""
        name = getattr(command, "command_id", None)
        try:
            recorded = connection.steers and await is_recorded_command(room.episode_id, command)
        except DatabaseError as error:
            logger.warning("whether command %s was taken before is not known: %s", name, error)
            return
        if recorded and name:
            return connection.send_event(Acknowledged(command_id=name))
        if room.ended:
            return connection.send_event(_rejection(command, "not_running", "This episode has ended."))
        connection.send_event(_rejection(command, "view_only", "Somebody else holds control of this episode."))

    def driver_moved(self, episode_id: UUID) -> None:
        """Another process took over an episode."""
        room = self._rooms.get(episode_id)
        if room is not None and room.driver is not None:
            room.driver.stop()
            room.driver = room.holder = room.dropped_at = None
            self._send_control(room)

    async def snapshot(self, room: EpisodeRoom, connection: SocketConnection) -> Snapshot:
        """A snapshot for a socket, with the state of a running inference, which only the runner knows."""
        state = await run_in_db_thread(trajectories.episode_state, episode_id=room.episode_id)
        if room.driver is not None and (live := room.driver.state) is not None and live.version == state.version:
            state = state.model_copy(update={name: getattr(live, name) for name in UNSTORED_FIELDS})
        acts_as = connection.assistant.pseudonym if connection.assistant else None
        return Snapshot(state=state, control=room.control_of(connection), acts_as=acts_as)

    async def close(self) -> None:
        """Stop every runner. The episodes stay as they are, for the next process."""
        tasks = [
            task for task in (self._heartbeat_task, *(room.maintenance_task for room in self._rooms.values())) if task
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        driver_task = [room.driver_task for room in self._rooms.values() if room.driver_task is not None]
        for room in self._rooms.values():
            if room.driver is not None:
                room.driver.stop()
        await asyncio.gather(*driver_task, return_exceptions=True)
        await self._stack.aclose()
        self._rooms.clear()
        self._make_driver = self._heartbeat_task = None

    # --- control

    async def _take_control(self, room: EpisodeRoom, connection: SocketConnection, command: TakeControl) -> None:
        if not connection.steers and not await self._may_assist(room, connection):
            return connection.send_event(_rejection(command, "view_only", "Only the annotator steers this episode."))
        async with room.lock:
            if room.driver is None and not await self._check_ended(room):
                token = await run_in_db_thread(
                    services.runner_take_over,
                    episode_id=room.episode_id,
                    runner=PROCESS_ID,
                    seconds=RUNNER_LEASE_SECONDS,
                )
                await publish_driver_moved(str(room.episode_id))
                self._start(room, token)
        if room.driver is None:
            return connection.send_event(_rejection(command, "not_running", "This episode has ended."))
        await self._give_control(room, connection)
        connection.send_event(Acknowledged(command_id=command.command_id))

    async def _may_assist(self, room: EpisodeRoom, connection: SocketConnection) -> bool:
        """Whether a supervisor may take control because help was requested. Taking control is recorded."""
        if connection.user_id is None:
            return False
        try:
            await run_in_db_thread(
                services.supervisor_control_take, user_id=connection.user_id, episode_id=room.episode_id
            )
        except (Conflict, Forbidden):
            return False
        return True

    async def _give_control(self, room: EpisodeRoom, connection: SocketConnection) -> None:
        room.holder, room.dropped_at = connection, None
        self._send_control(room)
        await self._record_attendance(room, attended=True)

    def _send_control(self, room: EpisodeRoom) -> None:
        holder = room.holder.name if room.holder else ""
        for connection in room.connections:
            connection.send_event(ControlChanged(control=room.control_of(connection), holder=holder))

    async def _record_attendance(self, room: EpisodeRoom, *, attended: bool) -> None:
        if room.driver is not None:
            await run_in_db_thread(
                services.runner_attendance_set, episode_id=room.episode_id, token=room.driver.token, attended=attended
            )

    # --- drivers

    async def _check_ended(self, room: EpisodeRoom) -> bool:
        status = await run_in_db_thread(selectors.episode_status, episode_id=room.episode_id)
        room.ended = status in selectors.ENDED_STATUSES
        return room.ended

    async def _ensure_driver(self, room: EpisodeRoom) -> None:
        """Drive the episode from this process, unless it has ended or another process holds it."""
        async with room.lock:
            if room.driver is not None or room.ended or await self._check_ended(room):
                return
            token = await run_in_db_thread(
                services.runner_acquire,
                episode_id=room.episode_id,
                runner=PROCESS_ID,
                seconds=RUNNER_LEASE_SECONDS,
                dead=process_is_dead,
            )
            if token is not None:
                self._start(room, token)

    def _start(self, room: EpisodeRoom, token: int) -> None:
        assert self._make_driver is not None, "somebody sits here, so the registry is open"
        driver = self._make_driver(room.episode_id, token)
        room.driver = driver
        room.driver_task = asyncio.create_task(driver.run(), name=f"episode-{room.episode_id}")
        room.driver_task.add_done_callback(lambda task: self._driver_ended(room, driver, task))

    def _driver_ended(self, room: EpisodeRoom, driver: EpisodeDriver, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("the runner of episode %s broke", room.episode_id, exc_info=error)
        if room.driver is driver:
            room.ended = driver.state is not None and driver.state.status in selectors.ENDED_STATUSES
            room.driver = room.holder = room.dropped_at = None
            self._send_control(room)

    # --- heartbeat

    async def _open(self) -> None:
        if self._make_driver is None:
            self._make_driver = await self._stack.enter_async_context(episode_driver_factory())
            self._start_heartbeat()

    def _start_heartbeat(self) -> None:
        self._heartbeat_task = asyncio.create_task(self._run_heartbeat(), name="registry")
        self._heartbeat_task.add_done_callback(self._heartbeat_ended)

    def _heartbeat_ended(self, task: asyncio.Task[None]) -> None:
        """Restart the heartbeat whatever stopped it. Without it, every lease of this process would expire."""
        if not task.cancelled():
            logger.error("the periodic check failed; the next one follows", exc_info=task.exception())
            self._start_heartbeat()

    async def _run_heartbeat(self) -> None:
        """Renew this process's leases and maintain every room, for as long as the process lives."""
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            try:
                renewed = await run_in_db_thread(
                    services.runners_renew, runner=PROCESS_ID, seconds=RUNNER_LEASE_SECONDS
                )
            except DatabaseError as error:
                logger.warning("the database did not answer; trying again: %s", error)
                continue
            for room in tuple(self._rooms.values()):
                if room.driver is not None and room.episode_id not in renewed:
                    self.driver_moved(room.episode_id)
                if room.maintenance_task is None or room.maintenance_task.done():
                    room.maintenance_task = asyncio.create_task(self._maintain(room), name=f"desk-{room.episode_id}")
                    room.maintenance_task.add_done_callback(_log_maintenance_failure)

    async def _maintain(self, room: EpisodeRoom) -> None:
        """Maintain one room. A slow machine or database delays no other room."""
        if room.driver is not None:
            await room.driver.renew_lease()  # first, so that the machine stays ours whatever else fails
        for connection in tuple(room.connections):
            await connection.check()
        if room.driver is not None:
            await room.driver.refresh()
            await self._hand_over_control(room)
        elif (next_holder := room.next_annotator()) is not None:
            await self._ensure_driver(room)
            if room.driver is not None:
                await self._give_control(room, next_holder)
        elif not room.connections:
            del self._rooms[room.episode_id]
        await self._renew_for_presence(room)

    async def _hand_over_control(self, room: EpisodeRoom) -> None:
        """Pass control on if its holder did not come back. A policy does not act unwatched."""
        now = asyncio.get_running_loop().time()
        if room.dropped_at is None or now - room.dropped_at < CONTROL_GRACE_SECONDS:
            return
        room.dropped_at = None
        if (next_holder := room.next_annotator()) is not None:
            return await self._give_control(room, next_holder)
        driver = room.driver
        if driver is not None and driver.state is not None and driver.state.autopilot:
            await driver.runner.submit(
                Autopilot(command_id=f"unwatched-{secrets.token_hex(8)}", on=False), ignore_event
            )

    async def _renew_for_presence(self, room: EpisodeRoom) -> None:
        """Extend the task's lease for a present annotator. Their page shows the new end."""
        holder, now = room.holder, asyncio.get_running_loop().time()
        if holder is None or now - holder.last_command_at > PRESENCE_SECONDS:
            return
        if await run_in_db_thread(services.lease_renew, episode_id=room.episode_id):
            for connection in room.connections:
                connection.refresh()

    def _record_activity(self, connection: SocketConnection) -> None:
        connection.last_command_at = asyncio.get_running_loop().time()


def _log_maintenance_failure(task: asyncio.Task[None]) -> None:
    """Log why maintenance of a room failed. The next heartbeat retries."""
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("%s was not looked after", task.get_name(), exc_info=error)


def _rejection(command: Command, code: str, message: str) -> Rejected:
    return Rejected(command_id=getattr(command, "command_id", None), code=code, message=message)


registry = RoomRegistry()
"""The registry of this process."""
