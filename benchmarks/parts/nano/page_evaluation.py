"""Tasks on live pages, from pixels: what a policy solves, what it solves blind, and what acts at random come to.

Nothing of a page but its picture and its instruction is shown to it.
"""

import io
import time
import uuid
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import TypedDict

from PIL import Image

from agent_backend.policy.completions import RequestTimeouts
from agent_backend.policy.openai_chat import OpenAIPolicy, PolicyEndpoint
from benchmarks.parts.browser.steps import machines
from benchmarks.parts.concurrency import run_together
from benchmarks.parts.figures import print_progress
from benchmarks.parts.nano.trials import FEW, MINIWOB, TaskResult, Trial, count_solved, trials
from protocol.actions.types import CONTROL_KINDS, Action, Click, Finish
from protocol.blobs import BlobRef
from protocol.evaluation.statistics import wilson_rate
from protocol.sampling import SamplingParams
from protocol.trajectory.memory import HistoryBudget
from protocol.trajectory.observations import Observation
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task
from vm_bridge.errors import MachineGone
from vm_bridge.hosts.browser.host import BrowserSandbox
from vm_bridge.machine import Machine
from vm_bridge.suites.miniwob.suite import read_instruction
from vm_bridge.suites.web.episodes import random_action

PAGES = 6
"""Attempts at a time."""
TOKENS = 64
"""A reply may have: a click has eight, and what is typed is spelled."""
MAX_LOST_PAGES = 2
"""Times that an attempt may lose its page."""
TIMEOUT_SECONDS = 120.0
FORM = "login-user"
"""The task at whose steps proposals are timed: two texts are typed, three things are clicked."""
FORMS = 8
"""Attempts at it."""
WARM = 2
"""Proposals that are not counted, as the server has done nothing yet."""
GREY = (128, 128, 128)


class Figures(TypedDict):
    """Of one task: shares of its seeds that were solved."""

    seeds: int
    success_rate: float
    ci95: tuple[float, float]
    random: float
    random_ci95: tuple[float, float]
    blind: float
    blind_ci95: tuple[float, float]


Decide = Callable[[Machine, Task, tuple[Step, ...], Observation], Awaitable[tuple[str, Action | None]]]
"""The thought and the act on a screen; None where nothing sensible was said."""


async def measure(folder: Path, server: str, wanted: Iterable[Trial]) -> dict[str, object]:
    """The figures of these tasks, and how many of them are solved, with a policy that is served there."""
    policy = _policy(server, SamplingParams(n=1, temperature=0.0, max_tokens=TOKENS))
    tasks = dict[Trial, Figures]()
    try:
        async with machines(folder, PAGES) as sandboxes:
            for trial in wanted:
                began = time.monotonic()
                tasks[trial] = await _task(sandboxes, policy, trial)
                print_progress(f"{trial.key}: {tasks[trial]} in {time.monotonic() - began:.1f} s")
    finally:
        await policy.aclose()
    told = {
        one: TaskResult(
            each["success_rate"],
            above_random=each["ci95"][0] > each["random_ci95"][1],
            above_blind=each["ci95"][0] > each["blind_ci95"][1],
        )
        for one, each in tasks.items()
    }
    return {"tasks": {one.key: figures for one, figures in tasks.items()}, **count_solved(told)}


async def proposals(folder: Path, server: str) -> list[float]:
    """Milliseconds of three proposals at each step of a task that is clicked and typed, one page at a time."""
    policy = _policy(server, SamplingParams(n=3, temperature=1.0, max_tokens=TOKENS, seed=1))
    timed = _TimedPolicy(policy)
    (trial,) = (one for one in trials() if one.key == FORM)
    try:
        async with machines(folder, 1) as (sandbox,):
            for seed in range(FORMS):
                await _attempt_with_retry(sandbox, timed, trial, seed)
    finally:
        await policy.aclose()
    return timed.took[WARM:]


def _policy(server: str, sampling: SamplingParams) -> OpenAIPolicy:
    return OpenAIPolicy(
        PolicyEndpoint(
            base_url=f"{server}/v1",
            model="tiny",
            dialect="ui_tars_1_5",
            name="nano",
            revision="1",
            sampling=sampling,
            timeouts=RequestTimeouts(token=TIMEOUT_SECONDS, total=TIMEOUT_SECONDS),
            budget=HistoryBudget(images=1, stride=1),
        )
    )


async def _task(sandboxes: Sequence[BrowserSandbox], policy: OpenAIPolicy, trial: Trial) -> Figures:
    wins, blind, chance = list[bool](), list[bool](), list[bool]()
    asked, unaided = _ServedPolicy(policy), _ServedPolicy(policy, grey_picture(trial.size))
    begun: list[tuple[list[bool], Decide, int]] = [(wins, asked, seed) for seed in range(trial.first)]
    begun += [(blind, unaided, seed) for seed in range(min(FEW, trial.blind))]
    begun += [(chance, random_policy(trial, seed), seed) for seed in range(min(FEW, trial.chance))]
    await _run_attempts(sandboxes, trial, begun)
    if any(wins):
        await _run_attempts(sandboxes, trial, [(wins, asked, seed) for seed in range(trial.first, trial.seeds)])
        more: list[tuple[list[bool], Decide, int]] = []
        if not is_clearly_above(wins, blind):
            more += [(blind, unaided, seed) for seed in range(len(blind), trial.blind)]
        if not is_clearly_above(wins, chance):
            more += [(chance, random_policy(trial, seed), seed) for seed in range(len(chance), trial.chance)]
        await _run_attempts(sandboxes, trial, more)
    rate, by_chance, unseeing = (wilson_rate(sum(each), len(each)) for each in (wins, chance, blind))
    return {
        "seeds": len(wins),
        "success_rate": round(rate.rate, 3),
        "ci95": (round(rate.low, 3), round(rate.high, 3)),
        "random": round(by_chance.rate, 3),
        "random_ci95": (round(by_chance.low, 3), round(by_chance.high, 3)),
        "blind": round(unseeing.rate, 3),
        "blind_ci95": (round(unseeing.low, 3), round(unseeing.high, 3)),
    }


def is_clearly_above(wins: Sequence[bool], others: Sequence[bool]) -> bool:
    """Whether the share of wins is above the other, their intervals apart."""
    return wilson_rate(sum(wins), len(wins)).low > wilson_rate(sum(others), len(others)).high


async def _run_attempts(
    sandboxes: Sequence[BrowserSandbox], trial: Trial, attempts: Iterable[tuple[list[bool], Decide, int]]
) -> None:
    """Each of these, one on each machine at a time; how it ended is added to its list."""
    todo = deque(attempts)

    async def play(sandbox: BrowserSandbox) -> None:
        while todo:
            into, decide, seed = todo.popleft()
            into.append(await _attempt_with_retry(sandbox, decide, trial, seed))

    await run_together(*map(play, sandboxes))


async def _attempt_with_retry(sandbox: BrowserSandbox, decide: Decide, trial: Trial, seed: int) -> bool:
    """An attempt; again from its beginning where the page was lost, as on a machine that has too much to do. Raises
    MachineGone."""
    for _ in range(MAX_LOST_PAGES):
        try:
            return await attempt(sandbox, decide, trial, seed)
        except MachineGone as error:
            print_progress(f"{trial.key}, seed {seed}, again: {error}")
    return await attempt(sandbox, decide, trial, seed)


async def attempt(sandbox: BrowserSandbox, decide: Decide, trial: Trial, seed: int) -> bool:
    """Whether the page's own reward says that it was solved."""
    view, steps = sandbox.bind(1), list[Step]()
    task = trial.task(seed)
    seen = await view.prepare(task)
    if trial.suite == MINIWOB:
        task = task.model_copy(update={"instruction": await sandbox.browser.read(1, read_instruction)})
    while len(steps) < trial.most and not (seen.page is not None and seen.page.over):
        began = datetime.now(UTC)
        thought, action = await decide(view, task, tuple(steps), seen)
        if action is None or action.kind not in view.capabilities.kinds or isinstance(action, Finish):
            break
        done = await view.perform(uuid.uuid4().hex, action)
        steps.append(_step(len(steps), thought, action, seen, done.after, began))
        seen = done.after
        if is_stuck(steps, trial.still):
            break
    return (await view.evaluate()).success is True


def is_stuck(steps: Sequence[Step], still: int) -> bool:
    """Whether the last steps did all the same at the same picture, and changed nothing."""
    last = steps[-still:]
    pictures = {picture for one in last for picture in (one.before.screenshot, one.after and one.after.screenshot)}
    return len(last) == still and len(pictures) == 1 and len({one.action for one in last}) == 1


@dataclass(frozen=True)
class _ServedPolicy:
    """What a served policy says of the screen, or of another picture in its place."""

    policy: OpenAIPolicy
    instead: bytes | None = None

    async def __call__(
        self, view: Machine, task: Task, steps: tuple[Step, ...], seen: Observation
    ) -> tuple[str, Action | None]:
        kinds = CONTROL_KINDS.union(view.capabilities.kinds)

        async def blob(ref: BlobRef) -> bytes:
            return await view.blob(ref) if self.instead is None else self.instead

        async def partial(_: object) -> None: ...

        (first, *_) = await self.policy.propose(task, steps, seen, kinds=kinds, blob=blob, partial=partial)
        return first.thought, first.action


@dataclass(frozen=True)
class _TimedPolicy(_ServedPolicy):
    """The same, and how long it took each time (milliseconds)."""

    took: list[float] = field(default_factory=list)

    async def __call__(
        self, view: Machine, task: Task, steps: tuple[Step, ...], seen: Observation
    ) -> tuple[str, Action | None]:
        began = time.perf_counter()
        said = await super().__call__(view, task, steps, seen)
        self.took.append((time.perf_counter() - began) * 1000)
        return said


def random_policy(trial: Trial, seed: int) -> Decide:
    """Clicks anywhere; at bundled tasks, any of the acts that their own baseline knows."""
    rng = Random(f"{trial.key} {seed}")

    async def decide(
        view: Machine, task: Task, steps: tuple[Step, ...], seen: Observation
    ) -> tuple[str, Action | None]:
        if trial.suite == MINIWOB:
            return "", Click(x=rng.randrange(trial.size[0]), y=rng.randrange(trial.size[1]))
        return "", random_action(rng, trial.size)

    return decide


@cache
def grey_picture(size: tuple[int, int]) -> bytes:
    """A picture of nothing."""
    data = io.BytesIO()
    Image.new("RGB", size, GREY).save(data, "JPEG")
    return data.getvalue()


def _step(index: int, thought: str, action: Action, before: Observation, after: Observation, began: datetime) -> Step:
    return Step(
        index=index,
        command_id=uuid.uuid4().hex,
        actor="policy",
        decision="auto",
        thought=thought,
        action=action,
        before=before,
        after=after,
        started_at=began,
        ended_at=datetime.now(UTC),
    )
