"""Which kinds of task a pool gets more of, and how many. Pure functions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from annotation_app.tasks.task_sampling import ProposalCounts, need_score
from protocol.base import FrozenModel

MAX_PER_DAY = 10_000
"""Most tasks that an admin can let be added to a pool in 24 hours."""
MAX_WAITING = 1_000
"""Most tasks of a kind that are kept waiting."""
MIN_ATTEMPTS = 5
"""Attempts without help after which the success rate at a level says something."""
MASTERED_RATE = 0.8
"""Share of successes from which a level counts as mastered, and the next one begins."""
TOO_HARD_RATE = 0.1
"""Share of successes up to which nothing is learned at a level, and the one below it is tried."""
Reason = Literal["fails", "next_level", "level_below"]


class TaskKind(FrozenModel):
    """A task of a suite at a level: what tasks with other seeds have in common."""

    suite: str
    name: str
    level: int = 1


class KindState(FrozenModel):
    """How the active revision does at a kind of task, and how many tasks of it wait in the pool."""

    kind: TaskKind
    counts: ProposalCounts = ProposalCounts()
    waiting: int = 0


class WantedTasks(FrozenModel):
    """So many new tasks of a kind, and why."""

    kind: TaskKind
    count: int
    need: float
    """From 0 to 1 (`need_score`)."""
    reason: Reason
    counts: ProposalCounts


def plan_refill(
    states: Iterable[KindState],
    levels: Mapping[tuple[str, str], int],
    *,
    quota: int,
    waiting_per_kind: int,
    need_at_least: float,
) -> tuple[WantedTasks, ...]:
    """The tasks to add, most needed kinds first.

    A kind gets tasks where the revision was overridden or failed and its need is `need_at_least`. Where nearly every
    attempt at a level fails it gets the level below; where a level is mastered, the next one. No kind gets more than
    are missing of `waiting_per_kind`, all together no more than `quota`, each in proportion to its need.

    Args:
        states: Of the kinds that the pool has, or the revision has been tried at.
        levels: By suite and name, how many levels a task has. What is missing here gets no tasks.
        quota: Tasks in all (0: none).
    """
    by_kind = {state.kind: state for state in states}
    reasons: dict[TaskKind, Reason] = {}
    for kind in sorted(by_kind, key=_order):
        for chosen, reason in _chosen_levels(kind, by_kind, levels.get((kind.suite, kind.name), 0), need_at_least):
            reasons.setdefault(chosen, reason)
    wanted = [by_kind.get(kind, KindState(kind=kind)) for kind in reasons]
    rooms = {state.kind: max(0, waiting_per_kind - state.waiting) for state in wanted}
    needs = {state.kind: need_score(state.counts) for state in wanted}
    given = _share(rooms, needs, quota)
    planned = [
        WantedTasks(
            kind=state.kind,
            count=given[state.kind],
            need=round(needs[state.kind], 4),
            reason=reasons[state.kind],
            counts=state.counts,
        )
        for state in wanted
        if given[state.kind]
    ]
    return tuple(sorted(planned, key=lambda one: (-one.need, _order(one.kind))))


def _chosen_levels(
    kind: TaskKind, states: Mapping[TaskKind, KindState], levels: int, need_at_least: float
) -> Sequence[tuple[TaskKind, Reason]]:
    """What a kind's figures ask for: itself, its level below, the next one, or nothing."""
    counts = states[kind].counts
    attempts = counts.succeeded + counts.failed
    rate = counts.succeeded / attempts if attempts else 0.0
    if kind.level > levels:
        return ()
    if attempts >= MIN_ATTEMPTS and rate >= MASTERED_RATE:
        following = kind.model_copy(update={"level": kind.level + 1})
        return ((following, "next_level"),) if following.level <= levels and not _tried(states.get(following)) else ()
    if counts.overridden + counts.failed == 0 or need_score(counts) < need_at_least:
        return ()
    below = kind.model_copy(update={"level": kind.level - 1})
    too_hard = attempts >= MIN_ATTEMPTS and rate <= TOO_HARD_RATE and below.level > 0
    if too_hard and not _mastered(states.get(below)):
        return ((below, "level_below"),)
    return ((kind, "fails"),)


def _tried(state: KindState | None) -> bool:
    """Whether it is known how the revision does there; its own figures then decide."""
    return state is not None and state.counts.succeeded + state.counts.failed >= MIN_ATTEMPTS


def _mastered(state: KindState | None) -> bool:
    if state is None or not _tried(state):
        return False
    counts = state.counts
    return counts.succeeded / (counts.succeeded + counts.failed) >= MASTERED_RATE


def _share(rooms: Mapping[TaskKind, int], needs: Mapping[TaskKind, float], quota: int) -> dict[TaskKind, int]:
    """The quota one by one, each to the kind that has least for its need (D'Hondt's method)."""
    given = dict.fromkeys(rooms, 0)
    for _ in range(min(quota, sum(rooms.values()))):
        open_kinds = [kind for kind in rooms if given[kind] < rooms[kind]]
        chosen = min(open_kinds, key=lambda kind: (-needs[kind] / (given[kind] + 1), _order(kind)))
        given[chosen] += 1
    return given


def _order(kind: TaskKind) -> tuple[str, str, int]:
    return kind.suite, kind.name, kind.level
