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
from vm_bridge.errors import MachineGone
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
    *("identify-shape", "unicode-test"),
)
"""Done by one click."""
STEPWISE = {
    **dict.fromkeys(("click-tab-2-easy", "click-tab-2-medium", "navigate-tree"), 1),
    **dict.fromkeys(("click-collapsible", "click-collapsible-nodelay", "click-collapsible-2-nodelay"), 2),
    **dict.fromkeys(("circle-center", "click-option", "click-button-sequence", "find-greatest", "generate-number"), 2),
    **dict.fromkeys(("click-tab-2-hard",), 2),
    **dict.fromkeys(("enter-text", "enter-text-2", "enter-text-dynamic", "enter-time", "choose-date-easy"), 3),
    **dict.fromkeys(("click-checkboxes", "click-checkboxes-transfer"), 3),
    **dict.fromkeys(("form-sequence-2", "use-autocomplete-nodelay", "odd-or-even"), 4),
    **dict.fromkeys(("enter-password", "login-user", "login-user-popup", "ascending-numbers"), 5),
    **dict.fromkeys(("click-shades", "search-engine"), 5),
    "multi-orderings": 7,
}
"""Done by several acts on some seeds or on all: how many the expert needs, in the middle of 120 seeds."""
MULTISTEP = 3
"""From so many acts on a task is one of several steps."""
SIZE = (160, 210)
SEEDS, RANDOM, BLIND = 20, 12, 4
"""Attempts at a task by the policy, at random and blind; the latter two use up all their acts."""
MORE = 4
"""Acts an attempt may have beyond what the expert needs; one that is one click has one more."""
PAGES = 6
"""Attempts at a time."""
TOKENS = 64
"""A reply may have: a click has eight, and what is typed is spelled."""
LOST = 2
"""Times that an attempt may lose its page."""
PATIENCE = 120.0
SOLVED = 0.8
GREY = (128, 128, 128)


class Figures(TypedDict):
    """Of one task: shares of its seeds that were solved."""

    success_rate: float
    ci95: tuple[float, float]
    random: float
    random_ci95: tuple[float, float]
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
        "multistep_tasks_above_0_8": len([name for name in solved if STEPWISE.get(name, 1) >= MULTISTEP]),
        "miniwob_tasks_above_0_8": len(solved),
        "miniwob_tasks_above_random": len([one for one in tasks.values() if one["ci95"][0] > one["random_ci95"][1]]),
    }


async def _task(sandboxes: Sequence[BrowserSandbox], policy: OpenAIPolicy, name: str, seeds: int) -> Figures:
    todo = deque[tuple[list[bool], Decide, int]]()
    wins, blind, chance = list[bool](), list[bool](), list[bool]()
    todo.extend((wins, _Asked(policy, blind=False), seed) for seed in range(seeds))
    todo.extend((blind, _Asked(policy, blind=True), seed) for seed in range(BLIND))
    todo.extend((chance, at_random(Random(f"{name} {seed}")), seed) for seed in range(RANDOM))

    async def play(sandbox: BrowserSandbox) -> None:
        while todo:
            into, decide, seed = todo.popleft()
            into.append(await _opened(sandbox, decide, name, seed))

    await asyncio.gather(*map(play, sandboxes))
    rate, by_chance = rate_of(sum(wins), seeds), rate_of(sum(chance), len(chance))
    return {
        "success_rate": round(rate.rate, 3),
        "ci95": (round(rate.low, 3), round(rate.high, 3)),
        "random": round(by_chance.rate, 3),
        "random_ci95": (round(by_chance.low, 3), round(by_chance.high, 3)),
        "blind": round(sum(blind) / len(blind), 3),
    }


async def _opened(sandbox: BrowserSandbox, decide: Decide, name: str, seed: int) -> bool:
    """An attempt; again from its beginning where the page was lost, as on a machine that has too much to do. Raises
    MachineGone."""
    for _ in range(LOST):
        try:
            return await attempt(sandbox, decide, name, seed)
        except MachineGone as error:
            say(f"{name}, seed {seed}, again: {error}")
    return await attempt(sandbox, decide, name, seed)


async def attempt(sandbox: BrowserSandbox, decide: Decide, name: str, seed: int) -> bool:
    """Whether the page's own reward says that it was solved."""
    view, steps = sandbox.bind(1), list[Step]()
    task = MiniWob().make(name, seed=seed, size=SIZE)
    seen = await view.prepare(task)
    task = task.model_copy(update={"instruction": await sandbox.browser.read(1, instruction_read)})
    most = STEPWISE[name] + MORE if name in STEPWISE else 2
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
