"""What people wait for the next candidates with a twin and without, on the demo's desktops, phones and browsers."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from pydantic import TypeAdapter

from agent_backend.scripted_policy.script import Script, load_scripts
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.figures import percentile, print_progress
from benchmarks.parts.speculation.episodes import Episode, Played, anyhow, first_candidate, first_difference
from benchmarks.parts.speculation.policies import PixelsPolicy, ScriptsPolicy, TimedExpert, TimedPolicy
from protocol.trajectory.tasks import Task
from vm_bridge.hosts.browser.host import BrowserHost
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.phone.simulated import PhoneHost
from vm_bridge.machine import Machine
from vm_bridge.sandbox import Host, Sandbox
from vm_bridge.simulators.fake.sandbox import FakeSandbox
from vm_bridge.suites.registry import SUITES, WEB_SUITES

POLICY_SECONDS, READING_SECONDS = 1.0, 1.5
MOST_STEPS, TASKS_OF_A_KIND = 6, 4
COMPARED, COMPARED_STEPS = 200, 5
TASKS: TypeAdapter[tuple[Task, ...]] = TypeAdapter(tuple[Task, ...])
SCRIPTS = ROOT / "agent_backend" / "scripted_policy"
DEMO = ROOT / "annotation_app" / "demo"
BROWSER_SUITES = ("drills", "miniwob")


@dataclass(frozen=True, slots=True)
class Kind:
    """Machines of a kind, tasks of the demo for them, and who proposes."""

    image: str
    host: Callable[[Path], Host]
    tasks: tuple[Task, ...]
    scripts: tuple[Script, ...] = ()
    """Of its policy; none, and the machine's expert proposes."""


def kinds() -> tuple[Kind, ...]:
    """Desktops, phones and browsers."""
    desktop, phone = (load_scripts(SCRIPTS / f"{name}.json") for name in ("desktop", "phone"))
    desktop_tasks = _scripted(TASKS.validate_json((DEMO / "tasks.json").read_bytes()), desktop)
    phone_tasks = _scripted(TASKS.validate_json((DEMO / "phone.json").read_bytes()), phone)
    browser = TASKS.validate_json((DEMO / "browser.json").read_bytes())
    pages = [[task for task in browser if task.suite == suite] for suite in BROWSER_SUITES]
    mixed = tuple(task for pair in zip(*pages, strict=False) for task in pair)
    return (
        Kind("browser", lambda folder: BrowserHost(folder, WEB_SUITES), mixed[:TASKS_OF_A_KIND]),
        Kind("desktop", lambda folder: LocalHost(folder, SUITES), desktop_tasks, desktop),
        Kind("phone", lambda folder: PhoneHost(LocalHost(folder, SUITES), folder, SUITES), phone_tasks, phone),
    )


def _scripted(tasks: Sequence[Task], scripts: Sequence[Script]) -> tuple[Task, ...]:
    """The tasks with the longest scripts."""
    lengths = {script.instruction: len(script.stages) for script in scripts}
    known = [task for task in tasks if task.instruction in lengths]
    return tuple(sorted(known, key=lambda task: -lengths[task.instruction])[:TASKS_OF_A_KIND])


async def measure(folder: Path) -> dict[str, Any]:
    """Waits with and without, how often the guess held, and how many episodes came out differently."""
    waits: dict[bool, list[float]] = {True: [], False: []}
    beyond_act: list[float] = []
    held: list[bool] = []
    by_kind: dict[str, float] = {}
    compared, wrong = await _compare_painted()
    real = starts = differ = unrepeatable = checked = 0
    for kind in kinds():
        of_kind: list[bool] = []
        async with _machines(kind, folder / kind.image) as (machine, twin):
            for task in kind.tasks:
                plain = await _play(kind, task, machine, None)
                ahead = await _play(kind, task, machine, twin)
                waits[True] += [ms for ms, hit in zip(ahead.waits, ahead.held, strict=True) if hit]
                timed = zip(ahead.waits, ahead.acts, ahead.held, strict=True)
                beyond_act += [ms - act for ms, act, hit in timed if hit]
                waits[False] += plain.waits
                of_kind += ahead.held
                real, checked = real + 1, checked + ahead.checked
                wrong += ahead.wrong > 0
                if not _start_alike(ahead, plain):
                    starts += 1
                    continue
                if (difference := first_difference(ahead.steps, plain.steps)) is not None:
                    print_progress(f"{task.id} with a twin and without: {difference}")
                    again = await _play(kind, task, machine, None)
                    if (difference := first_difference(again.steps, plain.steps)) is not None:
                        print_progress(f"{task.id} twice without a twin: {difference}")
                        unrepeatable += 1
                    else:
                        differ += 1
        held += of_kind
        by_kind[kind.image] = round(sum(of_kind) / len(of_kind), 3)
        print_progress(f"{kind.image}: the guess held at {sum(of_kind)} of {len(of_kind)} steps")
    return {
        "accept_to_proposals_p50_ms": percentile(waits[True], 0.5),
        "accept_to_proposals_beyond_act_p50_ms": percentile(beyond_act, 0.5),
        "accept_to_proposals_without_speculation_p50_ms": percentile(waits[False], 0.5),
        "speculation_hit_share": round(sum(held) / len(held), 3),
        "speculation_hit_share_by_kind": by_kind,
        "speculation_compared": compared + real,
        "speculation_compared_real": real,
        "speculation_answers_checked": checked,
        "speculation_records_differ": differ,
        "speculation_starts_differ": starts,
        "speculation_unrepeatable": unrepeatable,
        "speculation_wrong": wrong,
    }


def _start_alike(one: Played, other: Played) -> bool:
    """Whether both began at the same screen: a machine that shows another one each time says nothing of twins."""
    return [step["before"] for step in one.steps[:1]] == [step["before"] for step in other.steps[:1]]


@asynccontextmanager
async def _machines(kind: Kind, folder: Path) -> AsyncIterator[tuple[Sandbox, Sandbox]]:
    host = kind.host(folder)
    try:
        yield await host.create(kind.image), await host.create(kind.image)
    finally:
        await host.close()


async def _play(kind: Kind, task: Task, machine: Sandbox, twin: Sandbox | None) -> Played:
    episode: Episode | None = None

    def current() -> Machine:
        assert episode is not None
        return episode.machine

    scripts = kind.scripts
    policy = ScriptsPolicy(scripts, POLICY_SECONDS) if scripts else TimedExpert(current, POLICY_SECONDS)
    episode = Episode(task, machine, twin, policy)
    return await episode.play(first_candidate(MOST_STEPS), lambda _: READING_SECONDS)


async def _compare_painted() -> tuple[int, int]:
    """Episodes of painted machines, each with a twin and without: how many, and how many came out differently."""
    wrong = held = 0
    for seed in range(COMPARED):
        ahead, plain = [await _play_painted(seed, twin=twin) for twin in (True, False)]
        wrong += ahead.steps != plain.steps
        held += sum(ahead.held)
    print_progress(f"{COMPARED} episodes played twice: {held} guesses held, {wrong} episodes differ")
    assert held, "no guess held, so nothing was compared"
    return COMPARED, wrong


async def _play_painted(seed: int, *, twin: bool) -> Played:
    machine, second = (FakeSandbox("desktop", width=320, height=240) for _ in range(2))
    task = Task(id=f"painted-{seed}", instruction="Click here and there.")
    policy: TimedPolicy = PixelsPolicy(0.0)
    draw = Random(seed)
    pauses = [draw.choice((0.0, 0.03)) for _ in range(COMPARED_STEPS + 1)]
    return await Episode(task, machine, second if twin else None, policy).play(
        anyhow(seed, COMPARED_STEPS), pauses.__getitem__
    )
