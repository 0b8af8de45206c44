"""The bundled browser tasks: the same pictures in two processes, what their experts and chance earn, what loads."""

import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from benchmarks.parts.concurrency import run_together
from benchmarks.parts.figures import print_progress
from protocol.trajectory.tasks import Task
from vm_bridge.browser import BrowserFailed, Engine
from vm_bridge.suites.miniwob import MiniWob, read_instruction
from vm_bridge.suites.registry import WEB_SUITES
from vm_bridge.suites.web import FolderSuite
from vm_bridge.suites.web.episodes import play_task, replay_frames
from vm_bridge.suites.web.records import EpisodeRecord

SEED = 1
RANDOM_STEPS = 20
EXPERT_SECONDS = 90.0
"""For further levels, once every task was played on its first one."""
CONCURRENCY = 2
"""Episodes a browser plays side by side."""
Job = TypeVar("Job")


@asynccontextmanager
async def start_two_engines(folder: Path) -> AsyncIterator[tuple[Engine, Engine]]:
    """Two browser processes with the exact clock, where it can be had."""
    first = await Engine.start(folder / "first", exact=True)
    try:
        second = await Engine.start(folder / "second", exact=True)
        try:
            yield first, second
        finally:
            await second.close()
    finally:
        await first.close()


async def measure(folder: Path) -> dict[str, object]:
    """Every bundled task."""
    async with start_two_engines(folder) as engines:
        return {**await _play_tasks(engines), **await _load_tasks(engines)}


async def _play_tasks(engines: tuple[Engine, Engine]) -> dict[str, object]:
    suites = [suite for suite in WEB_SUITES.values() if isinstance(suite, FolderSuite)]
    names = [(suite, name) for suite in suites for name in suite.folders]
    equal: dict[str, bool] = {}
    records: defaultdict[str, list[EpisodeRecord]] = defaultdict(list)

    async def first_level(given: tuple[FolderSuite, str], engine: Engine, other: Engine) -> None:
        suite, name = given
        task = suite.make(name, seed=SEED)
        record, acts = await play_task(engine, suite, task, "expert", frames=True)
        equal[name] = await replay_frames(other, suite, task, acts) == record.frames
        chance = (await play_task(engine, suite, task, "random", most=RANDOM_STEPS))[0]
        records[name] += [record, chance]

    async def further(given: tuple[FolderSuite, Task], engine: Engine, other: Engine) -> None:
        suite, task = given
        if time.monotonic() < until:
            record = (await play_task(engine, suite, task, "expert"))[0]
            records[task.name or ""].append(record)

    await _run_jobs(names, engines, first_level)
    print_progress(f"{sum(equal.values())} of {len(names)} tasks gave the same pictures in two processes")
    until = time.monotonic() + EXPERT_SECONDS
    levels = [(suite, name, level) for suite, name in names for level in _levels(suite, name)]
    tasks = [(suite, suite.make(name, seed=SEED + level, level=level)) for suite, name, level in levels]
    await _run_jobs(tasks, engines, further)
    experts = [record for some in records.values() for record in some if record.actor == "expert"]
    print_progress(f"experts won {sum(record.success for record in experts)} of {len(experts)} episodes")
    return {
        "tasks": len(names),
        "deterministic_tasks": sum(equal.values()),
        "clock": str(engines[0].clock),
        "expert_success_rate": round(sum(record.success for record in experts) / max(1, len(names), len(experts)), 3),
        "expert_episodes": len(experts),
        "by_task": {name: _summary(records[name], equal.get(name, False)) for _, name in names},
    }


def _levels(suite: FolderSuite, name: str) -> range:
    return range(2, len(suite.folder(name).manifest.levels) + 1)


def _summary(records: Sequence[EpisodeRecord], equal: bool) -> dict[str, object]:
    experts = [record for record in records if record.actor == "expert"]
    chance = [record.reward for record in records if record.actor == "random"]
    return {
        "expert_success_rate": round(sum(record.success for record in experts) / max(1, len(experts)), 3),
        "expert_episodes": len(experts),
        "expert_score": _mean([record.reward for record in experts]),
        "random_score": _mean(chance),
        "deterministic": equal,
    }


async def _load_tasks(engines: tuple[Engine, Engine]) -> dict[str, object]:
    suite, loaded = MiniWob(), list[str]()

    async def load(task: Task, engine: Engine, _: Engine) -> None:
        scene = suite.scene(task)
        session = await engine.open(scene.site, size=scene.size, seed=task.seed, start_time=scene.start_time)
        try:
            await session.goto(scene.url)
            await suite.set_up(task, session)
            if await read_instruction(session) == task.instruction:
                loaded.append(task.id)
        finally:
            await session.close()

    began = time.monotonic()
    await _run_jobs(suite.tasks, engines, load)
    print_progress(f"{len(loaded)} of {len(suite.tasks)} MiniWoB++ tasks loaded in {time.monotonic() - began:.0f} s")
    return {"miniwob_loaded": len(loaded), "miniwob_total": len(suite.tasks)}


async def _run_jobs(
    jobs: Sequence[Job], engines: tuple[Engine, Engine], do: Callable[[Job, Engine, Engine], Awaitable[None]]
) -> None:
    """All jobs over both browsers; one that fails is told of and counts as not done."""
    left = list(reversed(jobs))

    async def work(engine: Engine, other: Engine) -> None:
        while left:
            job = left.pop()
            try:
                await do(job, engine, other)
            except BrowserFailed as failure:
                print_progress(f"{job}: {type(failure).__name__}: {failure}"[:300])

    pairs = [engines, (engines[1], engines[0])] * CONCURRENCY
    await run_together(*(work(engine, other) for engine, other in pairs))


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 3) if values else 0.0
