"""Attempts on and on, each in a small folder of a trainer's inbox as soon as it is whole.

The attempts are numbered: seed by seed, task by task, repetition by repetition, and after the last seed from the first
again. A folder's name is that place in the order, so whoever is killed goes on with those that are not there. How far
the player may run ahead is a number of attempts that wait or run; the trainer takes them in the order of their names.
"""

import argparse
import asyncio
import fcntl
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from agent_backend.errors import AgentError, PolicyRejected
from agent_backend.policy.reload import ModelServerClient
from agent_backend.rollout.attempts import AttemptResult
from agent_backend.rollout.runner import AttemptWorkers, PlannedAttempt, describe_task
from agent_backend.trajectory_folders import TrajectoryFolderWriter
from protocol.base import FrozenModel, JsonObject
from protocol.evaluation.records import AttemptRecord
from protocol.training.checkpoints import checkpoint_update, newest_checkpoint
from protocol.training.inbox import (
    PROCESSED_FOLDER,
    REJECTED_FOLDER,
    SHORTAGE_FILE,
    AttemptShortage,
    waiting_folders,
)
from protocol.trajectory.export_folders import UNFINISHED_SUFFIX
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory

MAX_ROUNDS = 4
"""For how many updates' attempts a stream goes on while the trainer can learn from none of them."""
POLL_SECONDS = 0.1
"""Seconds between two looks at an inbox that is full."""
LOCK_FILE = ".stream.lock"

Pages = Callable[[int], Awaitable[tuple[Task, ...]]]
"""The tasks at a seed."""


class InboxBusy(AgentError):
    """Another stream fills this inbox."""

    code = "inbox_busy"


class AttemptsUnusable(AgentError):
    """The trainer waits, and what was played for several updates does not suffice for one."""

    code = "attempts_unusable"


class StreamPlan(FrozenModel):
    """What is played for a trainer, and how far ahead of it."""

    inbox: Path
    run: Path
    """The trainer's folder of checkpoints."""
    first_seed: int
    seeds: int
    """How many there are; after the last one the first comes again."""
    start_at: int = 0
    """Which of them is the first one here."""
    group: int = 1
    """Attempts at each task and seed."""
    attempts: int
    """Of an update."""
    ahead: int = 1
    """For how many updates more may be played than for the one that the trainer learns or waits for."""
    updates: int | None = None
    """After how many it ends; None: never."""


def stream_plan(arguments: argparse.Namespace) -> StreamPlan:
    """What the command line says."""
    return StreamPlan(
        inbox=arguments.out,
        run=arguments.stream,
        first_seed=arguments.first_seed,
        seeds=arguments.seeds,
        start_at=arguments.start_at,
        group=arguments.group,
        attempts=arguments.attempts,
        ahead=arguments.ahead,
        updates=arguments.updates,
    )


class NewestWeights:
    """Has a model server answer with the newest checkpoint of a run."""

    def __init__(self, run: Path, server: ModelServerClient) -> None:
        self._run, self._server = run, server
        self._loaded = ""

    async def load(self) -> None:
        """Exchange the server's weights where there are newer ones. Replies on their way end with the old ones.

        Raises PolicyError.
        """
        while (newest := newest_checkpoint(self._run)) is not None and newest.name != self._loaded:
            try:
                await self._server.reload(str(newest.absolute()), newest.name)
            except PolicyRejected:
                if newest.exists():
                    raise
            else:
                self._loaded = newest.name  # one that was cleared away meanwhile has newer ones after it


@dataclass(slots=True, kw_only=True)
class AttemptStream(AttemptWorkers):
    """A stream of attempts into an inbox."""

    plan: StreamPlan
    pages: Pages
    weights: NewestWeights
    filters: JsonObject
    """What is said of the attempts in the manifest of each folder."""
    _running: set[str] = field(default_factory=set)
    _begun: int = 0
    """How many were begun since the trainer last learned from any."""
    _taken: int = 0
    """When it did, as the file system has it."""
    _order: AsyncGenerator[PlannedAttempt, None] = field(init=False)
    _choosing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self, parallel: int) -> None:
        """Play until the last update is learned; attempts that still run then are given up.

        Raises AttemptsUnusable, InboxBusy, and what attempts, tasks and the model server raise.
        """
        self.plan.inbox.mkdir(parents=True, exist_ok=True)
        with _alone(self.plan.inbox):
            self._order = self._missing()
            playing = asyncio.create_task(self.work(parallel))
            try:
                while not self._is_over() and not playing.done():
                    await asyncio.wait((playing,), timeout=POLL_SECONDS)
            finally:
                playing.cancel()
                await asyncio.gather(playing, return_exceptions=True)
            if not playing.cancelled():
                playing.result()

    async def next_attempt(self) -> PlannedAttempt | None:
        """The next one, once there is room for it and the newest weights answer. Raises AttemptsUnusable, and what
        tasks and the model server raise."""
        async with self._choosing:
            while not (self._is_over() or self._fault is not None):
                if self._again or self._has_room():
                    await self.weights.load()
                    planned = self._again.popleft() if self._again else await self._begin()
                    self._running.add(planned.name)
                    return planned
                await asyncio.sleep(POLL_SECONDS)
        return None

    async def _begin(self) -> PlannedAttempt:
        self._begun += 1
        return await anext(self._order)

    def keep(self, planned: PlannedAttempt, trajectory: Trajectory, result: AttemptResult) -> AttemptRecord:
        """Write it as a folder, which has its name as soon as it is whole."""
        target = self.plan.inbox / planned.name
        shutil.rmtree(target.with_name(target.name + UNFINISHED_SUFFIX), ignore_errors=True)  # of one that was killed
        folder = TrajectoryFolderWriter(target, self.filters)
        folder.add(trajectory, result.blob)
        folder.finish(at=datetime.now(UTC))
        return self.attempt_log.add(trajectory)

    def attempt_ended(self, planned: PlannedAttempt, record: AttemptRecord | None) -> None:
        """It runs no more."""
        self._running.discard(planned.name)

    def describe(self, planned: PlannedAttempt) -> str:
        """With its folder."""
        return f"{planned.name} {describe_task(planned.task)}"

    async def _missing(self) -> AsyncGenerator[PlannedAttempt, None]:
        """Every attempt that is not there, in order, without an end."""
        page = 0
        while True:
            seed = self.plan.first_seed + (self.plan.start_at + page) % self.plan.seeds
            for place, task in enumerate(await self.pages(seed)):
                for repetition in range(self.plan.group):
                    name = attempt_name(page, place, repetition)
                    if not self._has(name):
                        yield PlannedAttempt(name, task)
            page += 1

    def _has(self, name: str) -> bool:
        """Whether an attempt was made, whatever the trainer made of it."""
        return any((self.plan.inbox / where / name).exists() for where in ("", PROCESSED_FOLDER, REJECTED_FOLDER))

    def _is_over(self) -> bool:
        return self.plan.updates is not None and self._learned() >= self.plan.updates

    def _learned(self) -> int:
        """How many updates the trainer has learned."""
        return checkpoint_update(newest_checkpoint(self.plan.run))

    def _has_room(self) -> bool:
        """Whether a further attempt may begin. Raises AttemptsUnusable."""
        plan, short = self.plan, read_shortage(self.plan.inbox)
        if newest_checkpoint(plan.run) is None:
            return False
        self._note_progress()
        waiting = set(waiting_folders(plan.inbox))
        if self._begun >= (MAX_ROUNDS + plan.ahead) * plan.attempts:
            if short is not None and not self._running and waiting.issubset((*short.folders, *short.later)):
                raise AttemptsUnusable(_too_few(short, self._begun))
            return False
        counted = len((waiting | self._running).difference(short.later if short is not None else ()))
        rounds = plan.ahead + 1
        if short is None and plan.updates is not None:  # it learns: nothing is played for updates that do not come
            rounds = min(rounds, plan.updates - self._learned())
        return counted < rounds * plan.attempts

    def _note_progress(self) -> None:
        try:
            taken = (self.plan.inbox / PROCESSED_FOLDER).stat().st_mtime_ns
        except FileNotFoundError:
            return
        if taken != self._taken:
            self._taken, self._begun = taken, len(self._running)


def attempt_name(page: int, place: int, repetition: int) -> str:
    """The folder of an attempt: names rise in the order in which attempts are begun."""
    return f"{page:07}-{place:05}-{repetition:03}"


def read_shortage(inbox: Path) -> AttemptShortage | None:
    """What the trainer says that it is short of; None while it waits for nothing."""
    try:
        return AttemptShortage.model_validate_json((inbox / SHORTAGE_FILE).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def _too_few(short: AttemptShortage, begun: int) -> str:
    refused = ", ".join(f"{code} {count}" for code, count in sorted(short.refused.items()))
    return (
        f"only {short.usable} of {short.wanted} attempts of an update can be learned from after {begun} were begun. The"
        f" trainer refused {refused or 'none of what came: machines fail'}"
    )


@contextmanager
def _alone(inbox: Path) -> Iterator[None]:
    with (inbox / LOCK_FILE).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InboxBusy(f"another stream fills {inbox}") from None
        yield
