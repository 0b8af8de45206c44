"""A revision as it is registered: everything that can be checked before it proposes."""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, HttpUrl, SecretStr, StringConstraints, TypeAdapter, model_validator

from protocol.base import FrozenModel, JsonObject
from protocol.dialects.families import get_dialect, list_dialects
from protocol.dialects.prompt_template import PromptTemplate
from protocol.providers import BASE_URLS, COMPUTER_TOOLS, DIALECTS, Provider, ProviderSettings
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
        raise ValueError("the number of candidates is a setting of the pool")
    SamplingParams.model_validate(settings)
    return settings


def _memory(settings: dict[str, Any]) -> dict[str, Any]:
    HistoryBudget.model_validate(settings)
    return settings


Name = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=NAME)]
Address = Annotated[str, StringConstraints(max_length=500), AfterValidator(_address)]
ModelName = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=NAME)]
"""What a server calls a model."""


def _settings(settings: dict[str, Any]) -> dict[str, Any]:
    return ProviderSettings.model_validate(settings).model_dump(mode="json", exclude_defaults=True)


Checkpoint = Annotated[str, StringConstraints(max_length=500, pattern=r"^[^\x00-\x1f]*$")]
WeightVersion = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f]*$")]
DialectName = Annotated[str, AfterValidator(_dialect), Field(json_schema_extra={"enum": list(list_dialects())})]
ProviderOptions = Annotated[JsonObject, AfterValidator(_settings)]
"""`protocol.providers.ProviderSettings` as JSON, without what is as usual."""
ApiKey = Annotated[SecretStr, Field(max_length=500)]


class RevisionIn(FrozenModel):
    """Where a policy is served, under which name, in which dialect, how it is sampled and what it remembers; of a
    provider's model also the settings of the provider."""

    name: Name
    revision: Name
    dialect: DialectName
    base_url: Address = ""
    """Empty: the provider's own."""
    model: ModelName
    checkpoint: Checkpoint = ""
    weight_version: WeightVersion = ""
    sampling: Annotated[JsonObject, AfterValidator(_sampling)] = {}
    memory: Annotated[JsonObject, AfterValidator(_memory)] = {}
    prompt: PromptTemplate | None = None
    """In place of the dialect's own, such as the one that its makers publish."""
    scripted: bool = Field(default=False)
    """No model: answers from a script, and is labelled so."""
    teacher: bool = False
    """Gives no log-probabilities: it teaches, and is never trained on as the policy's own. Always so of a provider's
    model."""
    provider: Provider = "openai_compatible"
    provider_settings: ProviderOptions = {}

    @model_validator(mode="before")
    @classmethod
    def _of_its_provider(cls, data: Any) -> Any:
        """The address, dialect and mark of a provider's model, where they are not given."""
        provider = data.get("provider") if isinstance(data, dict) else None
        if provider not in DIALECTS:
            return data
        given = {name: data[name] for name in ("base_url", "dialect") if data.get(name)}
        return {**data, "base_url": BASE_URLS[provider], "dialect": DIALECTS[provider], **given, "teacher": True}

    @model_validator(mode="after")
    def _fits_its_provider(self) -> Self:
        dialect = DIALECTS.get(self.provider)
        if dialect is None:
            if self.provider_settings:
                raise ValueError("provider_settings are for providers of hosted models")
            if not self.base_url:
                raise ValueError("base_url: where the policy is served is missing")
            return self
        if self.dialect != dialect:
            raise ValueError(f"dialect: models of {self.provider} speak {dialect}")
        if self.scripted:
            raise ValueError("scripted: a provider's model is no script")
        tool = self.provider_settings.get("computer_tool")
        if tool and tool not in COMPUTER_TOOLS[self.provider]:
            raise ValueError(f"computer_tool: {self.provider} has {', '.join(COMPUTER_TOOLS[self.provider])}")
        return self


class RevisionRegistration(RevisionIn):
    """A revision, and the API key of its server, which is stored apart and never shown."""

    api_key: ApiKey | None = None
    """Replaces the key of the server's origin; without it the stored one is kept."""


class RevisionChange(FrozenModel):
    """What is to be different about where a revision is served, and whether it may propose; what is not given stays.

    What it says (dialect, sampling, memory, prompt) never changes: steps and evaluations name the revision for it.
    """

    base_url: Address | None = None
    model: ModelName | None = None
    checkpoint: Checkpoint | None = None
    weight_version: WeightVersion | None = None
    api_key: ApiKey | None = None
    """Replaces the key of the server's origin."""
    retired: bool | None = None
    """A retired revision proposes nowhere and is offered nowhere; False brings it back."""


class DialectExample(FrozenModel):
    """A dialect, and how it says one thought and a click in the middle of the upper left quarter of the screen."""

    name: str
    reply: str
    absolute: bool
    """Whether its points are pixels of the picture that the model sees, instead of parts of a fixed grid."""
