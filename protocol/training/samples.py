"""Trajectories as training samples: what a policy reads at each step, and what it should have said.

The dialect and the memory that serve a policy make its samples too, so that training, exports and serving cannot drift
apart. One sample a step: consumers differ in whether they can weigh the turns of one conversation.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from protocol.actions.types import CONTROL_KINDS
from protocol.blobs import BlobRef
from protocol.dialects.conversations import MessageCache, cache_messages
from protocol.dialects.dialect import ChatMessage, Dialect, ScreenSize
from protocol.dialects.prompts import Prompt
from protocol.trajectory.memory import HistoryBudget, StepLengths, estimate_tokens, recall_history
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.steps import Actor, Decision, Step, learned_form
from protocol.trajectory.trajectories import ORIGINAL, Trajectory, without_undone_steps

DEFAULT_HISTORY_BUDGET = HistoryBudget()
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


def training_samples(
    trajectory: Trajectory,
    dialect: Dialect,
    *,
    budget: HistoryBudget = DEFAULT_HISTORY_BUDGET,
    language: str = "English",
    prompts: Callable[[BlobRef], Prompt | None] = lambda _: None,
    sampled_steps: Collection[int] = (),
) -> Iterator[Sample]:
    """A sample for each step that stands, that the dialect can say, and whose act is known to have worked; a step that
    was done again is history, since the attempt it was decided in has the sample. So is one whose thought is owed, and
    one that a reviewer found wrong. Where a reviewer corrected a step, the correction is the target, while the history
    of later steps has what was done.

    A variant of a recorded session has samples of the steps whose thought it changes; the others are those of the
    original.

    `sampled_steps` have one whatever came of them: a policy that learns from its own samples learns from its failures,
    too. What no dialect can say has no target. Where `prompts` has what a policy of this dialect was asked at a step,
    that very conversation is the sample's.
    """
    trajectory = without_undone_steps(trajectory)
    offered = None if trajectory.capabilities is None else CONTROL_KINDS.union(trajectory.capabilities)
    proposals_by_step = dict(zip((step.index for step in trajectory.steps), trajectory.proposals, strict=False))
    messages: MessageCache = {}
    step_lengths: StepLengths = {}

    def rendered(index: int, step: Step) -> tuple[ChatMessage, ...]:
        available = tuple(note for note in trajectory.memories if note.written_at <= step.started_at)
        past = recall_history(trajectory.steps[:index], available, budget, estimate_tokens, step_lengths)
        with cache_messages(messages):
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
        if trajectory.variant != ORIGINAL and step.index not in trajectory.variant_steps:
            continue
        learned = learned_form(step)
        target = learned or step
        supported = dialect.supported_form(target.action)
        if (learned is None or supported is None) and step.index not in sampled_steps:
            continue
        yield Sample(
            trajectory_id=trajectory.id,
            index=step.index,
            messages=_stored_prompt(proposals_by_step.get(step.index, ()), dialect, prompts) or rendered(index, step),
            target=dialect.write(target.thought, supported, ScreenSize.of(step.before)) if supported else "",
            actor=step.actor,
            decision=step.decision,
        )


def _stored_prompt(
    offered: tuple[Proposal, ...], dialect: Dialect, prompts: Callable[[BlobRef], Prompt | None]
) -> tuple[ChatMessage, ...]:
    """The conversation the last offers of this dialect answered; empty where it was not kept."""
    for proposal in reversed(offered):
        if proposal.prompt is not None and proposal.policy.dialect == dialect.name:
            prompt = prompts(proposal.prompt)
            return prompt.messages if prompt else ()
    return ()
