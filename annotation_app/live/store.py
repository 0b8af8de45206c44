"""Database access for the event loop: in dedicated threads, and for a runner through the episode services."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar
from uuid import UUID

from channels.db import DatabaseSyncToAsync

from agent_backend.episode.command_digests import digest_of
from agent_backend.errors import CommandRejected, EpisodeFenced
from agent_backend.interfaces import CommandRecord, Emit, Intent
from annotation_app.blobs.selectors import blob_read
from annotation_app.episodes import selectors, services
from annotation_app.episodes.selectors import trajectories
from annotation_app.episodes.services.events import publish_version
from annotation_app.errors import DISK_FULL_ERRNOS, Conflict, NotFound
from annotation_app.live.assistants import Assistant, AssistantCommands
from protocol.blobs import NO_BLOBS, BlobRef
from protocol.messages.events import (
    Command,
    ContinueText,
    DurableEvent,
    EpisodeState,
    Event,
    Ping,
    StorageChanged,
    TakeControl,
    WithdrawalReason,
)
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import Mark, PolicyRef, Proposal
from protocol.trajectory.steps import Step

R = TypeVar("R")
logger = logging.getLogger(__name__)

DB_THREAD_COUNT = 8


DB_THREADS = ThreadPoolExecutor(max_workers=DB_THREAD_COUNT, thread_name_prefix="database")
"""Dedicated threads of the event loop, so that no HTTP request waits behind an episode."""
DISK_POLL_SECONDS = 2.0
"""Seconds between checks whether a full disk has room again."""


async def run_in_db_thread(function: Callable[..., R], **arguments: object) -> R:
    """Run a service or selector in a database thread and return its result."""
    call = DatabaseSyncToAsync(function, thread_sensitive=False, executor=DB_THREADS)
    result: R = await call(**arguments)
    return result


async def ignore_event(event: Event) -> None:
    """Drop an event that has no reader."""


async def is_recorded_command(episode_id: UUID, command: Command) -> bool:
    """Whether this exact command was recorded before."""
    if isinstance(command, Ping | TakeControl | ContinueText):
        return False
    known = await run_in_db_thread(selectors.command_digest, episode_id=episode_id, command_id=command.command_id)
    return known == digest_of(command)


class DjangoStore:
    """One episode in PostgreSQL, for the runner that holds `token`; see `EpisodeStore`."""

    def __init__(
        self,
        episode_id: UUID,
        token: int,
        *,
        emit: Emit = ignore_event,
        stopping: Callable[[], bool] = lambda: False,
        assistants: AssistantCommands | None = None,
    ) -> None:
        """Open the store of one episode.

        Args:
            emit: Sends viewers what no store keeps: that the disk is full.
            assistants: Which commands are a supervisor's. Their steps are stored under the supervisor's pseudonym.
            stopping: Whether the runner is to end. If so, do not wait for room on the disk.
        """
        self._episode_id = episode_id
        self._token = token
        self._emit = emit
        self._stopping = stopping
        self._assistants = assistants or AssistantCommands()

    async def load(self) -> EpisodeState:
        state = await self._read(trajectories.episode_state)
        await publish_version(str(self._episode_id), state.version)
        return state

    async def branch_steps(self) -> tuple[Step, ...]:
        return await self._read(trajectories.branch_steps)

    async def branch_blob(self, ref: BlobRef) -> bytes:
        return await self._bytes(selectors.branch_blob, ref)

    async def pending_intent(self) -> Intent | None:
        stored = await self._read(selectors.pending_intent)
        intent = Intent.model_validate_json(stored) if stored else None
        if intent is not None and intent.acted_by is not None:  # sent by an earlier process
            self._assistants.note(intent.command_id, Assistant(intent.acted_by))
        return intent

    async def past_intent(self, command_id: str) -> Intent | None:
        stored = await self._read(selectors.command_intent, command_id=command_id)
        return Intent.model_validate_json(stored) if stored else None

    async def check_fence(self) -> None:
        if await self._read(selectors.runner_token) != self._token:
            raise EpisodeFenced("Another process drives this episode now.")

    async def find_command(self, command_id: str) -> CommandRecord | None:
        digest = await self._read(selectors.command_digest, command_id=command_id)
        return None if digest is None else CommandRecord(command_id=command_id, digest=digest)

    async def record_command(self, command_id: str, digest: str, note: str = "") -> None:
        by = self._assistants.user_id_of(command_id)
        await self._write(services.command_record, command_id=command_id, digest=digest, note=note, acted_by=by)

    async def save_blob(self, ref: BlobRef, data: bytes) -> None:
        """Store a picture. While the disk is full, wait for room. Raises OSError when the runner is to end."""
        disk_was_full = False
        while True:
            try:
                await self._write(services.blob_add, ref=ref, data=data)
                break
            except OSError as error:
                if error.errno not in DISK_FULL_ERRNOS or self._stopping():
                    raise
                logger.warning("episode %s waits for room on the disk: %s", self._episode_id, error)
            disk_was_full = True
            await self._emit(StorageChanged(full=True))
            await asyncio.sleep(DISK_POLL_SECONDS)
            await self.check_fence()
        if disk_was_full:
            await self._emit(StorageChanged(full=False))

    async def load_blob(self, ref: BlobRef) -> bytes:
        return await self._bytes(selectors.episode_blob, ref)

    async def _bytes(self, selector: Callable[..., object], ref: BlobRef) -> bytes:
        if await self._read(selector, sha256=ref.sha256) is None:
            raise KeyError(ref.sha256)
        try:
            return await run_in_db_thread(blob_read, sha256=ref.sha256)
        except FileNotFoundError:
            raise KeyError(ref.sha256) from None

    async def begin_act(self, intent: Intent, digest: str) -> DurableEvent:
        return await self._write(
            services.act_begin, digest=digest, pending=intent.pending_act, intent=self._intent_json(intent)
        )

    def _intent_json(self, intent: Intent | None) -> str:
        if intent is None:
            return ""
        by = self._assistants.pseudonym_of(intent.command_id)
        return (intent if by is None else intent.model_copy(update={"acted_by": by})).model_dump_json()

    async def append_step(
        self,
        step: Step,
        next_intent: Intent | None = None,
        *,
        done: Intent | None = None,
        blobs: Mapping[BlobRef, bytes] = NO_BLOBS,
    ) -> DurableEvent:
        """Store a step. If the disk is full, store its pictures first, each as soon as there is room."""
        if (by := self._assistants.pseudonym_of(step.command_id)) is not None:
            step = step.model_copy(update={"acted_by": by})
        if next_intent is not None:
            self._assistants.follow(step.command_id, next_intent.command_id)
        append = partial(
            self._write,
            services.step_append,
            step=step,
            pending=next_intent and next_intent.pending_act,
            intent=self._intent_json(next_intent),
            done=self._intent_json(done),
        )
        try:
            return await append(blobs=blobs)
        except OSError as error:
            if error.errno not in DISK_FULL_ERRNOS:
                raise
        for ref, data in blobs.items():
            await self.save_blob(ref, data)
        return await append()

    async def undo_step(self, index: int, observation: Observation) -> DurableEvent:
        return await self._write(services.step_undo, index=index, observation=observation)

    async def write_thought(self, index: int, thought: str) -> DurableEvent:
        return await self._write(services.thought_write, index=index, thought=thought)

    async def add_proposals(self, proposals: tuple[Proposal, ...], policy: PolicyRef) -> DurableEvent:
        return await self._write(services.proposals_add, proposals=proposals, policy=policy)

    async def withdraw_proposals(
        self, reason: WithdrawalReason, observation: Observation | None = None
    ) -> DurableEvent:
        return await self._write(services.proposals_withdraw, reason=reason, observation=observation)

    async def mark_proposal(self, proposal_id: str, mark: Mark | None) -> DurableEvent:
        return await self._write(services.proposal_mark, proposal_id=proposal_id, mark=mark)

    async def change(self, event_fields: dict[str, object], command: CommandRecord | None = None) -> DurableEvent:
        taken = command and {**command.model_dump(), "acted_by": self._assistants.user_id_of(command.command_id)}
        return await self._write(services.episode_change, fields=event_fields, command=taken)

    async def _read(self, selector: Callable[..., R], **arguments: object) -> R:
        return await run_in_db_thread(selector, episode_id=self._episode_id, **arguments)

    async def _write(self, service: Callable[..., R], **arguments: object) -> R:
        try:
            return await run_in_db_thread(service, episode_id=self._episode_id, token=self._token, **arguments)
        except services.RunnerFenced as error:
            raise EpisodeFenced(error.message) from error
        except (Conflict, NotFound) as error:
            raise CommandRejected(error.code, error.message) from error
