"""What is made of a browser's reports: loss slows down, a falling estimate slows down, calm use speeds up."""

from vm_bridge.streams.congestion import MIN_RATE, RateController

CEILING = 6_000_000


def slowed() -> RateController:
    allowance = RateController(CEILING)
    allowance.on_loss_report(lost=0.5, sent=CEILING, at=1.0)
    return allowance


def test_loss_slows_down_in_proportion() -> None:
    mild, harsh = RateController(CEILING), RateController(CEILING)
    mild.on_loss_report(lost=0.12, sent=CEILING, at=1.0)
    harsh.on_loss_report(lost=0.6, sent=CEILING, at=1.0)
    assert MIN_RATE < harsh.rate < mild.rate < CEILING


def test_a_little_loss_changes_nothing() -> None:
    allowance = slowed()
    before = allowance.rate
    allowance.on_loss_report(lost=0.05, sent=before, at=2.0)
    assert allowance.rate == before


def test_what_is_used_without_loss_grows_up_to_the_ceiling() -> None:
    allowance = slowed()
    before = allowance.rate
    allowance.on_loss_report(lost=0.0, sent=before, at=1.2)
    assert before < allowance.rate < 1.1 * before, "reports come often: growth goes by time"
    for second in range(2, 30):
        allowance.on_loss_report(lost=0.0, sent=allowance.rate, at=second)
    assert allowance.rate == CEILING


def test_a_rate_that_is_not_used_does_not_grow() -> None:
    allowance = slowed()
    before = allowance.rate
    allowance.on_loss_report(lost=0.0, sent=0.1 * before, at=2.0)
    assert allowance.rate == before


def test_nobody_is_sent_less_than_the_floor() -> None:
    allowance = RateController(CEILING)
    for _ in range(50):
        allowance.on_loss_report(lost=1.0, sent=CEILING, at=1.0)
        allowance.on_overrun()
    assert allowance.rate == MIN_RATE


def test_an_estimate_that_falls_below_what_comes_is_heeded() -> None:
    allowance = RateController(CEILING)
    allowance.on_bandwidth_estimate(5_000_000, sent=4_000_000)
    allowance.on_bandwidth_estimate(2_000_000, sent=4_000_000)
    assert allowance.rate == 2_000_000


def test_the_low_estimate_of_a_screen_that_rested_is_not() -> None:
    """It followed what was sent, which was nothing; then much comes at once, and the estimate begins to rise."""
    allowance = RateController(CEILING)
    for estimate, sent in ((300_000, 0), (300_000, 0), (300_000, 3_000_000), (450_000, 4_000_000)):
        allowance.on_bandwidth_estimate(estimate, sent=sent)
    assert allowance.rate == CEILING


def test_an_estimate_above_what_comes_says_nothing() -> None:
    allowance = RateController(CEILING)
    allowance.on_bandwidth_estimate(3_000_000, sent=100_000)
    allowance.on_bandwidth_estimate(2_000_000, sent=100_000)
    assert allowance.rate == CEILING
