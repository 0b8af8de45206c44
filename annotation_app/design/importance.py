"""How important a function or a part is: from how often it is used, what its users have of it, and where else it helps.
Pure functions."""

import math
from typing import Annotated, Literal

from pydantic import Field

from protocol.base import FrozenModel

Measure = Literal["frequency", "benefit", "transfer"]
MEASURES: tuple[Measure, ...] = ("frequency", "benefit", "transfer")


class ImportanceWeights(FrozenModel):
    """What each measure is of the whole, 1 together."""

    frequency: float
    benefit: float
    transfer: float


WEIGHTS = ImportanceWeights(frequency=0.4, benefit=0.4, transfer=0.2)
"""Frequency and benefit weigh the same, because what is rarely used or of little use is not worth
many tasks, and transfer half of that."""
Degree = Annotated[float, Field(ge=0, le=10)]


class Measures(FrozenModel):
    """Three measures from 0 to 10."""

    frequency: Degree
    """How often its users do it: 0 never, 2 a few times a year, 5 weekly, 8 daily, 10 many times a day."""
    benefit: Degree
    """What it is worth to them: 0 nothing, 5 saves some minutes, 10 what the application is used for."""
    transfer: Degree
    """How much of the skill helps elsewhere: 0 in no other application, 5 in some, 10 in nearly all."""


def importance_of(measures: Measures) -> float:
    """0 to 10, two digits: the mean of the three by `WEIGHTS`. A higher measure never lowers it."""
    return round(math.fsum(getattr(WEIGHTS, each) * getattr(measures, each) for each in MEASURES), 2)
