"""What a straggler costs a trainer: attempts of a stream, one in each update's number ten times as long as the others.

The stream, its folders and the trainer's inbox are real; attempts only wait, and the trainer learns nothing.
"""

import asyncio
import os
import statistics
import sys
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from agent_backend.policy.reload import ModelServerClient
from agent_backend.rollout.attempt_log import AttemptLog
from agent_backend.rollout.attempts import AttemptResult
from agent_backend.rollout.streaming import AttemptStream, NewestWeights, StreamPlan
from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from annotation_app.operations.runtime.stack import ROOT
from protocol.trajectory.observations import Verdict
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory

PAGES, GROUP, UPDATES, PARALLEL, AHEAD = 4, 4, 6, 4, 1
ATTEMPTS = PAGES * GROUP
SHORT_SECONDS, LONG, LEARN_SECONDS = 0.3, 10, 0.1
RUN_SECONDS = 120.0
"""Longest time a run may take; a stream would wait for ever for a trainer that failed."""
STRAGGLER = 5
"""Index of the long attempt among the attempts of an update, in the order they begin."""


class _Model(ModelServerClient):
    """Takes any weights at once."""

    def __init__(self) -> None: ...

    async def reload(self, weights: str, version: str, *, freeze: bool = False) -> None: ...


@dataclass
class _Machines:
    """Attempts that take their time and do nothing."""

    straggles: bool
    intervals: list[tuple[float, float]] = field(default_factory=list)
    _begun: int = 0

    async def attempt(self, task: Task) -> AttemptResult:
        number, began = self._begun, time.perf_counter()
        self._begun += 1
        long = self.straggles and number % ATTEMPTS == STRAGGLER
        try:
            await asyncio.sleep(SHORT_SECONDS * (LONG if long else 1))
        finally:
            self.intervals.append((began, time.perf_counter()))
        now = datetime.now(UTC)
        trajectory = Trajectory(
            id=f"t-{number}", task=task, origin="rollout", steps=(), outcome="success", terminated=True,
            truncated=False, verdict=Verdict(success=True, score=1.0), created_at=now, finished_at=now,
        )  # fmt: skip
        return AttemptResult(trajectory, "", {})

    def idle_share(self) -> float:
        """The share of the workers' time without an attempt, until the last one was begun."""
        begin, last = min(began for began, _ in self.intervals), max(began for began, _ in self.intervals)
        busy = sum(min(ended, last) - began for began, ended in self.intervals)
        return 1 - busy / (PARALLEL * (last - begin))


async def streamed_updates(folder: Path) -> dict[str, Any]:
    """How long an update takes with and without a straggler (seconds, median), and what workers idle with one."""
    python = await asyncio.to_thread(ensure_trainer, Console(sys.stderr))
    plain, _ = await _train(python, folder / "plain", _Machines(straggles=False))
    straggling, idle = await _train(python, folder / "straggling", _Machines(straggles=True))
    return {
        "stream_update_seconds": round(plain, 2),
        "stream_update_seconds_with_straggler": round(straggling, 2),
        "stream_straggler_wait_share": round(idle, 3),
    }


async def _train(python: Path, folder: Path, machines: _Machines) -> tuple[float, float]:
    run, inbox = folder / "run", folder / "inbox"
    inbox.mkdir(parents=True)
    words = [run, inbox, ATTEMPTS, UPDATES, LEARN_SECONDS]
    command = [str(python), "-m", "benchmarks.parts.tasks.inbox_trainer", *map(str, words)]
    trainer = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})

    async def page(seed: int) -> tuple[Task, ...]:
        return (Task(id=f"page-{seed}", instruction="Do.", seed=seed),)

    try:
        async with asyncio.timeout(RUN_SECONDS):
            await AttemptStream(
                attempt_runner=machines.attempt, attempt_log=AttemptLog(folder / "attempts.jsonl"), log=lambda _: None,
                plan=StreamPlan(
                    inbox=inbox, run=run, first_seed=0, seeds=10_000, group=GROUP, attempts=ATTEMPTS, ahead=AHEAD,
                    updates=UPDATES,
                ),
                pages=page, weights=NewestWeights(run, _Model()), filters={"origin": "rollout"},
            ).run(PARALLEL)  # fmt: skip
            await trainer.wait()
    finally:
        if trainer.returncode is None:
            trainer.kill()
            await trainer.wait()
    learned = [one.stat().st_ctime for one in sorted(run.glob("update-??????"))[1:]]
    return statistics.median(later - earlier for earlier, later in pairwise(learned)), machines.idle_share()
