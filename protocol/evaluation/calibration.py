"""Calibration of a judge: its scores against people's verdicts on the same attempts.

Precision, recall, F1 and false positive rate at every threshold, with counts: pure functions over pairs of the judge's
score (or None) and whether a person called the task done.
"""

from collections.abc import Iterable, Sequence

from pydantic import Field

from protocol.base import FrozenModel
from protocol.evaluation.judgements import JudgeRef
from protocol.evaluation.reports import Rate
from protocol.evaluation.statistics import wilson_rate
from protocol.trajectory.trajectories import Trajectory

ScoredOutcome = tuple[float | None, bool]
MAX_POINTS = 100
"""Thresholds a sweep has at most; of more scores, every so many."""
DEFAULT_THRESHOLD = 0.5


class Calibration(FrozenModel):
    """A judge that believes from a threshold on, against people. A rate is None where nothing was there to count."""

    threshold: float = Field(ge=0, le=1)
    true_positives: int = Field(ge=0)
    """The task was done, and the judge believed it."""
    false_positives: int = Field(ge=0)
    """It was not done, and the judge believed it."""
    true_negatives: int = Field(ge=0)
    false_negatives: int = Field(ge=0)
    precision: Rate | None
    """Of those it believed, how many were done."""
    recall: Rate | None
    """Of those that were done, how many it believed."""
    false_positive_rate: Rate | None
    """Of those that were not done, how many it believed."""
    accuracy: Rate | None
    f1: float | None = Field(ge=0, le=1)


class CalibrationCounts(FrozenModel):
    """What a calibration rests on."""

    successes: int = Field(ge=0)
    """Attempts a person called done, and the judge gave a score."""
    failures: int = Field(ge=0)
    unsaid_successes: int = Field(default=0, ge=0)
    """Attempts a person called done of which the judge could not say anything; in no rate."""
    unsaid_failures: int = Field(default=0, ge=0)


class Sweep(FrozenModel):
    """A judge at every threshold that makes a difference, lowest first; empty where no person said anything."""

    judge: JudgeRef
    counted: CalibrationCounts
    points: tuple[Calibration, ...] = ()
    best: float | None = None
    """The threshold with the best F1; of several the highest, which believes the least."""


def human_outcome(trajectory: Trajectory) -> bool | None:
    """Whether the person who did or watched the attempt called it done; None where nobody did. An attempt called
    infeasible, skipped or broken says nothing of what a judge is asked."""
    if trajectory.origin != "annotation" or trajectory.outcome not in ("success", "failure"):
        return None
    return trajectory.outcome == "success"


def calibrate(pairs: Iterable[ScoredOutcome], threshold: float) -> Calibration:
    """The judge at one threshold; attempts without a score are in no rate."""
    scored = [(score >= threshold, done) for score, done in pairs if score is not None]
    both = sum(believed and done for believed, done in scored)
    believed = sum(believed for believed, _ in scored)
    done = sum(done for _, done in scored)
    false = believed - both
    missed = done - both
    return Calibration(
        threshold=threshold,
        true_positives=both,
        false_positives=false,
        true_negatives=len(scored) - done - false,
        false_negatives=missed,
        precision=_rate(both, believed),
        recall=_rate(both, done),
        false_positive_rate=_rate(false, len(scored) - done),
        accuracy=_rate(len(scored) - false - missed, len(scored)),
        f1=2 * both / (2 * both + false + missed) if both + false + missed else None,
    )


def sweep_thresholds(
    judge: JudgeRef, pairs: Sequence[ScoredOutcome], *, also: Iterable[float] = (DEFAULT_THRESHOLD,)
) -> Sweep:
    """The judge at each threshold where its verdicts change, and at the given thresholds."""
    scores = sorted({score for score, _ in pairs if score is not None})
    counted = CalibrationCounts(
        successes=sum(done for score, done in pairs if score is not None),
        failures=sum(not done for score, done in pairs if score is not None),
        unsaid_successes=sum(done for score, done in pairs if score is None),
        unsaid_failures=sum(not done for score, done in pairs if score is None),
    )
    if not scores:
        return Sweep(judge=judge, counted=counted)
    stride = -(-len(scores) // MAX_POINTS)
    thresholds = sorted({*scores[::stride], scores[-1], *also})
    points = tuple(calibrate(pairs, threshold) for threshold in thresholds)
    best = max(points, key=lambda point: (point.f1 or 0.0, point.threshold))
    return Sweep(judge=judge, counted=counted, points=points, best=best.threshold if best.f1 else None)


def _rate(successes: int, attempts: int) -> Rate | None:
    return wilson_rate(successes, attempts) if attempts else None
