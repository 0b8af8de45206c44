"""What is shown of judges, and what is asked of them."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from protocol.base import FrozenModel
from protocol.evaluation.calibration import Calibration, CalibrationCounts
from protocol.evaluation.judgements import JudgeRef, JudgeSettings

Threshold = Annotated[float, Field(ge=0, le=1)]
RunStatus = Literal["queued", "running", "done", "cancelled", "failed"]


class JudgeOut(FrozenModel):
    """A judge there is."""

    id: int
    ref: JudgeRef
    model: str
    settings: JudgeSettings
    created_at: datetime


class PoolName(FrozenModel):
    """A pool a judge may judge in."""

    id: int
    name: str


class RunOut(FrozenModel):
    """How far a judge has got with a pool."""

    id: UUID
    status: RunStatus
    total: int
    judged: int
    refused: int
    error: str
    created_at: datetime
    finished_at: datetime | None


class JudgeRow(FrozenModel):
    """A judge in a pool: what it has judged, and how far it agrees with people at its threshold."""

    pool: PoolName
    judge: JudgeOut
    threshold: float
    finished: int
    """Finished episodes of the pool."""
    judged: int
    unsaid: int
    """Of these, how many got no score."""
    counted: CalibrationCounts
    at_threshold: Calibration | None
    """None while no person's word stands against a score."""
    best: float | None
    """The threshold with the best F1."""
    run: RunOut | None
    """The newest."""


class JudgesPage(FrozenModel):
    """All judges, the pools they may judge in, and those that do."""

    judges: tuple[JudgeOut, ...]
    pools: tuple[PoolName, ...]
    rows: tuple[JudgeRow, ...]


class JudgeServer(FrozenModel):
    """All that is needed to ask a judge; an empty address is the verifier's."""

    ref: JudgeRef
    base_url: str
    model: str
    settings: JudgeSettings


class RunPlan(FrozenModel):
    """What a run that was begun has to do."""

    judge_id: int
    server: JudgeServer
    episodes: tuple[UUID, ...]
