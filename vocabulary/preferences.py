"""What people held for better: of two acts in the same state one above the other, and single acts good or bad.

Only steps that stand are counted; their places are those of `trajectory_standing`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from vocabulary.actions import Action
from vocabulary.equivalence import TOLERANCE, equivalent
from vocabulary.proposals import Proposal
from vocabulary.steps import Decision, Step
from vocabulary.trajectories import Trajectory, trajectory_standing

Source = Literal["accept", "override", "takeover", "mark"]
"""What a preference follows from; a mark is a person's word on a candidate, apart from what was done."""


@dataclass(frozen=True)
class Candidate:
    """A thought and an act, as a person did it or as a proposal said it."""

    thought: str
    action: Action
    proposal: Proposal | None = None
    """Whose words they are, with their tokens; None where a person's."""


@dataclass(frozen=True)
class Preference:
    """In one state, one act above another."""

    trajectory_id: str
    index: int
    chosen: Candidate
    rejected: Candidate
    source: Source


@dataclass(frozen=True)
class Judgement:
    """In one state, one act good or bad by itself."""

    trajectory_id: str
    index: int
    candidate: Candidate
    desirable: bool
    source: Source


def preferences_of(trajectory: Trajectory, *, tolerance: int = TOLERANCE) -> Iterator[Preference]:
    """Every pair of acts in the same state of which a person held one for better, once.

    What was done is above each other candidate, unless that was said to do as well; it and what would have done as well
    are above what was called wrong. Acts that mean the same (within `tolerance` pixels) are no pair, and what failed
    when it was done is above nothing.
    """
    for step, row in _decided(trajectory):
        good, wrong, other = _sorted(step, row, tolerance)
        done = [] if step.error else [_done(step, row)]
        for chosen in [*done, *good]:
            for rejected in wrong:
                yield Preference(trajectory.id, step.index, chosen, rejected, "mark")
        for chosen in done:
            for rejected in other:
                yield Preference(trajectory.id, step.index, chosen, rejected, _source(step.decision))


def judgements_of(trajectory: Trajectory, *, tolerance: int = TOLERANCE) -> Iterator[Judgement]:
    """Every candidate a person judged, and what they did themselves: for losses that need no pairs (KTO).

    Candidates without a mark are judged only where a person overrode them: to accept one says nothing of the others.
    """
    for step, row in _decided(trajectory):
        good, wrong, other = _sorted(step, row, tolerance)
        source = _source(step.decision)
        if not step.error:
            yield Judgement(trajectory.id, step.index, _done(step, row), True, source)
        for candidate in good:
            yield Judgement(trajectory.id, step.index, candidate, True, "mark")
        for candidate in wrong:
            yield Judgement(trajectory.id, step.index, candidate, False, "mark")
        for candidate in other if source in ("override", "takeover") else ():
            yield Judgement(trajectory.id, step.index, candidate, False, source)


def _decided(trajectory: Trajectory) -> Iterator[tuple[Step, tuple[Proposal, ...]]]:
    """The steps a person decided, with what they were offered; nobody judged what a policy did by itself."""
    standing = trajectory_standing(trajectory)
    for step, row in zip(standing.steps, standing.proposals, strict=False):
        if step.decision != "auto" and row:
            yield step, row


def _done(step: Step, row: Sequence[Proposal]) -> Candidate:
    taken = next((one for one in row if one.id == step.proposal_id), None) if step.decision == "accept" else None
    return Candidate(step.thought, step.action, taken)


def _sorted(
    step: Step, row: Sequence[Proposal], tolerance: int
) -> tuple[list[Candidate], list[Candidate], list[Candidate]]:
    """The candidates beside what was done: said to do as well, called wrong, not spoken of.

    One that means what was done is none of them, and one that means the same as a candidate before it is not repeated.
    """
    sorts: dict[str, list[Candidate]] = {"acceptable": [], "wrong": [], "": []}
    met: list[Action] = [step.action]
    for one in sorted(row, key=lambda one: _mark(step, one) == ""):
        if one.action is None or any(equivalent(one.action, action, tolerance=tolerance) for action in met):
            continue
        met.append(one.action)
        sorts[_mark(step, one)].append(Candidate(one.thought, one.action, one))
    return sorts["acceptable"], sorts["wrong"], sorts[""]


def _mark(step: Step, one: Proposal) -> str:
    if one.id in step.wrong_ids:
        return "wrong"
    return "acceptable" if one.id in step.acceptable_ids else one.mark or ""


def _source(decision: Decision) -> Source:
    return decision if decision in ("override", "takeover") else "accept"
