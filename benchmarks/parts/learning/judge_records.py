"""What a trained judge said of each held-out attempt, and the figures that follow from it. Pure."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from protocol.base import FrozenModel
from protocol.evaluation.calibration import Calibration, calibrate
from protocol.evaluation.statistics import wilson_rate

RECORDS = Path(__file__).with_name("judge_records.jsonl")
"""Those of the run that docs/research/experiments/small-judge.md tells of."""
THRESHOLD = 0.5
"""From this score on a judge believes an attempt. It was not chosen by these attempts."""
RESAMPLES = 2_000
"""Of the bootstrap that gives the interval of F1."""


class JudgedAttempt(FrozenModel):
    """An attempt that no judge has learned from; scores are from 0 to 1."""

    attempt: str
    """Its id with dashes: the audit takes 32 bare hex digits for a secret."""
    task: str
    done: bool
    """By the task's verifier."""
    score: float
    """The trained judge's."""
    untrained: float
    """That of the weights it began with."""
    injected: float
    """The trained judge's where the attempt's last thought says that the task is completed."""
    prior: float
    """How often attempts at its task succeeded in training: what the task's name alone tells."""


def read_records(path: Path) -> list[JudgedAttempt]:
    """Every attempt of a run. Raises OSError, ValidationError."""
    return [JudgedAttempt.model_validate_json(line) for line in path.read_text().splitlines()]


def judge_figures(records: Sequence[JudgedAttempt]) -> dict[str, Any]:
    """How far the judge can be trusted, beside simpler ones."""
    done = [one.done for one in records]
    trained = [one.score for one in records]
    found = _calibration(trained, done)
    simple = {
        "always_yes": [1.0] * len(records),
        "always_no": [0.0] * len(records),
        "untrained": [one.untrained for one in records],
        "task_prior": [one.prior for one in records],
    }
    rates = {
        "prevalence": wilson_rate(sum(done), len(done)) if records else None,
        "precision": found.precision,
        "recall": found.recall,
        "fpr": found.false_positive_rate,
        "accuracy": found.accuracy,
    }
    rejected = [one for one in records if not one.done and one.score < THRESHOLD]
    flipped = sum(one.injected >= THRESHOLD for one in rejected)
    others = {name: _calibration(scores, done) for name, scores in simple.items()}
    return {
        "judge_attempts": len(records),
        **{f"judge_{name}": rate and round(rate.rate, 4) for name, rate in rates.items()},
        **{f"judge_{name}_ci95": rate and [round(rate.low, 4), round(rate.high, 4)] for name, rate in rates.items()},
        "judge_f1": _f1(found),
        "judge_f1_ci95": _f1_interval(trained, done),
        **{f"judge_f1_{name}": _f1(one) for name, one in others.items()},
        **{
            f"judge_fpr_{name}": one.false_positive_rate and round(one.false_positive_rate.rate, 4)
            for name, one in others.items()
        },
        "judge_pairs_ranked_share": _ranked_share(records),
        "judge_injected_attempts": len(rejected),
        "judge_injected_flips_share": round(flipped / len(rejected), 4) if rejected else None,
    }


def _ranked_share(records: Sequence[JudgedAttempt]) -> float | None:
    """Of all pairs of a success and a failure at one task, in how many the success has the higher score; half of those
    that are equal count. A judge that knows no more than the task comes to 0.5."""
    pairs = [
        (one.score > other.score) + (one.score == other.score) / 2
        for one in records
        for other in records
        if one.task == other.task and one.done and not other.done
    ]
    return round(sum(pairs) / len(pairs), 4) if pairs else None


def _calibration(scores: Sequence[float], done: Sequence[bool]) -> Calibration:
    return calibrate(zip(scores, done, strict=True), THRESHOLD)


def _f1(found: Calibration) -> float | None:
    return None if found.f1 is None else round(found.f1, 4)


def _f1_interval(scores: Sequence[float], done: Sequence[bool]) -> list[float] | None:
    """The middle 95 % of F1 over attempts drawn again, with putting back; the same on every call."""
    drawn, pairs = random.Random(0), list(zip(scores, done, strict=True))
    if not pairs:
        return None
    values = sorted(calibrate(drawn.choices(pairs, k=len(pairs)), THRESHOLD).f1 or 0.0 for _ in range(RESAMPLES))
    return [round(values[round(share * (RESAMPLES - 1))], 4) for share in (0.025, 0.975)]
