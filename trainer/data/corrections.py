"""What a person's corrections teach: the role of each step, and how much it weighs.

Over whole attempts, without a model. Undone steps are not counted; indices are those of `without_undone_steps`. Text
that a person wrote is fitted by likelihood: no server sampled it, so there is no ratio for PPO.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, get_args

from protocol.trajectory.steps import Step, is_corrected, learned_form
from protocol.trajectory.trajectories import Trajectory, without_undone_steps

Role = Literal["demonstration", "own", "before", "correction"]
"""demonstration: a person's step where no policy proposed; own: the policy's; before: the policy's, shortly before a
person stepped in; correction: a person's words where a policy had proposed, be it another thought only, or a
reviewer's."""

Weighting = Literal["none", "interventions", "shares", "classes"]
"""How steps are weighed over a whole data set: `intervention_weights`, `share_weights`, `class_weights`."""

BEFORE = 15
"""Sirius's: so many steps before a correction led to it."""

CLASS_WEIGHTS: Mapping[Role, float] = {"demonstration": 10.0, "own": 1.0, "before": 0.1, "correction": 10.0}
"""Sirius's fixed weights."""


def step_roles(trajectory: Trajectory, *, window: int = BEFORE) -> tuple[Role | None, ...]:
    """The role of each step that was not undone; `window` steps before a correction are `before`. None where nothing is
    learned, as `learned_form` says."""
    roles = [_role(step) for step in without_undone_steps(trajectory).steps]
    for onset, starts in enumerate(intervention_onsets(trajectory)):
        for place in range(max(0, onset - window), onset) if starts else ():
            if roles[place] == "own":
                roles[place] = "before"
    return tuple(roles)


def intervention_onsets(trajectory: Trajectory) -> tuple[bool, ...]:
    """Whether a person took over from the policy at a step, for each step that was not undone.

    Only the first of consecutive such steps counts.
    """
    stepped_in = [
        step.decision in ("override", "takeover") and step.policy is not None
        for step in without_undone_steps(trajectory).steps
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
    """Over a whole data set, the weight of each step that has a role, by its attempt and its index; their mean is 1 but
    for `classes`, whose numbers are taken as they are."""
    roles_by_trajectory = [
        (one.id, {index: role for index, role in enumerate(step_roles(one)) if role}) for one in trajectories
    ]
    roles = [role for _, each in roles_by_trajectory for role in each.values()]
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
    return {name: {index: next(weights) for index in each} for name, each in roles_by_trajectory}


def _role(step: Step) -> Role | None:
    if learned_form(step) is None:
        return None
    if is_corrected(step):
        return "correction"
    if step.decision in ("accept", "auto"):
        return "own"
    return "demonstration" if step.policy is None else "correction"
