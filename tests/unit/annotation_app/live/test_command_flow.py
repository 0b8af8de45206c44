"""How many commands a socket may send."""

from annotation_app.live.consumers import (
    COMMAND_BURST,
    COMMANDS_PER_SECOND,
    MAX_REJECTIONS,
    RESEND_TIMEOUT_SECONDS,
    CommandOrder,
    TokenBucket,
)


def test_a_burst_is_allowed_and_then_refused() -> None:
    bucket = TokenBucket()
    assert sum(bucket.take(100.0) for _ in range(COMMAND_BURST * 2)) == COMMAND_BURST
    assert bucket.rejected == COMMAND_BURST


def test_a_second_later_so_many_more_are_allowed() -> None:
    bucket = TokenBucket()
    for _ in range(COMMAND_BURST):
        bucket.take(100.0)
    assert sum(bucket.take(101.0) for _ in range(COMMAND_BURST)) == COMMANDS_PER_SECOND


def test_steady_work_is_never_refused() -> None:
    bucket = TokenBucket()
    assert all(bucket.take(100 + n / 60) for n in range(6_000))


def test_refusals_add_up_until_a_calm_spell() -> None:
    bucket = TokenBucket()
    for n in range(COMMAND_BURST + MAX_REJECTIONS):
        bucket.take(100 + n / 1_000)
    assert bucket.rejected > MAX_REJECTIONS / 2
    bucket.take(200.0)
    assert bucket.rejected == 0


def test_nothing_overtakes_a_command_that_found_no_room() -> None:
    order = CommandOrder()
    order.hold_back("second", 100.0)
    order.hold_back("third", 100.0)
    assert not order.is_in_order("third", 101.0)
    assert order.is_in_order("second", 101.0)
    assert order.is_in_order("third", 101.0)


def test_a_command_that_never_comes_again_holds_up_the_others_for_a_while() -> None:
    order = CommandOrder()
    order.hold_back("second", 100.0)
    assert not order.is_in_order("third", 100.0 + RESEND_TIMEOUT_SECONDS - 1)
    assert order.is_in_order("third", 100.0 + RESEND_TIMEOUT_SECONDS)
    assert order.is_in_order("fourth", 100.0 + RESEND_TIMEOUT_SECONDS)
