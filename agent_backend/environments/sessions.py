"""The sessions of a server: their limit, their owners, and their idle timeout."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from agent_backend.environments.errors import EnvironmentRefusal
from agent_backend.environments.sandboxes import SandboxRequest, SandboxSession
from agent_backend.environments.session import DEFAULT_MACHINE_WAIT_SECONDS, EnvironmentSession
from agent_backend.environments.task_catalog import TaskCatalog
from vm_bridge.api.client import BridgeClient

logger = logging.getLogger(__name__)

DEFAULT_IDLE_SECONDS = 600.0
SWEEPS_PER_IDLE_TIME = 4


class SessionRegistry:
    """A bounded number of sessions and sandboxes. Each ends after `idle_seconds` idle, and gives its machine back."""

    def __init__(
        self,
        bridge: BridgeClient,
        catalog: TaskCatalog,
        *,
        max_sessions: int,
        idle_seconds: float = DEFAULT_IDLE_SECONDS,
        machine_wait_seconds: float = DEFAULT_MACHINE_WAIT_SECONDS,
    ) -> None:
        self.catalog, self.max_sessions, self.idle_seconds = catalog, max_sessions, idle_seconds
        self._bridge, self._machine_wait_seconds = bridge, machine_wait_seconds
        self._sessions: dict[str, EnvironmentSession] = {}
        self._sandboxes: dict[str, SandboxSession] = {}

    @property
    def active(self) -> int:
        """How many sessions and sandboxes there are."""
        return len(self._sessions) + len(self._sandboxes)

    def open(self, principal: str) -> EnvironmentSession:
        """A new session. Raises EnvironmentRefusal (`capacity_reached`)."""
        self._admit()
        session = EnvironmentSession(
            self._bridge, self.catalog, principal, machine_wait_seconds=self._machine_wait_seconds
        )
        self._sessions[session.id] = session
        return session

    async def open_sandbox(self, sandbox_id: str, principal: str, request: SandboxRequest) -> SandboxSession:
        """Find or create the sandbox with this id.

        Raises EnvironmentRefusal: `capacity_reached`, `no_machine`, `session_closed` if it was closed meanwhile,
        `unknown_session` if it belongs to another principal.
        """
        if sandbox_id in self._sandboxes:
            sandbox = self.find_sandbox(sandbox_id, principal)
        else:
            self._admit()
            sandbox = SandboxSession(
                self._bridge, sandbox_id, principal, request, machine_wait_seconds=self._machine_wait_seconds
            )
            self._sandboxes[sandbox_id] = sandbox
        try:
            await sandbox.open()
        except BaseException:
            await self.close_sandbox(sandbox_id, principal)
            raise
        return sandbox

    def find_sandbox(self, sandbox_id: str, principal: str) -> SandboxSession:
        """A sandbox of this principal. Raises EnvironmentRefusal (`unknown_session`)."""
        sandbox = self._sandboxes.get(sandbox_id)
        if sandbox is None or sandbox.principal != principal:
            raise EnvironmentRefusal("unknown_session", "you have no such sandbox, or it has ended")
        return sandbox

    async def close_sandbox(self, sandbox_id: str, principal: str) -> None:
        """End a sandbox of this principal and give its machine back. Idempotent."""
        with suppress(EnvironmentRefusal):
            sandbox = self.find_sandbox(sandbox_id, principal)
            del self._sandboxes[sandbox_id]
            await sandbox.close()

    def _admit(self) -> None:
        """Raises EnvironmentRefusal (`capacity_reached`)."""
        if self.active >= self.max_sessions:
            raise EnvironmentRefusal("capacity_reached", f"all {self.max_sessions} sessions are in use")

    def find(self, session_id: str, principal: str) -> EnvironmentSession:
        """A session of this principal. Raises EnvironmentRefusal (`unknown_session`)."""
        session = self._sessions.get(session_id)
        if session is None or session.principal != principal:
            raise EnvironmentRefusal("unknown_session", "you have no such session, or it has ended")
        return session

    @asynccontextmanager
    async def attach(self, session_id: str | None, principal: str) -> AsyncIterator[EnvironmentSession]:
        """A session for one socket. A new session ends with the socket; a named one stays until it is closed.

        Raises EnvironmentRefusal: `capacity_reached`, `unknown_session`, `session_attached`.
        """
        session = self.open(principal) if session_id is None else self.find(session_id, principal)
        if session.attached:
            raise EnvironmentRefusal("session_attached", "another socket uses this session")
        session.attached = True
        try:
            yield session
        finally:
            session.attached = False
            if session_id is None:
                await self.close(session)

    async def close(self, session: EnvironmentSession) -> None:
        """End a session and give its machine back. Idempotent."""
        self._sessions.pop(session.id, None)
        await session.close()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Ends idle sessions while the block runs, and all of them after it."""
        sweeping = asyncio.create_task(self._sweep())
        try:
            yield
        finally:
            sweeping.cancel()
            await asyncio.gather(sweeping, return_exceptions=True)
            for session in tuple(self._sessions.values()):
                await self.close(session)
            for sandbox in tuple(self._sandboxes.values()):
                await self.close_sandbox(sandbox.id, sandbox.principal)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(self.idle_seconds / SWEEPS_PER_IDLE_TIME)
            now = time.monotonic()
            for session in tuple(self._sessions.values()):
                if not session.busy and now - session.last_used > self.idle_seconds:
                    logger.info("session %s was idle for %g s and ends", session.id, self.idle_seconds)
                    await self.close(session)
            for sandbox in tuple(self._sandboxes.values()):
                if not sandbox.busy and now - sandbox.last_used > self.idle_seconds:
                    logger.info("sandbox %s was idle for %g s and ends", sandbox.id, self.idle_seconds)
                    await self.close_sandbox(sandbox.id, sandbox.principal)
