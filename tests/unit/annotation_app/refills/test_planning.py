"""Which kinds of task get more tasks, at which level, and how many."""

from collections.abc import Sequence

import pytest

from annotation_app.refills.planning import KindState, TaskKind, WantedTasks, plan_refill
from annotation_app.tasks.task_sampling import ProposalCounts

FAILING = ProposalCounts(accepted=5, overridden=15, succeeded=4, failed=4)
FINE = ProposalCounts(accepted=80, overridden=2, succeeded=30, failed=1)
LEVELS = {("drills", "form"): 3, ("drills", "press"): 1, ("games", "maze"): 3}


def state(name: str, counts: ProposalCounts, level: int = 1, waiting: int = 0, suite: str = "drills") -> KindState:
    return KindState(kind=TaskKind(suite=suite, name=name, level=level), counts=counts, waiting=waiting)


def plan(*states: KindState, quota: int = 10, waiting_per_kind: int = 5, need: float = 0.5) -> Sequence[WantedTasks]:
    return plan_refill(states, LEVELS, quota=quota, waiting_per_kind=waiting_per_kind, need_at_least=need)


def counts_of(planned: Sequence[WantedTasks]) -> dict[tuple[str, int], int]:
    return {(one.kind.name, one.kind.level): one.count for one in planned}


def test_only_what_the_policy_fails_at_gets_tasks() -> None:
    planned = plan(state("form", FAILING), state("press", FINE))
    assert counts_of(planned) == {("form", 1): 5}
    assert (planned[0].reason, planned[0].counts) == ("fails", FAILING)


def test_a_kind_that_nobody_tried_gets_none() -> None:
    assert plan(state("form", ProposalCounts()), state("press", ProposalCounts(succeeded=3))) == ()


@pytest.mark.parametrize(("waiting", "added"), [(0, 5), (3, 2), (5, 0), (9, 0)])
def test_tasks_that_wait_are_not_doubled(waiting: int, added: int) -> None:
    assert sum(one.count for one in plan(state("form", FAILING, waiting=waiting))) == added


def test_the_quota_is_shared_by_need() -> None:
    worse = ProposalCounts(overridden=30, failed=30, succeeded=5)
    planned = plan(state("press", FAILING), state("maze", worse, suite="games"), quota=5, waiting_per_kind=50)
    given = counts_of(planned)
    assert sum(given.values()) == 5
    assert given["maze", 1] > given["press", 1] > 0
    assert [one.kind.name for one in planned] == ["maze", "press"], "most needed first"
    assert plan(state("form", FAILING), quota=0) == ()


def test_the_same_figures_give_the_same_plan_in_any_order() -> None:
    states = [state("form", FAILING), state("press", FAILING), state("maze", FAILING, suite="games")]
    assert plan(*states, quota=4) == plan(*reversed(states), quota=4)


def test_a_mastered_level_is_followed_by_the_next() -> None:
    mastered = ProposalCounts(succeeded=9, failed=1)
    planned = plan(state("form", mastered))
    assert [(one.kind.level, one.reason) for one in planned] == [(2, "next_level")]
    assert plan(state("form", mastered, level=3)) == (), "there is no level 4"
    assert plan(state("press", mastered)) == (), "it has one level"


def test_a_next_level_that_was_tried_is_judged_by_its_own_figures() -> None:
    mastered = ProposalCounts(succeeded=9, failed=1)
    assert plan(state("form", mastered), state("form", FINE, level=2, waiting=9), state("form", FINE, level=3)) == ()
    planned = plan(state("form", mastered), state("form", FAILING, level=2))
    assert [(one.kind.level, one.reason) for one in planned] == [(2, "fails")]


def test_below_a_level_where_everything_fails_the_easier_one_is_tried() -> None:
    hopeless = ProposalCounts(overridden=5, failed=20)
    planned = plan(state("form", hopeless, level=2))
    assert [(one.kind.level, one.reason) for one in planned] == [(1, "level_below")]
    assert [one.kind.level for one in plan(state("form", hopeless))] == [1], "nothing is below"
    both = plan(state("form", hopeless, level=2), state("form", ProposalCounts(succeeded=9), level=1))
    assert [(one.kind.level, one.reason) for one in both] == [(2, "fails")], "the easier one is mastered"


def test_the_least_need_is_a_setting() -> None:
    middling = ProposalCounts(accepted=20, overridden=8, succeeded=9, failed=3)
    assert plan(state("form", middling), need=0.4) != ()
    assert plan(state("form", middling), need=0.6) == ()


def test_a_task_that_no_suite_makes_anew_gets_none() -> None:
    assert plan(state("notes", FAILING, suite="desktop")) == ()
