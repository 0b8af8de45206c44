"""What people held for better: of two acts in the same state one above the other, and single acts good or bad.

Only steps that stand are counted; their places are those of `without_undone_steps`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from protocol.actions.equivalence import TOLERANCE, equivalent
from protocol.actions.types import Action
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.steps import Decision, Step, apply_review_fix, is_corrected, is_rejected
from protocol.trajectory.trajectories import Trajectory, without_undone_steps

PreferenceSource = Literal["accept", "override", "takeover", "mark"]
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
    source: PreferenceSource


@dataclass(frozen=True)
class UnpairedPreference:
    """In one state, one act good or bad by itself."""

    trajectory_id: str
    index: int
    candidate: Candidate
    desirable: bool
    source: PreferenceSource


def extract_preferences(trajectory: Trajectory, *, tolerance: int = TOLERANCE) -> Iterator[Preference]:
    """Every pair of acts in the same state of which a person held one for better, once.

    What was done is above each other candidate, unless that was said to do as well; it and what would have done as well
    are above what was called wrong. A reviewer's correction stands in place of what was done, and above it; what a
    reviewer found wrong and nobody corrected is above nothing. Acts that mean the same (within `tolerance` pixels) are
    no pair, and what failed when it was done is above nothing. Replies with several actions are left out: they are no
    single act. So are acts whose thought is owed.
    """
    for step, row in _human_decisions(trajectory):
        done, good, wrong, other = _judged_candidates(step, row, tolerance)
        for chosen in [*done, *good]:
            for rejected in wrong:
                yield Preference(trajectory.id, step.index, chosen, rejected, "mark")
        for chosen in done:
            for rejected in other:
                yield Preference(trajectory.id, step.index, chosen, rejected, _preference_source(step.decision))


def extract_unpaired_preferences(trajectory: Trajectory, *, tolerance: int = TOLERANCE) -> Iterator[UnpairedPreference]:
    """Every candidate a person judged, and what they did themselves: for losses that need no pairs (KTO).

    Candidates without a mark are judged only where a person overrode them: to accept one says nothing of the others.
    """
    for step, row in _human_decisions(trajectory):
        done, good, wrong, other = _judged_candidates(step, row, tolerance)
        source = _preference_source(step.decision)
        for candidate in done:
            yield UnpairedPreference(trajectory.id, step.index, candidate, True, source)
        for candidate in good:
            yield UnpairedPreference(trajectory.id, step.index, candidate, True, "mark")
        for candidate in wrong:
            yield UnpairedPreference(trajectory.id, step.index, candidate, False, "mark")
        for candidate in other if source in ("override", "takeover") else ():
            yield UnpairedPreference(trajectory.id, step.index, candidate, False, source)


def _human_decisions(trajectory: Trajectory) -> Iterator[tuple[Step, tuple[Proposal, ...]]]:
    """The steps that a person decided or corrected, with their proposals. Other steps of a policy were not judged."""
    active = without_undone_steps(trajectory)
    for step, row in zip(active.steps, active.proposals, strict=False):
        if row and (step.decision != "auto" or is_corrected(step)):
            yield step, row


def _judged_candidates(
    step: Step, row: Sequence[Proposal], tolerance: int
) -> tuple[list[Candidate], list[Candidate], list[Candidate], list[Candidate]]:
    """What a person held for right (at most one), candidates that would have done as well, those called wrong, and
    those not spoken of."""
    target = apply_review_fix(step)
    good, wrong, other = _group_candidates(step, target, row, tolerance)
    if step.batch is None and (is_rejected(step) or not equivalent(target.action, step.action, tolerance=tolerance)):
        wrong.insert(0, _executed_candidate(step, row))
    if is_corrected(step):
        done = [Candidate(target.thought, target.action)]
    else:
        done = [] if step.error or is_rejected(step) else [_executed_candidate(step, row)]
    if step.batch or target.thought_timing == "owed":
        done = []
    return done, good, wrong, [] if step.decision == "auto" else other


def _executed_candidate(step: Step, row: Sequence[Proposal]) -> Candidate:
    accepted = next((one for one in row if one.id == step.proposal_id), None) if step.decision == "accept" else None
    return Candidate(step.thought, step.action, accepted)


def _group_candidates(
    step: Step, target: Step, row: Sequence[Proposal], tolerance: int
) -> tuple[list[Candidate], list[Candidate], list[Candidate]]:
    """The candidates beside what was done and its correction (`target`): said to do as well, called wrong, neither.

    One that means what was done is none of them, and one that means the same as a candidate before it is not repeated.
    """
    sorts: dict[str, list[Candidate]] = {"acceptable": [], "wrong": [], "": []}
    known_actions: list[Action] = [step.action, target.action]
    for one in sorted(row, key=lambda one: _candidate_mark(step, one) == ""):
        if (
            one.action is None
            or one.further_actions
            or any(equivalent(one.action, action, tolerance=tolerance) for action in known_actions)
        ):
            continue
        known_actions.append(one.action)
        sorts[_candidate_mark(step, one)].append(Candidate(one.thought, one.action, one))
    return sorts["acceptable"], sorts["wrong"], sorts[""]


def _candidate_mark(step: Step, one: Proposal) -> str:
    if one.id in step.wrong_ids:
        return "wrong"
    return "acceptable" if one.id in step.acceptable_ids else one.mark or ""


def _preference_source(decision: Decision) -> PreferenceSource:
    return decision if decision in ("override", "takeover") else "accept"
