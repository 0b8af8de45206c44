"""The WebSocket of the annotation page. It parses commands, passes them on, and sends events; it holds no logic."""

import asyncio
import re
from collections import deque
from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID

from channels.generic.websocket import AsyncWebsocketConsumer
from pydantic import ValidationError

from annotation_app.accounts.selectors import session_user
from annotation_app.audit.sources import source_begin
from annotation_app.episodes.selectors import episode_access
from annotation_app.episodes.services.events import PROCESS_ID, ChannelMessage, channel_group_name, subscription
from annotation_app.errors import Forbidden, NotFound
from annotation_app.live.rooms import EpisodeRoom, SocketConnection, registry
from annotation_app.live.store import run_in_db_thread
from annotation_app.trace import trace_context
from protocol.messages.events import (
    COMMAND_ADAPTER,
    Command,
    ContinueText,
    Event,
    Ping,
    Pong,
    Rejected,
    SkipSettle,
    TakeControl,
)

NOT_SIGNED_IN, FORBIDDEN, EPISODE_NOT_FOUND, FLOODING, TOO_SLOW = 4401, 4403, 4404, 4429, 1013
MESSAGE_LIMIT_CHARACTERS = 2 * 1024 * 1024
"""Longest command (characters): the largest file that one action may write, plus room for its escapes."""
OUTBOX_LIMIT = 1_024
"""Events that may be queued for a slow reader before it must reconnect."""
OUT_OF_ORDER_MESSAGE = "An earlier command of this page found no room; it comes first."
COMMAND_ID_PATTERN = re.compile(r'"command_id"\s*:\s*"([A-Za-z0-9_-]{8,64})"')


class EpisodeConsumer(AsyncWebsocketConsumer):
    """One socket of one episode."""

    room: EpisodeRoom | None = None

    async def __call__(self, *connection: Any) -> None:
        """Serve the socket. Cleanup runs however it ends, including by an exception."""
        self.exit_stack = AsyncExitStack()
        source_begin("browser")
        async with self.exit_stack:
            await super().__call__(*connection)

    async def connect(self) -> None:
        await self.accept()
        user = self.scope["user"]
        if user is None or not user.is_authenticated:
            return await self.close(NOT_SIGNED_IN)
        self.episode_id: UUID = self.scope["url_route"]["kwargs"]["episode_id"]
        try:
            access = await run_in_db_thread(episode_access, user=user, episode_id=self.episode_id)
        except NotFound:
            return await self.close(EPISODE_NOT_FOUND)
        except Forbidden:
            return await self.close(FORBIDDEN)
        self.connection = SocketConnection(
            name=user.name,
            steers=access.steers,
            send_event=self._send_event,
            refresh=self._send_snapshot,
            check=self._close_if_revoked,
            user_id=user.pk,
        )
        await self._join()

    async def _close_if_revoked(self) -> None:
        """Close the socket of a person who signed out or lost access to this episode."""
        code = await run_in_db_thread(
            _revocation_code,
            session=self.scope["session"].session_key,
            connection=self.connection,
            episode_id=self.episode_id,
        )
        if code is not None:
            self.room = None
            await self.exit_stack.aclose()
            await self.close(code)

    async def _join(self) -> None:
        """Subscribe before reading the snapshot, so that an event in between is a duplicate and never lost."""
        self.version = 0
        self.bucket, self.order = TokenBucket(), CommandOrder()
        self.close_code: int | None = None
        self.outbox: deque[str | None] = deque()
        self.outbox_ready = asyncio.Event()
        group = channel_group_name(str(self.episode_id))
        self.exit_stack.enter_context(subscription(str(self.episode_id), self._deliver))
        self.exit_stack.push_async_callback(self.channel_layer.group_discard, group, self.channel_name)
        await self.channel_layer.group_add(group, self.channel_name)
        self._send_snapshot()
        self.exit_stack.push_async_callback(registry.disconnect, self.episode_id, self.connection)
        self.room = await registry.connect(self.episode_id, self.connection)
        writer = asyncio.create_task(self._write(self.room))
        self.exit_stack.callback(writer.cancel)

    # --- from the client

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self.room is None or self.close_code is not None:
            return
        now = asyncio.get_running_loop().time()
        if not self.bucket.take(now):
            return self._reject_flood(text_data)
        command = self._parse(text_data)
        if isinstance(command, Rejected):
            return self._send_event(command)
        if isinstance(command, Ping):
            self._send_event(Pong(at=command.at, version=self.version))
        elif not isinstance(command, SkipSettle | TakeControl | ContinueText) and not self.order.is_in_order(
            command.command_id, now
        ):
            return self._send_event(
                Rejected(command_id=command.command_id, code="queue_full", message=OUT_OF_ORDER_MESSAGE)
            )
        with trace_context(getattr(command, "command_id", None)):
            await registry.submit(self.room, self.connection, command)

    def _parse(self, text: str | None) -> Command | Rejected:
        if text is None or len(text) > MESSAGE_LIMIT_CHARACTERS:
            return Rejected(command_id=None, code="invalid", message="This is no command: binary, or too long.")
        try:
            return COMMAND_ADAPTER.validate_json(text, strict=True)
        except ValidationError as error:
            return Rejected(command_id=_command_id_of(text), code="invalid", message=_validation_message(error))

    def _reject_flood(self, text: str | None) -> None:
        """Refuse a command by its name. After too many refusals, flush the queue and close the socket."""
        name = _command_id_of(text[:MESSAGE_LIMIT_CHARACTERS]) if text else None
        self._send_event(Rejected(command_id=name, code="flooding", message="Too many commands; slow down."))
        if self.bucket.rejected > MAX_REJECTIONS:
            self.close_code = FLOODING
            self.outbox_ready.set()

    # --- to the client

    def _send_event(self, event: Event) -> None:
        if isinstance(event, Rejected) and event.code in RETRYABLE_CODES:
            self.order.hold_back(event.command_id, asyncio.get_running_loop().time())
        self._put(event.model_dump_json())

    def _send_snapshot(self) -> None:
        self._put(None)

    def _deliver(self, text: str | None, version: int | None) -> None:
        """Send an event. If only a version arrives, send a snapshot if that version is new."""
        if text is None and (version or 0) <= self.version:
            return
        self.version = max(self.version, version or 0)
        self._put(text)

    def _put(self, text: str | None) -> None:
        if len(self.outbox) < OUTBOX_LIMIT:
            self.outbox.append(text)
        self.outbox_ready.set()

    async def _write(self, room: EpisodeRoom) -> None:
        """Send queued events in order. None stands for a snapshot of that moment."""
        while len(self.outbox) < OUTBOX_LIMIT:
            while self.outbox:
                text = self.outbox.popleft()
                await self.send(text if text is not None else await self._snapshot(room))
            if self.close_code is not None:
                return await self.close(self.close_code)
            self.outbox_ready.clear()
            await self.outbox_ready.wait()
        await self.close(TOO_SLOW)

    async def _snapshot(self, room: EpisodeRoom) -> str:
        snapshot = await registry.snapshot(room, self.connection)
        self.version = max(self.version, snapshot.state.version)
        return snapshot.model_dump_json()

    # --- from other processes

    async def episode_event(self, message: ChannelMessage) -> None:
        """An event that another process published. Events of this process are delivered directly."""
        if message["origin"] != PROCESS_ID:
            self._deliver(message["text"], message["version"])

    async def episode_moved(self, message: dict[str, Any]) -> None:
        """Another process now drives this episode."""
        if message["origin"] != PROCESS_ID:
            registry.driver_moved(self.episode_id)


def _command_id_of(text: str) -> str | None:
    """The `command_id` of a text that is not parsed as a command."""
    named = COMMAND_ID_PATTERN.search(text)
    return named and named[1]


def _revocation_code(session: str, connection: SocketConnection, episode_id: UUID) -> int | None:
    """The code to close with if the session's user has lost access to this episode."""
    user = session_user(session)
    if user is None:
        return NOT_SIGNED_IN
    try:
        access = episode_access(user=user, episode_id=episode_id)
    except (NotFound, Forbidden):
        return FORBIDDEN
    return FORBIDDEN if connection.steers and not access.steers else None


def _validation_message(error: ValidationError) -> str:
    """The first validation error, by its location, without repeating the input."""
    first = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]


COMMAND_BURST, COMMANDS_PER_SECOND, MAX_REJECTIONS = 200, 100, 1_000
"""Burst size and rate (commands a second). After this many refusals without a quiet period the socket is closed."""


RETRYABLE_CODES = frozenset({"flooding", "queue_full"})
"""Refusals for lack of capacity. The page sends these commands again."""


RESEND_TIMEOUT_SECONDS = 10.0
"""A refused command that is not resent within this time no longer blocks others."""


class TokenBucket:
    """Rate limit: how many commands a socket may still send."""

    def __init__(self) -> None:
        self._tokens, self._at, self.rejected = float(COMMAND_BURST), 0.0, 0

    def take(self, now: float) -> bool:
        """Whether one more command is allowed (`now` in seconds)."""
        self._tokens, self._at = min(COMMAND_BURST, self._tokens + (now - self._at) * COMMANDS_PER_SECOND), now
        if self._tokens < 1:
            self.rejected += 1
            return False
        if self._tokens > COMMAND_BURST / 2:
            self.rejected = 0
        self._tokens -= 1
        return True


class CommandOrder:
    """Keeps commands in order. After a command is refused for lack of capacity, all later ones are refused until it is
    resent."""

    def __init__(self) -> None:
        self._first: str | None = None
        self._until = 0.0

    def hold_back(self, command_id: str | None, now: float) -> None:
        """Note that a command was refused for lack of capacity (`now` in seconds)."""
        if self._first is None:
            self._first, self._until = command_id, now + RESEND_TIMEOUT_SECONDS

    def is_in_order(self, command_id: str | None, now: float) -> bool:
        """Whether this command overtakes no command that was refused before it."""
        if self._first in (None, command_id) or now >= self._until:
            self._first = None
            return True
        return False
