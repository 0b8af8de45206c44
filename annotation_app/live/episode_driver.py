"""Connects an episode's runner with its store, its machine and its policy, in this process."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from uuid import UUID, uuid4

from django.conf import settings
from django.db import Error as DatabaseError

from agent_backend.episode.runner import EpisodeRunner
from agent_backend.errors import EpisodeFenced
from agent_backend.interfaces import Emit, EpisodeCommand, PassControl, Policy
from agent_backend.policy.expert import ExpertPolicy
from annotation_app.episodes import selectors, services
from annotation_app.episodes.services.events import publish_live
from annotation_app.live.assistants import Assistant, AssistantCommands
from annotation_app.live.policy_clients import PolicyClients
from annotation_app.live.secrets import EpisodeSecrets, SecretMaskingMachine
from annotation_app.live.store import DjangoStore, ignore_event, run_in_db_thread
from annotation_app.live.twin_machines import TwinAllocator
from annotation_app.policies.expert import EXPERT_URL
from annotation_app.policies.selectors import PolicyServer
from annotation_app.recordings.services import recording_register
from annotation_app.tasks.selectors import credentials_of
from protocol.messages.events import EpisodeState, Event, Rejected, WriteThought
from protocol.trajectory.mcp_servers import McpServers, add_mcp_servers, fill_server_secrets
from protocol.trajectory.observations import Observation
from protocol.trajectory.tasks import Task
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError, MachineGone, StaleLease
from vm_bridge.machine import ExpertSuggestion, Lease, Machine

logger = logging.getLogger(__name__)

MACHINE_TTL_SECONDS = 90.0
"""How long a machine waits for a web process that died (seconds)."""
MACHINE_RENEWAL_SECONDS = 9.0
"""How often a machine's lease is renewed (seconds). This bounds how soon an idle viewer learns of its loss."""
MACHINE_WAIT_SECONDS = 45.0
"""How long an episode waits for a free machine (seconds)."""
QUOTA_WAIT_SECONDS = 2.0
"""How soon people learn that they, or the pool, have reached the machine limit (seconds)."""


@asynccontextmanager
async def episode_driver_factory() -> AsyncIterator["Callable[[UUID, int], EpisodeDriver]"]:
    """The factory of episode drivers, valid while the block runs."""
    policies = PolicyClients()
    async with BridgeClient(settings.ENV.bridge_url, settings.ENV.bridge_master) as bridge:
        try:
            yield partial(EpisodeDriver, bridge, policies)
        finally:
            await policies.close()


class EpisodeDriver:
    """One episode's runner with the machine that it drives, in this process, under one fencing token."""

    def __init__(self, bridge: BridgeClient, policies: PolicyClients, episode_id: UUID, token: int) -> None:
        self.episode_id = episode_id
        self.token = token
        self._bridge = bridge
        self._policies = policies
        self._lease: Lease | None = None
        self._request = uuid4().hex
        """Identifies one machine request, so that a retry keeps its place in the queue."""
        self._record = False
        self._recording = ""
        self._policy: Policy | None = None
        self._server: PolicyServer | None = None
        self._stopping = False
        self._secrets = EpisodeSecrets()
        self._mcp_servers: McpServers = {}
        self._twins = TwinAllocator(bridge, episode_id, token)
        self._assistants = AssistantCommands()
        self._sender: str | None = None
        """The pseudonym of the supervisor who sent the last command; None for the annotator."""
        self.runner = EpisodeRunner(
            DjangoStore(
                episode_id,
                token,
                emit=self._emit,
                stopping=lambda: self._stopping,
                assistants=self._assistants,
            ),
            self._open_machine,
            lambda: self._policy,
            self._emit,
            secrets=self._secrets,
            twins=self._twins,
            machine_task=self._machine_task,
        )

    @property
    def state(self) -> EpisodeState | None:
        """The episode as its runner knows it; None before the runner has read it."""
        return getattr(self.runner, "state", None)

    async def submit(self, command: EpisodeCommand, reply: Emit, assistant: Assistant | None) -> None:
        """Queue a command of the person in control: the annotator, or the supervisor who assists. An open gesture of
        the previous person is closed first. A step's missing thought is written by the person who decided on that step.
        """
        by = assistant.pseudonym if assistant is not None else None
        if isinstance(command, WriteThought) and self._decider_of(command.index) != by:
            message = "Another person decided on this step."
            return await reply(Rejected(command_id=command.command_id, code="not_your_step", message=message))
        if by != self._sender:
            self._sender = by
            await self.runner.submit(PassControl(command_id=f"pass-{uuid4().hex}"), ignore_event)
        if assistant is not None:
            self._assistants.note(command.command_id, assistant)
        await self.runner.submit(command, reply)

    def _decider_of(self, index: int) -> str | None:
        steps = self.state.steps if self.state is not None else ()
        return steps[index].acted_by if index < len(steps) else None

    def stop(self) -> None:
        """Stop after the current action."""
        self._stopping = True
        self.runner.stop()

    async def run(self) -> None:
        """Drive the episode until it ends, until `stop`, or until another process takes it over. Release the machine
        when the episode has ended."""
        await self.refresh()
        try:
            await self.runner.run()
        except EpisodeFenced:
            logger.info("episode %s is driven by another process now", self.episode_id)
        finally:
            await asyncio.shield(self._twins.release())
            await asyncio.shield(self._release())

    async def renew_lease(self) -> None:
        """Renew the machine's lease periodically. The episode is notified when its machine is gone. A failed episode
        accepts no acts and may wait for days until a person leaves it, so its machine goes to the next task."""
        lease = self._lease
        await self._twins.renew(running=self.state is not None and self.state.status == "running")
        if lease is not None and self.state is not None and self.state.status == "failed":
            self._lease = None
            with contextlib.suppress(BridgeError):  # the bridge reclaims the machine itself when no renewal arrives
                await self._bridge.release(lease)
            return
        if (
            lease is None
            or (lease.expires_at - datetime.now(UTC)).total_seconds() > MACHINE_TTL_SECONDS - MACHINE_RENEWAL_SECONDS
        ):
            return
        try:
            self._lease = await self._bridge.renew(lease, ttl=MACHINE_TTL_SECONDS)
            await self._ensure_recording(self._lease)
        except (StaleLease, MachineGone) as error:
            self.runner.lose_machine(str(error))
        except BridgeError as error:
            logger.warning("the machine of episode %s was not renewed: %s", self.episode_id, error)

    async def refresh(self) -> None:
        """Reload the pool's current policy. The runner uses it at the next decision point."""
        server = await run_in_db_thread(selectors.policy_server_of, episode_id=self.episode_id)
        if server != self._server:
            self._server = server
            expert = server is not None and server.base_url == EXPERT_URL
            self._policy = (
                ExpertPolicy(server.ref, self._suggest_expert_action)
                if server and expert
                else self._policies.of(server)
            )
            self.runner.wake()

    async def _suggest_expert_action(self) -> ExpertSuggestion | None:
        """The action that the expert of this episode's task suggests now. Raises BridgeError."""
        if self._lease is None:
            raise MachineGone("this episode has no machine now")
        return await self._bridge.machine(self._lease).suggest_expert_action()

    async def _emit(self, event: Event) -> None:
        await publish_live(str(self.episode_id), event)

    async def _open_machine(self, state: EpisodeState) -> Machine:
        """The machine that this episode had. If its lease is lost, a free one while the episode is warming."""
        stored = await run_in_db_thread(selectors.machine_of, episode_id=self.episode_id)
        self._record = stored.record
        lease = await self._renew_stored_lease(stored.lease, state) or await self._allocate(stored)
        await self._ensure_recording(lease)
        machine = self._bridge.machine(lease, driver=self.token)
        self._secrets.by_name = await run_in_db_thread(credentials_of, pool=stored.pool)
        self._mcp_servers = stored.mcp_servers
        if not self._secrets.by_name:
            if stored.speculation:
                self._twins.allow(image=stored.image, pool=stored.pool)
            return machine
        resumed = state.pending.command_id if state.pending else ""
        return SecretMaskingMachine(machine, self._secrets, self._current_observation, resumed=resumed)

    def _machine_task(self, task: Task) -> Task:
        """The task with the pool's MCP servers and the values of their secrets. Raises SecretNotAllowed."""
        return fill_server_secrets(add_mcp_servers(task, self._mcp_servers), self._secrets.server_value)

    def _current_observation(self) -> Observation | None:
        return self.state.observation if self.state else None

    async def _renew_stored_lease(self, stored: str, state: EpisodeState) -> Lease | None:
        """The lease that this episode had, if still valid; None if it may take another machine."""
        if not stored:
            return None
        try:
            self._lease = await self._bridge.renew(Lease.model_validate_json(stored), ttl=MACHINE_TTL_SECONDS)
        except (StaleLease, MachineGone) as error:
            if state.status == "warming":
                return None
            if isinstance(error, MachineGone):
                raise
            raise MachineGone(f"the machine went to another holder meanwhile: {error}") from error
        return self._lease

    async def _ensure_recording(self, lease: Lease) -> None:
        """Start recording the machine, also after its bridge restarted. An episode never waits for its video."""
        if not self._record or "webrtc" not in lease.capabilities.streams:
            return
        try:
            key = (await self._bridge.start_recording(lease)).id
        except BridgeError as error:
            logger.warning("episode %s is not recorded: %s", self.episode_id, error)
            return
        if key != self._recording:
            await run_in_db_thread(recording_register, episode_id=self.episode_id, key=key, host_url=lease.host_url)
            self._recording = key

    async def _allocate(self, stored: selectors.StoredMachine) -> Lease:
        try:
            self._lease = lease = await self._bridge.allocate(
                image=stored.image,
                holder=f"episode:{self.episode_id}",
                user=stored.user,
                pool=stored.pool,
                session=str(self.episode_id),
                request_id=self._request,
                ttl=MACHINE_TTL_SECONDS,
                wait=MACHINE_WAIT_SECONDS,
                quota_wait=QUOTA_WAIT_SECONDS,
            )
        except StaleLease:  # after any other error, retry the same request: its queue place or lease is kept
            self._request = uuid4().hex
            raise
        self._request = uuid4().hex
        try:
            await run_in_db_thread(
                services.machine_set, episode_id=self.episode_id, token=self.token, machine=lease.model_dump_json()
            )
        except services.RunnerFenced as error:  # no other process knows of this machine
            with contextlib.suppress(BridgeError):
                await self._bridge.release(lease)
            raise EpisodeFenced(error.message) from error
        with contextlib.suppress(BridgeError):
            await self._bridge.warm(image=stored.image, count=1)  # the next task's machine
        return lease

    async def _release(self) -> None:
        """Release the held machine if the stored record says that the episode has ended. The record decides, because
        another person or process may have ended it."""
        with contextlib.suppress(DatabaseError, BridgeError):
            status = await run_in_db_thread(selectors.episode_status, episode_id=self.episode_id)
            if self._lease is not None and status in selectors.ENDED_STATUSES:
                await self._bridge.release(self._lease)
        with contextlib.suppress(DatabaseError):
            await run_in_db_thread(services.runner_release, episode_id=self.episode_id, token=self.token)
