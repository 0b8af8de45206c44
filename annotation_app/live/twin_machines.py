"""Leases the twin of an episode's machine, if the pool wants one and there is capacity."""

import contextlib
import logging
from datetime import UTC, datetime
from functools import partial
from uuid import UUID, uuid4

from agent_backend.episode.prepared_uses import PreparedUse
from agent_backend.episode.twins import TwinLease
from agent_backend.interfaces import Policy
from agent_backend.policy.expert import ExpertPolicy
from annotation_app.episodes import services
from annotation_app.live.store import run_in_db_thread
from protocol.messages.events import EpisodeState
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError, NoMachine
from vm_bridge.fleet import TWIN_HOLDER
from vm_bridge.machine import Lease, Machine

logger = logging.getLogger(__name__)

TWIN_TTL_SECONDS = 60.0
"""How long a twin waits for a web process that died (seconds)."""


class TwinAllocator:
    """The twin of one episode: at most one at a time. `token` is the fencing token of the episode's runner."""

    def __init__(self, bridge: BridgeClient, episode_id: UUID, token: int) -> None:
        self._bridge = bridge
        self._episode_id = episode_id
        self._token = token
        self._lease: Lease | None = None
        self._pool = ""
        self._image = ""

    def allow(self, *, image: str, pool: str) -> None:
        """Allow the episode twins of this image from now on."""
        self._image, self._pool = image, pool

    @property
    def wanted(self) -> bool:
        """Whether the episode may have twins."""
        return bool(self._image)

    async def open(self, state: EpisodeState) -> TwinLease | None:
        """Lease a twin, if the episode may have one and there is capacity now. Raises BridgeError."""
        if not self.wanted or state.status != "running":
            return None
        await self.release()
        try:
            self._lease = lease = await self._bridge.allocate(
                image=self._image,
                holder=f"{TWIN_HOLDER}{self._episode_id}",
                pool=self._pool,
                request_id=uuid4().hex,
                ttl=TWIN_TTL_SECONDS,
                wait=0,
            )
        except NoMachine as error:
            logger.info("episode %s has no twin: %s", self._episode_id, error)
            return None
        machine = self._bridge.machine(lease)
        return TwinLease(machine, lambda policy: _policy_for(policy, machine), self.release)

    async def record_use(self, use: PreparedUse) -> None:
        """Store what a prepared request cost and how it was used."""
        record = partial(services.prepared_request_record, episode_id=self._episode_id, token=self._token)
        await run_in_db_thread(record, request_id=use.id, **use.model_dump(exclude={"id"}))

    async def renew(self, *, running: bool) -> None:
        """Renew the twin's lease, or release the twin if the episode is not running."""
        if self._lease is not None and not running:
            await self.release()
        if self._lease is None or (self._lease.expires_at - datetime.now(UTC)).total_seconds() > TWIN_TTL_SECONDS * 0.8:
            return
        try:
            self._lease = await self._bridge.renew(self._lease, ttl=TWIN_TTL_SECONDS)
        except BridgeError as error:
            logger.info("the twin of episode %s was not renewed: %s", self._episode_id, error)

    async def release(self) -> None:
        """Release the twin, if there is one."""
        lease, self._lease = self._lease, None
        if lease is not None:
            with contextlib.suppress(BridgeError):  # its lease expires by itself
                await self._bridge.release(lease)


def _policy_for(policy: Policy, twin: Machine) -> Policy:
    """The policy that proposes for a twin. A scripted expert reads the machine that it is asked about."""
    return ExpertPolicy(policy.ref, twin.suggest_expert_action) if isinstance(policy, ExpertPolicy) else policy
