"""Policies that take a stated time: the demo's scripts and experts. What they say follows from what they are asked."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random
from typing import Any

from agent_backend.policy.expert import ExpertPolicy
from agent_backend.scripted_policy.script import UNKNOWN_TASK_STAGE, Line, Script, find_script, sample_lines
from protocol.actions.types import Action, Click
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import PolicyRef, Proposal
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task
from vm_bridge.machine import Machine

CANDIDATES = 3


class Questions(list[int]):
    """How many steps each question to a policy held, in order."""

    def __init__(self) -> None:
        super().__init__()
        self._asked: defaultdict[int, asyncio.Event] = defaultdict(asyncio.Event)

    def add(self, steps: int) -> None:
        """Note a question about so many steps."""
        self.append(steps)
        self._asked[steps].set()

    def asked_about(self, steps: int) -> asyncio.Event:
        """Set once there was a question about so many steps."""
        return self._asked[steps]


class TimedPolicy:
    """Takes `seconds` for each answer; `questions` says how many steps each question held."""

    def __init__(self, seconds: float) -> None:
        self.ref = PolicyRef(name="timed", revision="1", dialect="ui_tars_1_5", scripted=True)
        self.questions = Questions()
        self._seconds = seconds

    async def propose(self, task: Task, steps: tuple[Step, ...], observation: Observation, **_: Any) -> Any:
        """See `interfaces.Policy.propose`."""
        self.questions.add(len(steps))
        await asyncio.sleep(self._seconds)
        lines = await self.lines(task, steps, observation)
        return tuple(self._proposal(rank, line, len(steps)) for rank, line in enumerate(lines, 1))

    async def answer(
        self, task: Task, steps: tuple[Step, ...], observation: Observation
    ) -> list[tuple[str, Action | None]]:
        """Its thoughts and actions at once, best first; no question is counted."""
        return [(line.thought, line.action) for line in await self.lines(task, steps, observation)]

    async def lines(self, task: Task, steps: tuple[Step, ...], observation: Observation) -> tuple[Line, ...]:
        """What it says, best first."""
        raise NotImplementedError

    def _proposal(self, rank: int, line: Line, steps: int) -> Proposal:
        text = line.action.model_dump_json()
        return Proposal(
            id=f"proposal-{steps}-{rank}-{len(self.questions)}",
            rank=rank,
            thought=line.thought,
            action=line.action,
            action_text=text,
            raw_text=text,
            policy=self.ref,
            latency_ms=self._seconds * 1000,
            created_at=datetime.now(UTC),
        )


class ScriptsPolicy(TimedPolicy):
    """The demo's scripts of desktops and phones."""

    def __init__(self, scripts: tuple[Script, ...], seconds: float) -> None:
        super().__init__(seconds)
        self._scripts = scripts

    async def lines(self, task: Task, steps: tuple[Step, ...], observation: Observation) -> tuple[Line, ...]:
        """The lines of the stage that these steps led to."""
        script = find_script(self._scripts, task.instruction)
        stage = script.stage_after(tuple(step.action for step in steps)) if script else UNKNOWN_TASK_STAGE
        # A line with a tool call cannot be hashed.
        return tuple({line.model_dump_json(): line for line in sample_lines(stage, CANDIDATES)}.values())


class PixelsPolicy(TimedPolicy):
    """Clicks at places that are drawn from the picture and the past, as a model with a seed would."""

    async def lines(self, task: Task, steps: tuple[Step, ...], observation: Observation) -> tuple[Line, ...]:
        """Two clicks."""
        picture = observation.screenshot
        past = "|".join(f"{step.decision} {step.thought} {step.action}" for step in steps)
        draw = Random(f"{task.id} {past} {picture and picture.sha256}")
        points = [(draw.randrange(observation.width), draw.randrange(observation.height)) for _ in range(2)]
        return tuple(Line(thought=f"I click at {x}, {y}.", action=Click(x=x, y=y)) for x, y in points)


class TimedExpert(ExpertPolicy):
    """A machine's expert that takes a stated time; `questions` says how many steps each question held, those to its
    like for a twin included."""

    def __init__(self, machine: Callable[[], Machine], seconds: float, questions: Questions | None = None) -> None:
        ref = PolicyRef(name="timed", revision="1", dialect="ui_tars_1_5", scripted=True)
        super().__init__(ref, lambda: machine().suggest_expert_action())
        self.questions = Questions() if questions is None else questions
        self._seconds = seconds

    def for_twin(self, twin: Machine) -> ExpertPolicy:
        """The same expert, who looks at a twin."""
        return TimedExpert(lambda: twin, self._seconds, self.questions)

    async def answer(
        self, task: Task, steps: tuple[Step, ...], observation: Observation
    ) -> list[tuple[str, Action | None]]:
        """Its thought and action at once; no question is counted."""
        given: dict[str, Any] = {"kinds": frozenset(), "blob": _ignore, "partial": _ignore}
        return [(one.thought, one.action) for one in await super().propose(task, steps, observation, **given)]

    async def propose(self, task: Task, steps: tuple[Step, ...], observation: Observation, **given: Any) -> Any:
        """See `interfaces.Policy.propose`."""
        self.questions.add(len(steps))
        await asyncio.sleep(self._seconds)
        return await super().propose(task, steps, observation, **given)


async def _ignore(_: Any) -> Any:
    """An expert reads no pictures and streams nothing."""
