"""The desk's socket: parses commands and passes them on, passes events down; no logic."""

import asyncio
import re
from collections import deque
from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID

from channels.generic.websocket import AsyncWebsocketConsumer
from pydantic import ValidationError

from annotation_app.accounts.selectors import session_user
from annotation_app.episodes.publish import PROCESS, Message, group_of, listening
from annotation_app.episodes.selectors import episode_access
from annotation_app.errors import Forbidden, NotFound
from annotation_app.live.command_flow import AGAIN, PATIENCE, Bucket, CommandOrder
from annotation_app.live.registry import Desk, Seat, registry
from annotation_app.live.threads import in_database
from annotation_app.trace import traced
from vocabulary.messages import COMMAND, Command, Event, Hurry, Ping, Pong, Rejected, TakeControl

NOT_SIGNED_IN, FORBIDDEN, NO_EPISODE, FLOODING, TOO_SLOW = 4401, 4403, 4404, 4429, 1013
MESSAGE_LIMIT = 2 * 1024 * 1024
"""Longest command (characters): the largest file one action may write, and room for its escapes."""
OUTBOX = 1_024
"""Events that may wait for a slow reader before it must connect again."""
OVERTAKES = "An earlier command of this page found no room; it comes first."
COMMAND_ID = re.compile(r'"command_id"\s*:\s*"([A-Za-z0-9_-]{8,64})"')


class EpisodeConsumer(AsyncWebsocketConsumer):
    """One socket of one episode."""

    desk: Desk | None = None

    async def __call__(self, *connection: Any) -> None:
        """However a socket ends, by an exception too, nothing of it stays behind."""
        self.leaving = AsyncExitStack()
        async with self.leaving:
            await super().__call__(*connection)

    async def connect(self) -> None:
        await self.accept()
        user = self.scope["user"]
        if user is None or not user.is_authenticated:
            return await self.close(NOT_SIGNED_IN)
        self.episode_id: UUID = self.scope["url_route"]["kwargs"]["episode_id"]
        try:
            access = await in_database(episode_access, user=user, episode_id=self.episode_id)
        except NotFound:
            return await self.close(NO_EPISODE)
        except Forbidden:
            return await self.close(FORBIDDEN)
        self.seat = Seat(
            name=user.username, steers=access.steers, tell=self._tell, refresh=self._refresh, check=self._check
        )
        await self._sit()

    async def _check(self) -> None:
        """Send somebody away who signed out or lost the right to sit here."""
        code = await in_database(
            _sent_away, session=self.scope["session"].session_key, seat=self.seat, episode_id=self.episode_id
        )
        if code is not None:
            self.desk = None
            await self.leaving.aclose()
            await self.close(code)

    async def _sit(self) -> None:
        """Hear first and read then: an event in between is an old one, never a lost one."""
        self.version = 0
        self.bucket, self.order = Bucket(), CommandOrder()
        self.ending: int | None = None
        self.outbox: deque[str | None] = deque()
        self.stirred = asyncio.Event()
        group = group_of(str(self.episode_id))
        self.leaving.enter_context(listening(str(self.episode_id), self._hear))
        self.leaving.push_async_callback(self.channel_layer.group_discard, group, self.channel_name)
        await self.channel_layer.group_add(group, self.channel_name)
        self._refresh()
        self.leaving.push_async_callback(registry.leave, self.episode_id, self.seat)
        self.desk = await registry.sit(self.episode_id, self.seat)
        writing = asyncio.create_task(self._write(self.desk))
        self.leaving.callback(writing.cancel)

    # --- up

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self.desk is None or self.ending is not None:
            return
        now = asyncio.get_running_loop().time()
        if not self.bucket.take(now):
            return self._flooded(text_data)
        command = self._parse(text_data)
        if isinstance(command, Rejected):
            return self._tell(command)
        if isinstance(command, Ping):
            self._tell(Pong(at=command.at, version=self.version))
        elif not isinstance(command, Hurry | TakeControl) and not self.order.admits(command.command_id, now):
            return self._tell(Rejected(command_id=command.command_id, code="queue_full", message=OVERTAKES))
        with traced(getattr(command, "command_id", None)):
            await registry.submit(self.desk, self.seat, command)

    def _parse(self, text: str | None) -> Command | Rejected:
        if text is None or len(text) > MESSAGE_LIMIT:
            return Rejected(command_id=None, code="invalid", message="This is no command: binary, or too long.")
        try:
            return COMMAND.validate_json(text, strict=True)
        except ValidationError as error:
            return Rejected(command_id=_name_of(text), code="invalid", message=_what_is_wrong(error))

    def _flooded(self, text: str | None) -> None:
        """Refuse a command by its name; after too many the socket ends, once what waits has been sent."""
        name = _name_of(text[:MESSAGE_LIMIT]) if text else None
        self._tell(Rejected(command_id=name, code="flooding", message="Too many commands; slow down."))
        if self.bucket.refused > PATIENCE:
            self.ending = FLOODING
            self.stirred.set()

    # --- down

    def _tell(self, event: Event) -> None:
        if isinstance(event, Rejected) and event.code in AGAIN:
            self.order.refuse(event.command_id, asyncio.get_running_loop().time())
        self._put(event.model_dump_json())

    def _refresh(self) -> None:
        self._put(None)

    def _hear(self, text: str, version: int | None) -> None:
        self.version = max(self.version, version or 0)
        self._put(text)

    def _put(self, text: str | None) -> None:
        if len(self.outbox) < OUTBOX:
            self.outbox.append(text)
        self.stirred.set()

    async def _write(self, desk: Desk) -> None:
        """Send what waits, in order; None stands for a snapshot of that moment."""
        while len(self.outbox) < OUTBOX:
            while self.outbox:
                text = self.outbox.popleft()
                await self.send(text if text is not None else await self._snapshot(desk))
            if self.ending is not None:
                return await self.close(self.ending)
            self.stirred.clear()
            await self.stirred.wait()
        await self.close(TOO_SLOW)

    async def _snapshot(self, desk: Desk) -> str:
        snapshot = await registry.snapshot(desk, self.seat)
        self.version = max(self.version, snapshot.state.version)
        return snapshot.model_dump_json()

    # --- from other processes

    async def episode_event(self, message: Message) -> None:
        """An event another process published; our own was heard directly."""
        if message["origin"] != PROCESS:
            self._hear(message["text"], message["version"])

    async def episode_moved(self, message: dict[str, Any]) -> None:
        """Another process drives this episode now."""
        if message["origin"] != PROCESS:
            registry.moved(self.episode_id)


def _name_of(text: str) -> str | None:
    """The `command_id` of a text that is not read as a command."""
    named = COMMAND_ID.search(text)
    return named and named[1]


def _sent_away(session: str, seat: Seat, episode_id: UUID) -> int | None:
    """The code to close with where this session's person may not have this seat any more."""
    user = session_user(session)
    if user is None:
        return NOT_SIGNED_IN
    try:
        access = episode_access(user=user, episode_id=episode_id)
    except (NotFound, Forbidden):
        return FORBIDDEN
    return FORBIDDEN if seat.steers and not access.steers else None


def _what_is_wrong(error: ValidationError) -> str:
    """The first fault, by its place, without repeating the input."""
    first = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]
