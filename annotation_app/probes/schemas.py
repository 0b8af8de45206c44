"""Probes as the HTTP API takes and shows them."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field

from annotation_app.policies.schemas import Address, ModelName
from protocol.base import FrozenModel
from protocol.dialects.families import get_dialect, list_dialects
from protocol.evaluation.probes import ProbeReport, ScreenSet

ProbeReason = Literal["requested", "scheduled", "server_changed"]
"""Why a model is probed."""
ProbeStatus = Literal["queued", "running", "done", "failed", "cancelled"]


def _dialect(name: str) -> str:
    get_dialect(name)
    return name


class ProbeIn(FrozenModel):
    """A model to try: where it is served, its name there, the dialect it is thought to speak, and what it is shown."""

    base_url: Address
    model: ModelName
    dialect: Annotated[str, AfterValidator(_dialect), Field(json_schema_extra={"enum": list(list_dialects())})]
    screens: ScreenSet = "desktop"


class ProbeOut(FrozenModel):
    """A probe; in lists its report comes without the single points."""

    id: UUID
    base_url: str
    model: str
    dialect: str
    screens: ScreenSet
    reason: ProbeReason
    status: ProbeStatus
    answered: int
    questions: int
    error: str
    report: ProbeReport | None
    created_at: datetime
    finished_at: datetime | None
