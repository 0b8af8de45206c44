"""Tasks of MiniWoB++ on live pages, from pixels: what a policy solves, what it solves blind, and what clicks at random
come to. Nothing of a page but its picture and its instruction is shown to it."""

import asyncio
import io
import uuid
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import TypedDict

from PIL import Image

from agent_backend.policy.completions import Waits
from agent_backend.policy.openai import Endpoint, OpenAIPolicy
from benchmarks.parts.browser_steps import machines
from benchmarks.parts.figures import say
from vm_bridge.hosts.browser import BrowserSandbox
from vm_bridge.machine import Machine
from vm_bridge.suites.miniwob import MiniWob
from vm_bridge.suites.miniwob.suite import instruction_read
from vocabulary.actions import CONTROL_KINDS, Action, Click, Finish
from vocabulary.blobs import BlobRef
from vocabulary.memory import Budget
from vocabulary.observations import Observation
from vocabulary.sampling import Sampling
from vocabulary.statistics import rate_of
from vocabulary.steps import Step
from vocabulary.tasks import Task

POINTING = (
    *("click-test", "click-test-2", "click-test-transfer", "click-button", "click-dialog", "click-dialog-2"),
    *("click-tab", "click-link", "click-widget", "click-color", "focus-text", "focus-text-2", "grid-coordinate"),
    "identify-shape",
)
"""Done by one click."""
STEPWISE = (
    *("circle-center", "click-option", "click-button-sequence", "enter-text", "click-checkboxes"),
    "click-collapsible",
)
"""Done by several acts."""
SIZE = (160, 210)
SEEDS, CONTROLS = 20, 10
"""Attempts at a task by the policy; and of those so many blind and at random, which use up all their acts."""
MOST = {"pointing": 2, "stepwise": 8}
"""Acts an attempt may have: an expert needs one, and up to six."""
PAGES = 4
"""Attempts at a time."""
TOKENS = 64
"""A reply may have: a click has eight, and what is typed is spelled."""
PATIENCE = 120.0
SOLVED = 0.8
GREY = (128, 128, 128)


class Figures(TypedDict):
    """Of one task: shares of its seeds that were solved."""

    success_rate: float
    ci95: tuple[float, float]
    random: float
    blind: float


Decide = Callable[[Machine, Task, tuple[Step, ...], Observation], Awaitable[tuple[str, Action | None]]]
"""The thought and the act on a screen; None where nothing sensible was said."""


async def measure(folder: Path, server: str, *, seeds: int = SEEDS) -> dict[str, object]:
    """The figures of every task, and how many of them are solved, with a policy that is served there."""
    policy = OpenAIPolicy(
        Endpoint(
            base_url=f"{server}/v1",
            model="tiny",
            dialect="ui_tars_1_5",
            name="nano",
            revision="1",
            sampling=Sampling(n=1, temperature=0.0, max_tokens=TOKENS),
            waits=Waits(token=PATIENCE, total=PATIENCE),
            budget=Budget(images=1, stride=1),
        )
    )
    tasks = dict[str, Figures]()
    try:
        async with machines(folder, PAGES) as sandboxes:
            for name in (*POINTING, *STEPWISE):
                tasks[name] = await _task(sandboxes, policy, name, seeds)
                say(f"{name}: {tasks[name]}")
    finally:
        await policy.aclose()
    solved = [name for name, figures in tasks.items() if figures["success_rate"] >= SOLVED]
    return {
        "tasks": tasks,
        "tasks_above_0_8": len(solved),
        "pointing_tasks_above_0_8": len([name for name in solved if name in POINTING]),
        "multistep_tasks_above_0_8": len([name for name in solved if name in STEPWISE]),
        "miniwob_tasks_above_0_8": len(solved),
        "miniwob_tasks_above_random": len([one for one in tasks.values() if one["ci95"][0] > one["random"]]),
    }


async def _task(sandboxes: Sequence[BrowserSandbox], policy: OpenAIPolicy, name: str, seeds: int) -> Figures:
    controls = range(min(seeds, CONTROLS))
    todo = deque[tuple[list[bool], Decide, int]]()
    wins, blind, chance = list[bool](), list[bool](), list[bool]()
    todo.extend((wins, _Asked(policy, blind=False), seed) for seed in range(seeds))
    todo.extend((blind, _Asked(policy, blind=True), seed) for seed in controls)
    todo.extend((chance, at_random(Random(f"{name} {seed}")), seed) for seed in controls)

    async def play(sandbox: BrowserSandbox) -> None:
        while todo:
            into, decide, seed = todo.popleft()
            into.append(await attempt(sandbox, decide, name, seed))

    await asyncio.gather(*map(play, sandboxes))
    rate = rate_of(sum(wins), seeds)
    return {
        "success_rate": round(rate.rate, 3),
        "ci95": (round(rate.low, 3), round(rate.high, 3)),
        "random": round(sum(chance) / len(chance), 3),
        "blind": round(sum(blind) / len(blind), 3),
    }


async def attempt(sandbox: BrowserSandbox, decide: Decide, name: str, seed: int) -> bool:
    """Whether the page's own reward says that it was solved."""
    view, steps = sandbox.bind(1), list[Step]()
    task = MiniWob().make(name, seed=seed, size=SIZE)
    seen = await view.prepare(task)
    task = task.model_copy(update={"instruction": await sandbox.browser.read(1, instruction_read)})
    most = MOST["pointing" if name in POINTING else "stepwise"]
    while len(steps) < most and not (seen.page is not None and seen.page.over):
        began = datetime.now(UTC)
        thought, action = await decide(view, task, tuple(steps), seen)
        if action is None or action.kind not in view.capabilities.kinds or isinstance(action, Finish):
            break
        done = await view.perform(uuid.uuid4().hex, action)
        steps.append(_step(len(steps), thought, action, seen, done.after, began))
        seen = done.after
    return (await view.evaluate()).success is True


@dataclass(frozen=True)
class _Asked:
    """What a served policy says of the screen, or of a grey one."""

    policy: OpenAIPolicy
    blind: bool

    async def __call__(
        self, view: Machine, task: Task, steps: tuple[Step, ...], seen: Observation
    ) -> tuple[str, Action | None]:
        kinds = CONTROL_KINDS.union(view.capabilities.kinds)

        async def blob(ref: BlobRef) -> bytes:
            return grey(SIZE) if self.blind else await view.blob(ref)

        async def partial(_: object) -> None: ...

        (first, *_) = await self.policy.propose(task, steps, seen, kinds=kinds, blob=blob, partial=partial)
        return first.thought, first.action


def at_random(dice: Random) -> Decide:
    """Clicks anywhere."""

    async def decide(
        view: Machine, task: Task, steps: tuple[Step, ...], seen: Observation
    ) -> tuple[str, Action | None]:
        return "", Click(x=dice.randrange(SIZE[0]), y=dice.randrange(SIZE[1]))

    return decide


@cache
def grey(size: tuple[int, int]) -> bytes:
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
