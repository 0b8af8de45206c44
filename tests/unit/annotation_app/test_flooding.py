"""How many commands a socket may send."""

from annotation_app.live.command_flow import BURST, GIVEN_UP_SECONDS, PATIENCE, PER_SECOND, Bucket, CommandOrder


def test_a_burst_is_allowed_and_then_refused() -> None:
    bucket = Bucket()
    assert sum(bucket.take(100.0) for _ in range(BURST * 2)) == BURST
    assert bucket.refused == BURST


def test_a_second_later_so_many_more_are_allowed() -> None:
    bucket = Bucket()
    for _ in range(BURST):
        bucket.take(100.0)
    assert sum(bucket.take(101.0) for _ in range(BURST)) == PER_SECOND


def test_steady_work_is_never_refused() -> None:
    bucket = Bucket()
    assert all(bucket.take(100 + n / 60) for n in range(6_000))


def test_refusals_add_up_until_a_calm_spell() -> None:
    bucket = Bucket()
    for n in range(BURST + PATIENCE):
        bucket.take(100 + n / 1_000)
    assert bucket.refused > PATIENCE / 2
    bucket.take(200.0)
    assert bucket.refused == 0


def test_nothing_overtakes_a_command_that_found_no_room() -> None:
    order = CommandOrder()
    order.refuse("second", 100.0)
    order.refuse("third", 100.0)
    assert not order.admits("third", 101.0)
    assert order.admits("second", 101.0)
    assert order.admits("third", 101.0)


def test_a_command_that_never_comes_again_holds_up_the_others_for_a_while() -> None:
    order = CommandOrder()
    order.refuse("second", 100.0)
    assert not order.admits("third", 100.0 + GIVEN_UP_SECONDS - 1)
    assert order.admits("third", 100.0 + GIVEN_UP_SECONDS)
    assert order.admits("fourth", 100.0 + GIVEN_UP_SECONDS)
