"""Probe schemas of the HTTP API."""

from datetime import datetime
from typing import Any, Literal, Self
from uuid import UUID

from pydantic import model_validator

from annotation_app.policies.schemas import Address, ApiKey, DialectName, ModelName, ProviderOptions
from protocol.base import FrozenModel, JsonObject
from protocol.dialects.prompt_template import PromptTemplate
from protocol.evaluation.probes import ProbeReport, ScreenSet
from protocol.providers import BASE_URLS, DIALECTS, Provider

ProbeReason = Literal["requested", "scheduled", "server_changed"]
"""Why a model is probed."""
ProbeStatus = Literal["queued", "running", "done", "failed", "cancelled"]


class ProbeIn(FrozenModel):
    """A model to probe: its address, its name there, the dialect that it is expected to use, and the screens to
    show."""

    base_url: Address = ""
    """Empty: the provider's default address."""
    model: ModelName
    dialect: DialectName
    provider: Provider = "openai_compatible"
    provider_settings: ProviderOptions = {}
    prompt: PromptTemplate | None = None
    screens: ScreenSet = "desktop"
    api_key: ApiKey | None = None
    """For this probe only, in place of the key that is stored for the server."""

    @model_validator(mode="before")
    @classmethod
    def _at_its_provider(cls, data: Any) -> Any:
        provider = data.get("provider") if isinstance(data, dict) else None
        if provider not in BASE_URLS or data.get("base_url"):
            return data
        return {**data, "base_url": BASE_URLS[provider]}

    @model_validator(mode="after")
    def _speaks_its_provider(self) -> Self:
        spoken = DIALECTS.get(self.provider)
        if spoken and self.dialect != spoken:
            raise ValueError(f"dialect: models of {self.provider} speak {spoken}")
        if not self.base_url:
            raise ValueError("base_url: where the model is served is missing")
        return self


class ProbeOut(FrozenModel):
    """A probe. In lists its report comes without the single points."""

    id: UUID
    base_url: str
    model: str
    dialect: str
    provider: Provider
    provider_settings: JsonObject
    prompt: PromptTemplate | None
    screens: ScreenSet
    reason: ProbeReason
    status: ProbeStatus
    answered: int
    questions: int
    error: str
    report: ProbeReport | None
    created_at: datetime
    finished_at: datetime | None
