"""A revision as it is registered: everything that can be checked before it proposes."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, HttpUrl, StringConstraints, TypeAdapter

from protocol.base import FrozenModel, JsonObject
from protocol.dialects.families import get_dialect, list_dialects
from protocol.sampling import SamplingParams
from protocol.trajectory.memory import HistoryBudget

HTTP_URL: TypeAdapter[HttpUrl] = TypeAdapter(HttpUrl)
NAME = r"^[^\x00-\x20](?:[^\x00-\x1f]*[^\x00-\x20])?$"
"""What a name is made of: no control characters, no space at its ends."""


def _dialect(name: str) -> str:
    get_dialect(name)
    return name


def _address(url: str) -> str:
    parts = HTTP_URL.validate_python(url)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("an address holds no name, password, query or fragment: pages show it")
    return url


def _sampling(settings: dict[str, Any]) -> dict[str, Any]:
    if "n" in settings:
        raise ValueError("how many candidates are asked for is the pool's setting")
    SamplingParams.model_validate(settings)
    return settings


def _memory(settings: dict[str, Any]) -> dict[str, Any]:
    HistoryBudget.model_validate(settings)
    return settings


Name = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=NAME)]
Address = Annotated[str, StringConstraints(max_length=500), AfterValidator(_address)]
ModelName = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=NAME)]
"""What a server calls a model."""


class RevisionIn(FrozenModel):
    """Where a policy is served, under which name, in which dialect, how it is sampled and what it remembers."""

    name: Name
    revision: Name
    dialect: Annotated[str, AfterValidator(_dialect), Field(json_schema_extra={"enum": list(list_dialects())})]
    base_url: Address
    model: ModelName
    checkpoint: Annotated[str, StringConstraints(max_length=500, pattern=r"^[^\x00-\x1f]*$")] = ""
    weight_version: Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f]*$")] = ""
    sampling: Annotated[JsonObject, AfterValidator(_sampling)] = {}
    memory: Annotated[JsonObject, AfterValidator(_memory)] = {}
    scripted: bool = Field(default=False)
    """No model: answers from a script, and is labelled so."""
