"""The decision that a screen rests, over hand-made evidence. Times are milliseconds after the act here."""

from dataclasses import replace

import pytest

from vm_bridge.settle import MAX_SETTLE_SECONDS, Recheck, SettleEvidence, ThreadSample, decide_settled

ACT = 1000.0
PROGRAM, OTHER = 10, 11


def at(ms: float) -> float:
    return ACT + ms / 1000


def waiting(runs: int, wakes: float | None = None) -> ThreadSample:
    return ThreadSample(runs, False, None if wakes is None else at(wakes))


def running(runs: int) -> ThreadSample:
    return ThreadSample(runs, True, None)


def make_evidence(
    before: ThreadSample | None,
    first: ThreadSample | None,
    second: ThreadSample,
    *,
    now: float = 20,
    first_at: float = 10,
    changed: float | None = None,
) -> SettleEvidence:
    def world(thread: ThreadSample | None) -> dict[int, ThreadSample]:
        return {OTHER: waiting(5)} | ({} if thread is None else {PROGRAM: thread})

    changed_at = None if changed is None else at(changed)
    return SettleEvidence(ACT, world(before), at(first_at), world(first), at(now), world(second), changed_at)


def next_check(evidence: SettleEvidence, *, wait_for_timers: bool = True) -> tuple[float, bool]:
    """When, in milliseconds after the act, and whether something moved."""
    verdict = decide_settled(evidence, wait_for_timers=wait_for_timers)
    assert isinstance(verdict, Recheck)
    return round((verdict.at - ACT) * 1000, 3), verdict.moved


def test_it_rests_when_whoever_ran_waits_again() -> None:
    assert decide_settled(make_evidence(waiting(1), waiting(4), waiting(4))) == "rested"


def test_nobody_ran_at_all() -> None:
    assert decide_settled(make_evidence(waiting(1), waiting(1), waiting(1))) == "rested"


@pytest.mark.parametrize("thread", [running(4), waiting(5)], ids=["runs", "ran since the first look"])
def test_what_moves_is_looked_at_again_soon(thread: ThreadSample) -> None:
    assert next_check(make_evidence(waiting(1), waiting(4), thread)) == (22, True)


def test_a_new_thread_moves() -> None:
    assert next_check(make_evidence(None, None, waiting(1))) == (22, True)


def test_a_moment_of_stillness_is_not_enough() -> None:
    assert next_check(make_evidence(waiting(1), waiting(4), waiting(4), first_at=17)) == (25, False)


def test_a_busy_machine_needs_a_longer_moment() -> None:
    calm = make_evidence(waiting(1), waiting(4), waiting(4))
    assert decide_settled(calm) == "rested"
    assert next_check(replace(calm, scheduling_delay=0.030)) == (48, False)
    assert decide_settled(replace(calm, scheduling_delay=9.0, now=at(119))) == "rested"


@pytest.mark.parametrize("wakes", [50, 300, 1500])
def test_a_time_that_the_act_set_is_waited_for(wakes: float) -> None:
    assert next_check(make_evidence(waiting(1), waiting(4, wakes), waiting(4, wakes))) == (wakes, False)


@pytest.mark.parametrize(
    ("wakes", "check"), [(110, (110, False)), (15, (22, False)), (200, None)], ids=["soon", "gone by", "later"]
)
def test_only_a_time_soon_after_the_act_is_waited_for_without_timers(
    wakes: float, check: tuple[float, bool] | None
) -> None:
    evidence = make_evidence(waiting(1), waiting(4, wakes), waiting(4, wakes))
    if check is None:
        assert decide_settled(evidence, wait_for_timers=False) == "timer_pending"
    else:
        assert next_check(evidence, wait_for_timers=False) == check


def test_without_timers_a_moment_of_stillness_is_waited_for_too() -> None:
    evidence = make_evidence(waiting(1), waiting(4, 900), waiting(4, 900), now=200, first_at=197)
    assert next_check(evidence, wait_for_timers=False) == (205, False)
    later = replace(evidence, now=at(205))
    assert decide_settled(later, wait_for_timers=False) == "timer_pending"


def test_without_timers_a_thread_that_never_waits_is_still_watched() -> None:
    evidence = make_evidence(running(1), running(4), running(4), now=200, first_at=100, changed=190)
    assert next_check(evidence, wait_for_timers=False) == (290, False)


def test_a_new_process_that_sleeps_is_waited_for() -> None:
    assert next_check(make_evidence(None, waiting(2, 700), waiting(2, 700))) == (700, False)


def test_a_time_gone_by_is_looked_at_a_little_later() -> None:
    assert next_check(make_evidence(waiting(1), waiting(4, 15), waiting(4, 15))) == (22, False)


def test_a_time_beyond_the_bound_holds_nobody_up() -> None:
    far = MAX_SETTLE_SECONDS * 1000 + 1
    assert decide_settled(make_evidence(waiting(1), waiting(4, far), waiting(4, far))) == "rested"


def test_an_animation_does_not_rest_because_its_next_tick_is_beyond_the_bound() -> None:
    last = {"now": 2990, "first_at": 2970}
    assert next_check(make_evidence(waiting(1), waiting(90), waiting(90, wakes=3030), **last)) == (3000, False)
    assert decide_settled(make_evidence(waiting(1), waiting(90), waiting(90, wakes=3300), **last)) == "rested"


def test_a_time_set_before_the_act_is_no_consequence() -> None:
    assert decide_settled(make_evidence(waiting(1, 400), waiting(1, 400), waiting(1, 400))) == "rested"


def test_a_caret_that_the_act_woke_and_that_waits_for_its_old_time_is_a_habit() -> None:
    assert decide_settled(make_evidence(waiting(1, 400), waiting(3, 400), waiting(3, 400))) == "rested"


def test_an_earlier_time_than_the_habit_is_a_consequence() -> None:
    assert next_check(make_evidence(waiting(1, 400), waiting(3, 50), waiting(3, 50))) == (50, False)


def test_a_habit_that_went_on_after_its_time_is_left_alone() -> None:
    assert (
        decide_settled(make_evidence(waiting(1, 400), waiting(5, 900), waiting(5, 900), now=420, first_at=410))
        == "rested"
    )


def test_a_program_known_to_be_late_is_waited_for_that_long() -> None:
    evidence = replace(make_evidence(waiting(1, 400), waiting(3, 400), waiting(3, 400)), lateness={PROGRAM: 1.6})
    assert next_check(evidence) == (1600, False)
    later = replace(evidence, now=at(1601), first_at=at(1580))
    assert decide_settled(later) == "rested"


def test_a_time_beyond_the_bound_is_no_habit() -> None:
    far = MAX_SETTLE_SECONDS * 1000 + 1
    assert next_check(make_evidence(waiting(1, far), waiting(3, 50), waiting(3, 50))) == (50, False)


def test_an_animation_gets_time_for_its_next_picture_once() -> None:
    woken = make_evidence(waiting(1, 33), waiting(2, 33), waiting(2, 33))
    assert next_check(woken) == (40, False)
    assert (
        decide_settled(make_evidence(waiting(1, 33), waiting(4, 75), waiting(4, 75), now=60, first_at=50)) == "rested"
    )


def test_an_animation_that_the_act_did_not_reach_is_not_waited_for() -> None:
    assert decide_settled(make_evidence(waiting(1, 33), waiting(1, 33), waiting(1, 33))) == "rested"


def test_a_thread_that_never_waits_rests_by_its_picture() -> None:
    busy = running(9)
    assert next_check(make_evidence(busy, busy, busy, changed=15)) == (115, False)
    assert decide_settled(make_evidence(busy, busy, busy, now=140, first_at=120, changed=15)) == "rested"


def test_the_bound_says_that_it_ran_out() -> None:
    late = MAX_SETTLE_SECONDS * 1000
    assert decide_settled(make_evidence(waiting(1), running(9), running(10), now=late, first_at=late - 2)) == "timeout"


def test_the_last_look_is_at_the_bound() -> None:
    end = MAX_SETTLE_SECONDS * 1000
    assert next_check(make_evidence(waiting(1), running(9), running(9), now=end - 1, first_at=end - 3)) == (end, True)
