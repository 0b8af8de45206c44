"""The arithmetic of success rates. Everything is exact or a closed formula: the same attempts give the same figures."""

from collections.abc import Sequence
from math import comb, pi, sqrt, tan
from statistics import NormalDist, fmean, stdev

from protocol.evaluation.reports import Finding, Rate, Spread

CONFIDENCE = 0.95
SIGNIFICANCE_LEVEL = 0.05
"""What is less likely than this by chance is found to be more."""


def wilson_rate(successes: int, attempts: int) -> Rate:
    """A rate with its Wilson interval, which stays inside 0 to 1 and is no point at 0 or n of n. Needs an attempt."""
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    rate, spread = successes / attempts, z * z / attempts
    centre = (rate + spread / 2) / (1 + spread)
    reach = z * sqrt(rate * (1 - rate) / attempts + spread / (4 * attempts)) / (1 + spread)
    return Rate(
        successes=successes,
        attempts=attempts,
        rate=rate,
        low=0.0 if successes == 0 else max(0.0, centre - reach),
        high=1.0 if successes == attempts else min(1.0, centre + reach),
    )


def pass_at_k(successes: int, attempts: int, k: int) -> float:
    """The chance that k of the attempts, drawn without putting back, hold a success: the unbiased estimate of pass@k.
    Raises ValueError where there are fewer than k."""
    if not 1 <= k <= attempts:
        raise ValueError(f"pass@{k} cannot be estimated from {attempts} attempts")
    return 1 - comb(attempts - successes, k) / comb(attempts, k)


def measure_spread(values: Sequence[float]) -> Spread:
    """Mean and standard deviation (of a sample)."""
    return Spread(count=len(values), mean=fmean(values), deviation=stdev(values) if len(values) > 1 else None)


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval of a mean by Student's t; None for fewer than two values."""
    if len(values) < 2:
        return None
    reach = t_quantile(len(values) - 1) * stdev(values) / sqrt(len(values))
    return fmean(values) - reach, fmean(values) + reach


def t_quantile(freedom: int) -> float:
    """Student's t at 97.5 %: exact for one and two degrees of freedom, above by Abramowitz and Stegun, 26.7.5."""
    chance = (1 + CONFIDENCE) / 2
    if freedom == 1:
        return tan(pi * (chance - 0.5))
    if freedom == 2:
        return (2 * chance - 1) / sqrt(2 * chance * (1 - chance))
    z, found = NormalDist().inv_cdf(chance), 0.0
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    for power, term in enumerate(terms):
        found += term / freedom**power
    return found


def fisher_exact(won: int, of: int, won_other: int, of_other: int) -> float:
    """Fisher's exact test, two-sided: how likely two sets of attempts of one policy differ at least as much."""
    return fisher_exact_stratified([(won, of, won_other, of_other)])


def fisher_exact_stratified(tables: Sequence[tuple[int, int, int, int]]) -> float:
    """The same over several tasks at once (the exact Mantel-Haenszel test): attempts are compared only with those at
    the same task, so that easy tasks tried more often are no advantage."""
    ways, least, all_won, deals = [1], 0, 0, 1
    for won, of, won_other, of_other in tables:
        total = won + won_other
        lowest, highest = max(0, total - of_other), min(of, total)
        here = [comb(of, count) * comb(of_other, total - count) for count in range(lowest, highest + 1)]
        together = [0] * (len(ways) + len(here) - 1)
        for sum_before, way_before in enumerate(ways):
            for count, way in enumerate(here):
                together[sum_before + count] += way_before * way
        ways, least, all_won, deals = together, least + lowest, all_won + won, deals * comb(of + of_other, total)
    seen = ways[all_won - least]
    return sum(way for way in ways if way <= seen) / deals


def sign_test(won: int, lost: int) -> float:
    """The exact sign test (McNemar's), two-sided: how likely unequal pairs fall at least as unevenly by tosses."""
    tosses = won + lost
    tail = sum(comb(tosses, heads) for heads in range(min(won, lost) + 1))
    return min(1.0, 2 * tail / (1 << tosses))


def holm_adjust(chances: Sequence[float]) -> tuple[float, ...]:
    """Holm's adjustment: with it, one false alarm in all of them is no likelier than one alone."""
    adjusted = [0.0] * len(chances)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(chances)), key=lambda index: chances[index])):
        highest = max(highest, min(1.0, (len(chances) - rank) * chances[index]))
        adjusted[index] = highest
    return tuple(adjusted)


def classify_difference(difference: float, chance: float) -> Finding:
    """What a difference with such a likelihood by chance says."""
    if difference == 0 or chance > SIGNIFICANCE_LEVEL:
        return "chance"
    return "better" if difference > 0 else "worse"
