"""A web app client for the simulated annotator: sign-in, one task at a time, and the episode's WebSocket."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any

import httpx
from websockets import Origin
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from agent_backend.errors import WebAppRejected, WebAppUnavailable
from protocol.messages.events import (
    EVENT_ADAPTER,
    Acknowledged,
    Command,
    ControlChanged,
    EpisodeChanged,
    EpisodeState,
    Event,
    Pong,
    ProposalsReady,
    ProposalsThinking,
    ProposalsWithdrawn,
    Rejected,
    Snapshot,
    StepAdded,
    StepStarted,
)

WAIT_TIMEOUT_SECONDS = 300.0
"""Timeout for an expected event (seconds)."""
RECONNECT_SECONDS = 0.2
"""Delay between two tries to reconnect (seconds)."""
MAX_RECONNECTS = 50
"""Maximum tries to connect in a row."""


class WebAppClient:
    """A signed-in person's session. Raises WebAppRejected if the app refuses, WebAppUnavailable without an answer."""

    def __init__(self, web: str, *, http: httpx.AsyncClient | None = None) -> None:
        self._http = http or httpx.AsyncClient(base_url=web, timeout=60, headers={"Origin": web})
        self.web = web
        self._csrf = ""

    async def __aenter__(self) -> "WebAppClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def sign_in(self, user: str, password: str) -> None:
        """Begin a session."""
        self._csrf = (await self._request("GET", "/api/session"))["csrf"]
        session = await self._request("POST", "/api/session", {"username": user, "password": password})
        self._csrf = session["csrf"]

    async def pool(self, name: str) -> int:
        """The id of a pool that this person may work in. Raises WebAppRejected if there is none of this name."""
        queue = await self._request("GET", "/api/queue")
        found = next((pool["id"] for pool in queue["pools"] if pool["name"] == name), None)
        if found is None:
            raise WebAppRejected("no_such_pool", f"there is no pool {name!r} to work in")
        return int(found)

    async def next_episode(self, pool: int) -> str | None:
        """The id of this person's open episode, else of a newly claimed one; None if nothing waits."""
        answer = await self._request("POST", "/api/queue/next", {"pool_id": pool})
        return None if answer["episode_id"] is None else str(answer["episode_id"])

    @contextlib.asynccontextmanager
    async def socket(self, episode: str) -> AsyncIterator[ClientConnection]:
        """One WebSocket connection to the episode."""
        cookies = "; ".join(f"{name}={value}" for name, value in self._http.cookies.items())
        address = f"{self.web.replace('http', 'ws', 1)}/ws/episodes/{episode}/"
        async with connect(
            address, additional_headers={"Cookie": cookies}, origin=Origin(self.web), max_size=None, proxy=None
        ) as socket:
            yield socket

    async def _request(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {"X-CSRFToken": self._csrf}
        try:
            answer = await self._http.request(method, path, json=body, headers=headers)
        except httpx.HTTPError as error:
            raise WebAppUnavailable(f"the web app does not answer: {error}") from error
        if answer.is_error:
            fields = answer.json() if answer.headers.get("content-type", "").startswith("application/json") else {}
            raise WebAppRejected(fields.get("code", f"status_{answer.status_code}"), fields.get("message", path))
        return answer.json() if answer.content else None


class EpisodeConnection:
    """The state of one episode, built from its events, and a way to send commands. After a broken socket the connection
    is reopened and an unacknowledged command is resent. The server runs it once."""

    def __init__(self, account: WebAppClient, episode: str) -> None:
        self._account = account
        self._episode = episode
        self._stack: contextlib.AsyncExitStack | None = None
        self._socket: ClientConnection | None = None
        self._unacknowledged: Command | None = None
        self._resend_pending = False
        """Whether to resend the unacknowledged command when the new socket accepts commands."""
        self._has_control = False
        self._acknowledged_id: str | None = None
        self._state: EpisodeState | None = None

    async def __aenter__(self) -> "EpisodeConnection":
        await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    @property
    def state(self) -> EpisodeState:
        """The last state that the server sent."""
        assert self._state is not None, "an open desk has been told"
        return self._state

    @property
    def has_control(self) -> bool:
        """Whether the server accepts commands from this socket now."""
        return self._has_control and self.state.status == "running" and self.state.pending is None

    async def until(self, true: Callable[[], bool], *, timeout: float = WAIT_TIMEOUT_SECONDS) -> None:
        """Handle events until `true()` holds. Raises TimeoutError, and WebAppUnavailable if the socket cannot be
        opened."""
        async with asyncio.timeout(timeout):
            while not true():
                await self._listen()

    async def send(self, command: Command) -> None:
        """Send a command and wait for its acknowledgement. Raises WebAppRejected with its code, and what `until`
        raises."""
        self._unacknowledged, self._acknowledged_id, self._resend_pending = command, None, False
        await self._transmit(command)
        name = getattr(command, "command_id", None)
        try:
            await self.until(lambda: self._acknowledged_id == name)
        finally:
            self._unacknowledged = None

    async def _listen(self) -> None:
        try:
            assert self._socket is not None
            event = EVENT_ADAPTER.validate_json(await self._socket.recv())
        except (OSError, WebSocketException):
            await self._open()
            self._resend_pending = self._unacknowledged is not None
            await self._resend()
            return
        version = getattr(event, "version", None)
        if not isinstance(event, Snapshot | Pong) and version is not None and version > self.state.version + 1:
            await self._open()  # an event was missed
            return
        self._handle_event(event)
        await self._resend()

    async def _resend(self) -> None:
        """Send the unacknowledged command again after a reconnect.

        If a server process died, the next one accepts no commands until the old lease has expired. For an episode that
        is over it still returns a command's result.
        """
        accepts_commands = self._has_control or self.state.status != "running"
        if self._resend_pending and accepts_commands and self._unacknowledged is not None:
            self._resend_pending = False
            await self._transmit(self._unacknowledged)

    async def _transmit(self, command: Command) -> None:
        assert self._socket is not None
        with contextlib.suppress(OSError, WebSocketException):  # the next `_listen` reconnects
            await self._socket.send(command.model_dump_json())

    async def _open(self) -> None:
        await self._close()
        last: Exception | None = None
        for _ in range(MAX_RECONNECTS):
            stack = contextlib.AsyncExitStack()
            try:
                self._socket = await stack.enter_async_context(self._account.socket(self._episode))
                self._stack, self._state = stack, None
                while self._state is None:
                    self._handle_event(EVENT_ADAPTER.validate_json(await self._socket.recv()))
                return
            except (OSError, WebSocketException) as error:
                await stack.aclose()
                last = error
                await asyncio.sleep(RECONNECT_SECONDS)
        raise WebAppUnavailable(f"the desk of {self._episode} cannot be opened: {last}")

    async def _close(self) -> None:
        if self._stack is not None:
            with contextlib.suppress(OSError, WebSocketException):
                await self._stack.aclose()
        self._stack = self._socket = None

    def _handle_event(self, event: Event) -> None:
        match event:
            case Snapshot():
                self._state, self._has_control = event.state, event.control == "mine"
            case ControlChanged():
                self._has_control = event.control == "mine"
            case Acknowledged():
                self._acknowledged_id = event.command_id
            case Rejected():
                if self._unacknowledged is not None and event.command_id == getattr(
                    self._unacknowledged, "command_id", None
                ):
                    raise WebAppRejected(event.code, event.message)
            case _ if self._state is not None:
                self._state = apply_event(self._state, event)
            case _:
                pass


def apply_event(state: EpisodeState, event: Event) -> EpisodeState:
    """The state after an event, as far as an annotator needs it. Outdated events change nothing."""
    version = getattr(event, "version", None)
    if version is not None and version <= state.version:
        return state
    fields: dict[str, Any] = {} if version is None else {"version": version}
    match event:
        case StepStarted():
            fields |= {"pending": event.pending}
        case StepAdded():
            fields |= {"steps": (*state.steps, event.step), "pending": None, "proposals": (), "thinking": "waiting"}
            fields |= {} if event.step.after is None else {"observation": event.step.after}
        case ProposalsReady():
            fields |= {"proposals": event.proposals, "thinking": "ready"}
        case ProposalsWithdrawn():
            fields |= {"proposals": (), "thinking": "waiting"}
            fields |= {} if event.observation is None else {"observation": event.observation}
        case ProposalsThinking():
            fields |= {"thinking": event.thinking}
        case EpisodeChanged():
            changed = {
                name: getattr(event, name) for name in EpisodeChanged.model_fields if name in EpisodeState.model_fields
            }
            fields |= {name: value for name, value in changed.items() if value is not None}
        case _:
            pass
    return state.model_copy(update=fields)
