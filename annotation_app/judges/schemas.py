"""Schemas of judges."""

from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import Field, SecretStr, model_validator

from annotation_app.policies.schemas import Address, ApiKey, ModelName, Name
from protocol.base import FrozenModel
from protocol.evaluation.calibration import Calibration, CalibrationCounts
from protocol.evaluation.judgements import JudgeRef, JudgeSettings
from protocol.trajectory.rewards import ModelJudgeKind

Threshold = Annotated[float, Field(ge=0, le=1)]
RunStatus = Literal["queued", "running", "done", "cancelled", "failed"]


class JudgeSettingsIn(JudgeSettings):
    """How a new judge is asked; what is left out is as usual."""


class JudgeIn(FrozenModel):
    """A revision of a judge: which model is asked, where, and how."""

    kind: ModelJudgeKind
    name: Name
    revision: Name
    base_url: Address
    model: ModelName
    settings: JudgeSettingsIn = JudgeSettingsIn()
    scripted: bool = False
    api_key: ApiKey | None = None
    """Replaces the key of the server's origin; the stored one goes on where it is not given."""

    @model_validator(mode="after")
    def _scripts_need_no_key(self) -> Self:
        if self.scripted and self.key:
            raise ValueError("api_key: a script needs none")
        return self

    @property
    def key(self) -> str:
        """The key that was typed; empty where there is none."""
        return (self.api_key or SecretStr("")).get_secret_value().strip()


class RunIn(FrozenModel):
    """Which of the episodes a run judges that the judge has not judged yet."""

    labelled_only: bool = False
    """Only those that annotators called done or not done: what a judge is calibrated by."""
    most: int | None = Field(default=None, ge=1, le=100_000)
    """So many at most, the newest; null: all."""


WHOLE_POOL = RunIn()


class JudgeOut(FrozenModel):
    """A judge there is."""

    id: int
    ref: JudgeRef
    model: str
    settings: JudgeSettings
    created_at: datetime
    used: bool
    """Whether it judges in a pool, or has judged: it cannot be deleted any more."""


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


class ScoredReport(FrozenModel):
    """A registered evaluation in which a judge decided how some attempts ended."""

    id: int
    policy: str
    judge: str
    """Name, revision and threshold."""
    judged: int
    """Attempts that ended as only the judge says, of all `attempts`."""
    attempts: int
    created_at: datetime


class JudgesPage(FrozenModel):
    """All judges, the pools they may judge in, those that do, and the newest evaluations that they scored."""

    judges: tuple[JudgeOut, ...]
    pools: tuple[PoolName, ...]
    rows: tuple[JudgeRow, ...]
    reports: tuple[ScoredReport, ...]


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
