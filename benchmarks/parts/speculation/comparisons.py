"""Episodes played with a twin and without: how many came out differently, and whether a planted fault is found."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal
from unittest.mock import patch

from agent_backend.episode import speculation
from agent_backend.scripted_policy.script import load_scripts
from benchmarks.parts.figures import print_progress
from benchmarks.parts.speculation.episodes import (
    Decide,
    Episode,
    Played,
    anyhow,
    first_candidate,
    first_difference,
    first_or_second,
)
from benchmarks.parts.speculation.kinds import DEMO, SCRIPTS, TASKS, Kind, kinds, machines, policy_of
from benchmarks.parts.speculation.policies import PixelsPolicy
from protocol.actions.types import Action
from protocol.trajectory.tasks import Task
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.sandbox import Sandbox
from vm_bridge.simulators.fake.sandbox import FakeSandbox
from vm_bridge.suites.registry import SUITES

PAINTED, PAINTED_STEPS = 200, 5
REAL_STEPS = 2
"""Decisions of an episode on a real machine."""
EPISODES = {"browser": 160, "desktop": 30, "terminal": 24, "phone": 6}
"""Episodes on real machines, by image."""
AT_ONCE = 2
"""Episodes of one image that are played at once, each on machines of its own."""
PLANTED = 20
Outcome = Literal["equal", "wrong", "differs", "starts_differ", "unrepeatable"]


@dataclass(frozen=True, slots=True)
class Script:
    """A task and what a person does in it."""

    kind: Kind
    task: Task
    seed: int


async def compare_real(folder: Path) -> dict[str, Any]:
    """Play episodes on real machines with a twin and without, and count how they compare."""
    outcomes: Counter[Outcome] = Counter()
    checked = 0
    queues = {kind.image: iter(_scripts(kind)) for kind in _kinds()}

    async def lane(kind: Kind, number: int) -> None:
        nonlocal checked
        async with machines(kind, folder / f"{kind.image}-{number}") as (machine, twin):
            for script in queues[kind.image]:
                outcome, ahead = await _compare(script, machine, twin)
                outcomes[outcome] += 1
                checked += ahead.checked

    for kind in _kinds():
        await asyncio.gather(*(lane(kind, number) for number in range(AT_ONCE)))
        print_progress(f"{kind.image}: {dict(outcomes)}")
    return {
        "speculation_compared_real": outcomes["equal"] + outcomes["wrong"] + outcomes["differs"],
        "speculation_answers_checked": checked,
        "speculation_wrong_real": outcomes["wrong"],
        "speculation_records_differ": outcomes["differs"],
        "speculation_starts_differ": outcomes["starts_differ"],
        "speculation_unrepeatable": outcomes["unrepeatable"],
    }


def _kinds() -> tuple[Kind, ...]:
    """The demo's machines with their tasks, terminals too, as many of a task as are needed."""
    terminal = load_scripts(SCRIPTS / "terminal.json")
    tasks = TASKS.validate_json((DEMO / "terminal.json").read_bytes())
    every = (*kinds(most=10_000), Kind("terminal", lambda folder: LocalHost(folder, SUITES), tasks, terminal))
    return tuple(kind for kind in every if EPISODES[kind.image])


def _scripts(kind: Kind) -> Iterator[Script]:
    for seed in range(EPISODES[kind.image]):
        task = kind.tasks[seed % len(kind.tasks)]
        yield Script(kind, task, seed)


async def _compare(script: Script, machine: Sandbox, twin: Sandbox) -> tuple[Outcome, Played]:
    plain = await _play(script, machine, None)
    ahead = await _play(script, machine, twin)
    outcome, difference = compare(ahead, plain)
    if outcome == "differs":
        again = await _play(script, machine, None), await _play(script, machine, twin)
        if compare(again[1], again[0])[0] == "equal" or first_difference(again[0].steps, plain.steps) is not None:
            outcome = "unrepeatable"
    if outcome != "equal":
        print_progress(f"{script.task.id}, seed {script.seed}: {outcome}, {difference}")
    return outcome, ahead


def compare(ahead: Played, plain: Played) -> tuple[Outcome, str | None]:
    """How an episode with a twin came out beside one without, and where they differ first.

    `wrong`: the policy says something else of the episode than what was prepared and shown.
    """
    difference = first_difference(ahead.steps, plain.steps)
    if ahead.wrong:
        return "wrong", difference or "what was shown is not what the policy says"
    if difference is None:
        return "equal", None
    first = [[step["before"] for step in played.steps[:1]] for played in (ahead, plain)]
    return ("differs" if first[0] == first[1] else "starts_differ"), difference


async def _play(script: Script, machine: Sandbox, twin: Sandbox | None) -> Played:
    holder: list[Episode] = []
    policy = policy_of(script.kind, lambda: holder[0].machine, 0.0)
    episode = Episode(script.task, machine, twin, policy)
    holder.append(episode)
    decide: Decide = first_or_second(script.seed, REAL_STEPS)
    draw = Random(script.seed)
    patient = [draw.random() < 0.8 for _ in range(REAL_STEPS + 1)]
    return await episode.play(decide, reader(episode, patient))


async def compare_painted() -> dict[str, Any]:
    """Episodes of painted machines, each with a twin and without."""
    wrong = held = 0
    for seed in range(PAINTED):
        ahead, plain = [await play_painted(seed, twin=twin) for twin in (True, False)]
        wrong += compare(ahead, plain)[0] != "equal"
        held += sum(ahead.held)
    print_progress(f"{PAINTED} painted episodes played twice: {held} guesses held, {wrong} episodes differ")
    assert held, "no guess held, so nothing was compared"
    return {"speculation_compared_painted": PAINTED, "speculation_wrong_painted": wrong}


async def find_planted(episodes: int = PLANTED) -> dict[str, Any]:
    """Episodes on machines that show something else than their twins, in which prepared candidates are shown all the
    same: how many, and how many of these are found."""
    planted = found = 0
    for seed in range(episodes):
        plain = await play_planted(seed, twin=False)
        with patch.object(speculation, "reads_same", lambda *_: True):
            ahead = await play_planted(seed, twin=True)
        planted += any(ahead.held)
        found += any(ahead.held) and compare(ahead, plain)[0] == "wrong"
    return {"speculation_planted": planted, "speculation_planted_found": found}


class DriftingSandbox(FakeSandbox):
    """A painted machine that shows something of its own after each act, as one whose clock runs does."""

    def _paint(self, action: Action) -> None:
        super()._paint(action)
        self.screen.pixels[-8:, -8:, :3] = 7 * len(self.acts)


async def play_planted(seed: int, *, twin: bool) -> Played:
    """An episode whose first candidate is accepted once, on a machine that then shows something else than its twin."""
    episode = _painted(seed, DriftingSandbox, twin=twin)
    return await episode.play(first_candidate(1), reader(episode, [True, False]))


async def play_painted(seed: int, *, twin: bool) -> Played:
    """An episode on a painted machine by a seed."""
    draw = Random(seed)
    patient = [draw.random() < 0.5 for _ in range(PAINTED_STEPS + 1)]
    episode = _painted(seed, FakeSandbox, twin=twin)
    return await episode.play(anyhow(seed, PAINTED_STEPS), reader(episode, patient))


def _painted(seed: int, sandbox: type[FakeSandbox], *, twin: bool) -> Episode:
    machine, second = sandbox("desktop", width=320, height=240), FakeSandbox("desktop", width=320, height=240)
    task = Task(id=f"painted-{seed}", instruction="Click here and there.")
    return Episode(task, machine, second if twin else None, PixelsPolicy(0.0))


def reader(episode: Episode, patient: list[bool]) -> Callable[[int], Awaitable[None] | None]:
    """Reads at the decisions where it is patient, until the guess is made."""
    return lambda number: episode.read_until_guessed(number) if patient[number] else None
