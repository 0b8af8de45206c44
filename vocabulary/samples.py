"""Trajectories as training samples: what a policy reads at each step, and what it should have said.

The dialect and the memory that serve a policy make its samples too, so that training, exports and serving cannot drift
apart. One sample a step: consumers differ in whether they can weigh the turns of one conversation.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from vocabulary.actions import CONTROL_KINDS
from vocabulary.blobs import BlobRef
from vocabulary.conversations import Messages, messages_kept
from vocabulary.dialect import ChatMessage, Dialect, Screen
from vocabulary.memory import Budget, Recall, recall
from vocabulary.prompts import Prompt
from vocabulary.proposals import Proposal
from vocabulary.steps import Actor, Decision, Step
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
    trajectory: Trajectory,
    dialect: Dialect,
    *,
    budget: Budget = SERVED,
    language: str = "English",
    prompts: Callable[[BlobRef], Prompt | None] = lambda _: None,
    drawn: Collection[int] = (),
) -> Iterator[Sample]:
    """A sample for each step that stands, that the dialect can say, and whose act is known to have worked; a step that
    was done again is history, since the attempt it was decided in has the sample.

    Steps that are `drawn` have one whatever came of them: who learns from what a policy drew learns from its failures,
    too. What no dialect can say has no target. Where `prompts` has what a policy of this dialect was asked at a step,
    that very conversation is the sample's.
    """
    trajectory = trajectory_standing(trajectory)
    offered = None if trajectory.capabilities is None else CONTROL_KINDS.union(trajectory.capabilities)
    asked = dict(zip((step.index for step in trajectory.steps), trajectory.proposals, strict=False))
    messages: Messages = {}

    def rendered(index: int, step: Step) -> tuple[ChatMessage, ...]:
        past = _remembered(trajectory, index, budget)
        with messages_kept(messages):
            return dialect.render(
                trajectory.task,
                past.steps,
                step.before,
                images=budget.images,
                stride=budget.stride,
                earlier=past.earlier,
                memories=past.memories,
                kinds=offered,
                tools=trajectory.tools,
                language=language,
            )

    for index, step in enumerate(trajectory.steps):
        said = dialect.sayable(step.action)
        worked = said is not None and step.error is None and step.decision != "again"
        if not worked and step.index not in drawn:
            continue
        yield Sample(
            trajectory_id=trajectory.id,
            index=step.index,
            messages=_asked(asked.get(step.index, ()), dialect, prompts) or rendered(index, step),
            target=dialect.write(step.thought, said, Screen.of(step.before)) if said else "",
            actor=step.actor,
            decision=step.decision,
        )


def _asked(
    offered: tuple[Proposal, ...], dialect: Dialect, prompts: Callable[[BlobRef], Prompt | None]
) -> tuple[ChatMessage, ...]:
    """The conversation the last offers of this dialect answered; empty where it was not kept."""
    for proposal in reversed(offered):
        if proposal.prompt is not None and proposal.policy.dialect == dialect.name:
            prompt = prompts(proposal.prompt)
            return prompt.messages if prompt else ()
    return ()


def _remembered(trajectory: Trajectory, index: int, budget: Budget) -> Recall:
    """What a policy was reminded of at a step: the notes that had been written by then, and the steps after them."""
    known = tuple(note for note in trajectory.memories if note.written_at <= trajectory.steps[index].started_at)
    return recall(trajectory.steps[:index], known, budget)
