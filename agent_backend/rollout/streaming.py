"""Streams attempts to a trainer. Each becomes a folder in the trainer's inbox as soon as it is complete.

The order is by seed, then task, then repetition. After the last seed the first follows again. A folder's name is the
attempt's position in this order, so a killed stream resumes with the missing attempts. The lead over the trainer is
bounded by the number of attempts that wait or run. The trainer takes folders in name order.
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
"""The stream ends after this many updates' worth of attempts if the trainer takes none of them."""
POLL_SECONDS = 0.1
"""Seconds between two checks of the inbox."""
LOCK_FILE = ".stream.lock"

Pages = Callable[[int], Awaitable[tuple[Task, ...]]]
"""The tasks at a seed."""


class InboxBusy(AgentError):
    """Another stream writes to this inbox."""

    code = "inbox_busy"


class AttemptsUnusable(AgentError):
    """The trainer waits, but the attempts begun for several updates do not suffice for one."""

    code = "attempts_unusable"


class StreamPlan(FrozenModel):
    """Which attempts a stream makes, and how far ahead of the trainer."""

    inbox: Path
    run: Path
    """The trainer's folder of checkpoints."""
    first_seed: int
    seeds: int
    """The number of seeds; after the last one the first comes again."""
    start_at: int = 0
    """The index of the first seed to play."""
    group: int = 1
    """Attempts at each task and seed."""
    attempts: int
    """Attempts of one update."""
    ahead: int = 1
    """Updates to play ahead of the one that the trainer learns or waits for."""
    updates: int | None = None
    """Updates after which the stream ends; None: never."""


def stream_plan(arguments: argparse.Namespace) -> StreamPlan:
    """The plan that the command line describes."""
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
    """Keeps the newest checkpoint of a run loaded in a model server."""

    def __init__(self, run: Path, server: ModelServerClient) -> None:
        self._run, self._server = run, server
        self._loaded = ""

    async def load(self) -> None:
        """Load newer weights into the server if there are any. Running replies finish with the old ones.

        Raises PolicyError.
        """
        while (newest := newest_checkpoint(self._run)) is not None and newest.name != self._loaded:
            try:
                await self._server.reload(str(newest.absolute()), newest.name)
            except PolicyRejected:
                if newest.exists():
                    raise
            else:
                self._loaded = newest.name  # a checkpoint that was deleted meanwhile has a newer one


@dataclass(slots=True, kw_only=True)
class AttemptStream(AttemptWorkers):
    """A stream of attempts into an inbox."""

    plan: StreamPlan
    pages: Pages
    weights: NewestWeights
    filters: JsonObject
    """The filters in the manifest of each folder."""
    _running: set[str] = field(default_factory=set)
    _begun: int = 0
    """Attempts begun since the trainer last took any."""
    _taken: int = 0
    """Modification time of the folder of taken attempts, in nanoseconds."""
    _order: AsyncGenerator[PlannedAttempt, None] = field(init=False)
    _choosing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self, parallel: int) -> None:
        """Make attempts until the trainer has learned its last update, then cancel those that still run.

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
        """The next attempt, once there is room for it and the newest weights are loaded.

        Raises AttemptsUnusable, and what tasks and the model server raise.
        """
        async with self._choosing:
            while not (self._is_over() or self._fault is not None):
                if self._pending or self._has_room():
                    await self.weights.load()
                    planned = self._pending.popleft() if self._pending else await self._begin()
                    self._running.add(planned.name)
                    return planned
                await asyncio.sleep(POLL_SECONDS)
        return None

    async def _begin(self) -> PlannedAttempt:
        self._begun += 1
        return await anext(self._order)

    def keep(self, planned: PlannedAttempt, trajectory: Trajectory, result: AttemptResult) -> AttemptRecord:
        """Write the attempt as a folder, which gets its final name once it is whole."""
        target = self.plan.inbox / planned.name
        unfinished = target.with_name(target.name + UNFINISHED_SUFFIX)  # left by a stream that was killed
        shutil.rmtree(unfinished, ignore_errors=True)
        folder = TrajectoryFolderWriter(target, self.filters)
        folder.add(trajectory, result.blob)
        folder.finish(at=datetime.now(UTC))
        return self.attempt_log.add(trajectory)

    def attempt_ended(self, planned: PlannedAttempt, record: AttemptRecord | None) -> None:
        """Make room for another attempt."""
        self._running.discard(planned.name)

    def describe(self, planned: PlannedAttempt) -> str:
        """The attempt's folder and task."""
        return f"{planned.name} {describe_task(planned.task)}"

    async def _missing(self) -> AsyncGenerator[PlannedAttempt, None]:
        """Every attempt that the inbox lacks, in order. The sequence is endless."""
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
        """Whether an attempt is in the inbox: waiting, processed or rejected."""
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
        if short is None and plan.updates is not None:  # the trainer learns: make no attempts beyond its last update
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
    """The folder name of an attempt. Sorted names are in the order in which attempts begin."""
    return f"{page:07}-{place:05}-{repetition:03}"


def read_shortage(inbox: Path) -> AttemptShortage | None:
    """The shortage that the trainer reports; None if it does not wait for attempts."""
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
