"""Which applications are worth tasks: indicators with their readings, and scores that follow from them. Pure functions.

An indicator's readings are compared with those of the other candidates: a value counts as its share of the greatest
one, on a linear or a logarithmic scale. The score is the mean of these shares by the rule's weights.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, StringConstraints, model_validator

from protocol.base import FrozenModel

Indicator = Literal["coverage", "engagement", "penetration"]
INDICATORS: tuple[Indicator, ...] = ("coverage", "engagement", "penetration")
"""How many industries use it, how much its users do with it, how many people have it."""
PartState = Literal["counted", "missing", "other_unit"]
LARGEST_VALUE = 1e15
DIGITS = 6
"""Digits behind the point that scores are rounded to, so that platforms with other logarithms agree."""
Unit = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=40, pattern=r"^[^\x00-\x1f]*$")]


class IndicatorRule(FrozenModel):
    """How one indicator counts."""

    weight: Annotated[float, Field(ge=0, le=100)]
    unit: Unit
    """The unit of the readings that count; readings in other units are kept and do not count."""
    scale: Literal["linear", "log"]
    """`log` compares log(1 + value): for counts that differ by powers of ten."""


class ScoringRule(FrozenModel):
    """How applications are scored; a change of it is another version."""

    coverage: IndicatorRule = IndicatorRule(weight=1, unit="% of industries", scale="linear")
    engagement: IndicatorRule = IndicatorRule(weight=1, unit="visits per month", scale="log")
    penetration: IndicatorRule = IndicatorRule(weight=1, unit="% of users", scale="linear")

    @model_validator(mode="after")
    def _some_weight(self) -> Self:
        if not any(self.of(indicator).weight for indicator in INDICATORS):
            raise ValueError("one indicator at least has a weight above 0")
        return self

    def of(self, indicator: Indicator) -> IndicatorRule:
        """The part about one indicator."""
        rule: IndicatorRule = getattr(self, indicator)
        return rule


class Reading(NamedTuple):
    """A value of an indicator, and where and when it was read."""

    indicator: Indicator
    value: float
    unit: str
    source: str
    dated: date


class ScorePart(FrozenModel):
    """What one indicator adds to a score."""

    indicator: Indicator
    state: PartState
    value: float | None
    """Of the reading that counts."""
    share: float | None
    """0 to 1, of the greatest value; the median of the others if no reading counts; None if no
    application has one."""
    weight: float
    """0 to 1, of the whole score."""


class Score(FrozenModel):
    """An application's place among the candidates."""

    name: str
    rank: int
    """From 1; those without a score follow, by name."""
    score: float | None
    """0 to 1; None where no reading counts."""
    low: float | None
    """The score if each missing indicator were 0."""
    high: float | None
    """The score if each missing indicator were 1."""
    parts: tuple[ScorePart, ...]


def counted_reading(readings: Sequence[Reading], indicator: Indicator, rule: ScoringRule) -> Reading | None:
    """The newest reading of an indicator in the rule's unit; of several from one day the lowest."""
    unit = rule.of(indicator).unit
    fit = [one for one in readings if one.indicator == indicator and one.unit == unit]
    return min(fit, key=lambda one: (-one.dated.toordinal(), one.value, one.source), default=None)


def score_applications(candidates: Mapping[str, Sequence[Reading]], rule: ScoringRule) -> tuple[Score, ...]:
    """Every candidate's score, the highest first. The same candidates and rule give the same result in any order.

    A missing indicator counts as the median of the candidates that have it, never as 0; `low` and `high` say what it
    could change. An indicator without readings is left out. A higher reading never lowers the score or the rank.
    """
    counted = {
        name: {each: one for each in INDICATORS if (one := counted_reading(readings, each, rule))}
        for name, readings in candidates.items()
    }
    shares = {each: of for each in INDICATORS if (of := _shares(counted, each, rule))}
    whole = math.fsum(rule.of(each).weight for each in shares)
    weights = {each: rule.of(each).weight / whole if whole else 0.0 for each in shares}
    medians = {each: statistics.median(of.values()) for each, of in shares.items()}
    scores: list[Score] = []
    for name, readings in candidates.items():
        parts = tuple(
            ScorePart(
                indicator=each,
                state=_state(each, readings, counted[name]),
                value=counted[name][each].value if each in counted[name] else None,
                share=round(shares[each].get(name, medians[each]), DIGITS) if each in shares else None,
                weight=round(weights.get(each, 0.0), DIGITS),
            )
            for each in INDICATORS
        )
        known = {each: of[name] for each, of in shares.items() if name in of}
        score = low = high = None
        if any(weights[each] for each in known):
            score, low, high = (
                _weighed({each: known.get(each, unknown[each]) for each in shares}, weights)
                for unknown in (medians, dict.fromkeys(shares, 0.0), dict.fromkeys(shares, 1.0))
            )
        scores.append(Score(name=name, rank=0, score=score, low=low, high=high, parts=parts))
    ordered = sorted(scores, key=lambda one: (one.score is None, -(one.score or 0.0), one.name.casefold(), one.name))
    return tuple(one.model_copy(update={"rank": rank}) for rank, one in enumerate(ordered, start=1))


def _shares(
    counted: Mapping[str, Mapping[Indicator, Reading]], indicator: Indicator, rule: ScoringRule
) -> dict[str, float]:
    """Of those that have the indicator, each value's share of the greatest."""
    log = rule.of(indicator).scale == "log"
    values = {
        name: math.log1p(one[indicator].value) if log else one[indicator].value
        for name, one in counted.items()
        if indicator in one
    }
    greatest = max(values.values(), default=0.0)
    return {name: value / greatest if greatest else 0.0 for name, value in values.items()}


def _weighed(shares: Mapping[Indicator, float], weights: Mapping[Indicator, float]) -> float:
    return round(math.fsum(weights[each] * share for each, share in shares.items()), DIGITS)


def _state(indicator: Indicator, readings: Sequence[Reading], counted: Mapping[Indicator, Reading]) -> PartState:
    if indicator in counted:
        return "counted"
    return "other_unit" if any(one.indicator == indicator for one in readings) else "missing"
