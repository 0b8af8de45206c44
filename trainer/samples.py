"""Trajectories as training samples: what a policy reads at each step, and what it should have said.

The dialect and the memory that serve a policy make its samples too, so that training and serving cannot drift
apart. One sample a step: consumers differ in whether they can weigh the turns of one conversation.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from vocabulary.actions import CONTROL_KINDS
from vocabulary.dialect import ChatMessage, Dialect, Screen
from vocabulary.memory import Budget, recalled
from vocabulary.steps import Actor, Decision
from vocabulary.trajectories import Trajectory, trajectory_standing

SERVED = Budget()
"""The history a policy is served with, unless its endpoint says otherwise."""


@dataclass(frozen=True)
class Sample:
    """One decision: the conversation before it and the assistant turn that was executed."""

    trajectory_id: str
    index: int
    messages: tuple[ChatMessage, ...]
    target: str
    actor: Actor
    decision: Decision
    weight: float = 1.0


def samples_of(
    trajectory: Trajectory, dialect: Dialect, *, budget: Budget = SERVED, language: str = "English"
) -> Iterator[Sample]:
    """A sample for each step that stands, that the dialect can say, and whose act is known to have worked."""
    trajectory = trajectory_standing(trajectory)
    offered = None if trajectory.capabilities is None else CONTROL_KINDS.union(trajectory.capabilities)
    for index, step in enumerate(trajectory.steps):
        said = dialect.sayable(step.action)
        if said is None or step.error is not None:
            continue
        yield Sample(
            trajectory_id=trajectory.id,
            index=step.index,
            messages=dialect.render(
                trajectory.task,
                recalled(trajectory.steps[:index], budget),
                step.before,
                images=budget.images,
                kinds=offered,
                tools=trajectory.tools,
                language=language,
            ),
            target=dialect.write(step.thought, said, Screen.of(step.before)),
            actor=step.actor,
            decision=step.decision,
        )
