"""The arithmetic, against figures from elsewhere and against counting every case."""

from collections import Counter
from itertools import combinations, product

import pytest

from protocol.evaluation.statistics import (
    fisher_exact,
    fisher_exact_stratified,
    holm_adjust,
    measure_spread,
    pass_at_k,
    sign_test,
    wilson_rate,
)


@pytest.mark.parametrize(
    ("successes", "attempts", "low", "high"),
    [(0, 10, 0.0, 0.27753), (10, 10, 0.72247, 1.0), (5, 10, 0.23659, 0.76341), (15, 40, 0.24219, 0.52968)],
)
def test_wilson_intervals_are_those_of_the_tables(successes: int, attempts: int, low: float, high: float) -> None:
    rate = wilson_rate(successes, attempts)
    assert [rate.low, rate.high] == pytest.approx([low, high], abs=1e-4)


def test_every_interval_holds_its_rate_and_mirrors() -> None:
    for attempts in (1, 2, 3, 10, 57, 400):
        rates = [wilson_rate(successes, attempts) for successes in range(attempts + 1)]
        for rate, mirrored in zip(rates, reversed(rates), strict=True):
            assert 0 <= rate.low <= rate.rate <= rate.high <= 1
            assert rate.low == pytest.approx(1 - mirrored.high)


@pytest.mark.parametrize("attempts", [1, 2, 5, 7])
def test_pass_at_k_is_the_share_of_all_draws_with_a_success(attempts: int) -> None:
    for successes, k in product(range(attempts + 1), range(1, attempts + 1)):
        draws = list(combinations([True] * successes + [False] * (attempts - successes), k))
        assert pass_at_k(successes, attempts, k) == pytest.approx(sum(map(any, draws)) / len(draws))


def test_more_draws_than_attempts_are_refused() -> None:
    with pytest.raises(ValueError, match="pass@3"):
        pass_at_k(1, 2, 3)


def test_fisher_is_the_known_value_of_the_tea_tasting() -> None:
    assert fisher_exact(3, 4, 1, 4) == pytest.approx(34 / 70)
    assert fisher_exact(4, 4, 0, 4) == pytest.approx(2 / 70)
    assert fisher_exact(0, 4, 0, 4) == 1


@pytest.mark.parametrize(("of", "of_other"), [(1, 1), (3, 5), (5, 5), (6, 3)])
def test_fisher_counts_every_way_to_deal_the_successes(of: int, of_other: int) -> None:
    hands = list(combinations(range(of + of_other), of))
    for won, won_other in product(range(of + 1), range(of_other + 1)):
        counts = Counter(sum(card < won + won_other for card in hand) for hand in hands)
        as_rare = sum(count for count in counts.values() if count <= counts[won])
        assert fisher_exact(won, of, won_other, of_other) == pytest.approx(as_rare / len(hands))


def test_fisher_over_tasks_counts_every_way_to_deal_each_of_them() -> None:
    tables = [(2, 3, 0, 3), (1, 2, 1, 4), (3, 3, 1, 2)]
    deals: Counter[int] = Counter()
    for hands in product(*(combinations(range(of + other), of) for _, of, _, other in tables)):
        pairs = zip(hands, tables, strict=True)
        deals[sum(sum(card < won + won_other for card in hand) for hand, (won, _, won_other, _) in pairs)] += 1
    seen = deals[sum(won for won, *_ in tables)]
    as_rare = sum(count for count in deals.values() if count <= seen)
    assert fisher_exact_stratified(tables) == pytest.approx(as_rare / deals.total())
    assert fisher_exact_stratified([]) == 1


def test_many_small_losses_are_found_together_though_none_is_alone() -> None:
    assert fisher_exact(0, 1, 1, 1) == 1
    assert fisher_exact_stratified([(0, 1, 1, 1)] * 6) == pytest.approx(2 / 2**6)


def test_the_sign_test_counts_every_row_of_tosses() -> None:
    for won, lost in product(range(6), range(6)):
        rows = list(product((0, 1), repeat=won + lost))
        as_uneven = sum(abs(2 * sum(row) - len(row)) >= abs(won - lost) for row in rows)
        assert sign_test(won, lost) == pytest.approx(as_uneven / len(rows))


def test_holm_multiplies_the_least_by_all_and_never_falls() -> None:
    assert list(holm_adjust([0.01, 0.04, 0.03])) == pytest.approx([0.03, 0.06, 0.06])
    assert holm_adjust([0.9, 0.8]) == (1.0, 1.0)
    assert holm_adjust([]) == ()


def test_a_spread_of_one_has_no_deviation() -> None:
    assert measure_spread([0.5]).deviation is None
    assert measure_spread([0.0, 1.0]).deviation == pytest.approx(0.70711, abs=1e-5)
