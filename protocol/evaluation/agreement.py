"""Agreement of two people: on the actions, step by step, and on the labels that they give."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import permutations

from pydantic import Field

from protocol.actions.equivalence import equivalent
from protocol.base import FrozenModel
from protocol.trajectory.steps import Step

SAME_TARGET = 24
"""Two clicks this close on either axis aim at one thing (pixels): about the height of a button. Candidates of one model
are merged within 5; two people seldom click one button so near to each other."""


class AlignedSteps(FrozenModel):
    """Places of two attempts that belong together; None where one of them has nothing to set beside the other's."""

    one: int | None = Field(default=None, ge=0)
    other: int | None = Field(default=None, ge=0)
    same: bool = False


def is_same_step(one: Step, other: Step) -> bool:
    """Whether two steps do the same: one kind of action, at one target, saying the same."""
    return equivalent(one.action, other.action, tolerance=SAME_TARGET)


def align_steps(one: Sequence[Step], other: Sequence[Step]) -> tuple[AlignedSteps, ...]:
    """The two in order, as many like steps beside each other as there can be (the longest common subsequence); what
    stands between two such is paired as it comes."""
    pairs: list[AlignedSteps] = []
    at, partner = 0, 0
    for left, right in [*_longest_common_subsequence(one, other), (len(one), len(other))]:
        pairs += _pair_unmatched(range(at, left), range(partner, right))
        if left < len(one):
            pairs.append(AlignedSteps(one=left, other=right, same=True))
        at, partner = left + 1, right + 1
    return tuple(pairs)


def _longest_common_subsequence(one: Sequence[Step], other: Sequence[Step]) -> list[tuple[int, int]]:
    """The longest common subsequence, as places in both."""
    lengths = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    same = [[is_same_step(step, partner) for partner in other] for step in one]
    for i in reversed(range(len(one))):
        for j in reversed(range(len(other))):
            lengths[i][j] = lengths[i + 1][j + 1] + 1 if same[i][j] else max(lengths[i + 1][j], lengths[i][j + 1])
    found, i, j = [], 0, 0
    while i < len(one) and j < len(other):
        if same[i][j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return found


def _pair_unmatched(left: range, right: range) -> list[AlignedSteps]:
    together = [AlignedSteps(one=i, other=j) for i, j in zip(left, right, strict=False)]
    rest = [AlignedSteps(one=i) for i in left[len(right) :]] + [AlignedSteps(other=j) for j in right[len(left) :]]
    return together + rest


def step_agreement(one: Sequence[Step], other: Sequence[Step]) -> float:
    """The share of both attempts' steps that the other has too, in the same order: from 0, nothing alike, to 1."""
    if not one and not other:
        return 1.0
    return 2 * len(_longest_common_subsequence(one, other)) / (len(one) + len(other))


def krippendorff_alpha(units: Iterable[Sequence[Hashable]]) -> float | None:
    """Krippendorff's alpha for names without an order: 1 where all agree, 0 where they agree no more than by chance.

    A unit holds what each who judged it called it; one that only one person judged says nothing. None where nothing can
    be said: nobody judged together, or everything was called the same, so that chance has no say.
    """
    together: defaultdict[tuple[Hashable, Hashable], float] = defaultdict(float)
    for values in units:
        for pair in permutations(values, 2):
            together[pair] += 1 / (len(values) - 1)
    by_name: defaultdict[Hashable, float] = defaultdict(float)
    for (name, _), weight in together.items():
        by_name[name] += weight
    total = sum(by_name.values())
    expected = total * total - sum(count * count for count in by_name.values())
    if expected <= 1e-9:
        return None
    observed = sum(weight for (name, other), weight in together.items() if name != other)
    return 1 - (total - 1) * observed / expected
