"""What a person's corrections teach: how much each step weighs, and which of two acts in the same state is better.

Over whole attempts, without a model. Only steps that stand are counted; their places are those of
`trajectory_standing`. Words a person wrote are fitted by likelihood: no server drew them, so there is no ratio for PPO.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from vocabulary.actions import Action
from vocabulary.equivalence import TOLERANCE, equivalent
from vocabulary.proposals import Proposal
from vocabulary.steps import Decision, Step
from vocabulary.trajectories import Trajectory, trajectory_standing

Role = Literal["demonstration", "own", "before", "correction"]
"""demonstration: a person's step where no policy proposed; own: the policy's; before: the policy's, shortly before a
person stepped in; correction: a person's words where a policy had proposed, be it another thought only."""

Source = Literal["accept", "override", "takeover", "mark"]
"""What a preference follows from; a mark is a person's word on a candidate, apart from what was done."""

Weighting = Literal["none", "interventions", "shares", "classes"]
"""How steps are weighed over a whole data set: `intervention_weights`, `share_weights`, `class_weights`."""

BEFORE = 15
"""Sirius's: so many steps before a correction led to it."""

CLASS_WEIGHTS: Mapping[Role, float] = {"demonstration": 10.0, "own": 1.0, "before": 0.1, "correction": 10.0}
"""Sirius's fixed weights."""


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


def roles_of(trajectory: Trajectory, *, window: int = BEFORE) -> tuple[Role, ...]:
    """The role of each step that stands; `window` steps before a correction are `before`."""
    roles = [_role(step) for step in trajectory_standing(trajectory).steps]
    for onset, starts in enumerate(onsets_of(trajectory)):
        for place in range(max(0, onset - window), onset) if starts else ():
            if roles[place] == "own":
                roles[place] = "before"
    return tuple(roles)


def onsets_of(trajectory: Trajectory) -> tuple[bool, ...]:
    """Of each step that stands, whether a person took over from the policy here: the first of each run of those."""
    stepped_in = [
        step.decision in ("override", "takeover") and step.policy is not None
        for step in trajectory_standing(trajectory).steps
    ]
    return tuple(now and not before for now, before in zip(stepped_in, [False, *stepped_in], strict=False))


def intervention_weights(roles: Sequence[Role], *, mean_one: bool = False) -> tuple[float, ...]:
    """IWR over a whole data set: corrections together weigh as much as all else, (N - n)/n each beside 1.

    `mean_one` scales them to N/(2n) and N/(2(N - n)), so that a learning rate keeps its meaning.
    """
    corrections, whole = Counter(roles)["correction"], len(roles)
    others = whole - corrections
    if not corrections or not others:
        return (1.0,) * whole
    weight, rest = (whole / (2 * corrections), whole / (2 * others)) if mean_one else (others / corrections, 1.0)
    return tuple(weight if role == "correction" else rest for role in roles)


def share_weights(roles: Sequence[Role], *, correction: float = 0.5, before: float = 0.002) -> tuple[float, ...]:
    """Sirius over a whole data set: corrections and what led to them get fixed shares, demonstrations their own, the
    policy's steps the rest. The mean is 1; a role that is absent leaves its share to the others."""
    whole, counts = len(roles), Counter(roles)
    shares: dict[Role, float] = {
        "demonstration": counts["demonstration"] / max(whole, 1),
        "before": before if counts["before"] else 0.0,
        "correction": correction if counts["correction"] else 0.0,
    }
    shares["own"] = max(0.0, 1 - sum(shares.values())) if counts["own"] else 0.0
    total = sum(shares.values())
    if not total:
        return (1.0,) * whole
    return tuple(shares[role] / total * whole / counts[role] for role in roles)


def class_weights(roles: Sequence[Role], weights: Mapping[Role, float] = CLASS_WEIGHTS) -> tuple[float, ...]:
    """A fixed weight a role, 1 where none is given: `{"before": 0.1}` only down-weights what led to a correction."""
    if unknown := set(weights) - set(get_args(Role)):
        raise ValueError(f"no such role: {', '.join(sorted(unknown))}")
    return tuple(weights.get(role, 1.0) for role in roles)


def step_weights(
    trajectories: Iterable[Trajectory], weighting: Weighting, classes: Mapping[Role, float] = CLASS_WEIGHTS
) -> dict[str, dict[int, float]]:
    """Over a whole data set, the weight of each step that stands, by its attempt and its index; their mean is 1 but
    for `classes`, whose numbers are taken as they are."""
    told = [(one.id, [step.index for step in trajectory_standing(one).steps], roles_of(one)) for one in trajectories]
    roles = [role for _, _, each in told for role in each]
    weights: Iterator[float]
    match weighting:
        case "interventions":
            weights = iter(intervention_weights(roles, mean_one=True))
        case "shares":
            weights = iter(share_weights(roles))
        case "classes":
            weights = iter(class_weights(roles, classes))
        case "none":
            weights = iter((1.0,) * len(roles))
    return {name: {index: next(weights) for index in indexes} for name, indexes, _ in told}


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


def _role(step: Step) -> Role:
    if step.decision in ("accept", "auto"):
        return "own"
    return "demonstration" if step.policy is None else "correction"


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
