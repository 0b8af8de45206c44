"""The models that may decide rewards of attempts, read from a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Self, get_args

from pydantic import AfterValidator, Field, SecretStr, ValidationError, model_validator

from agent_backend.errors import AgentError
from agent_backend.judges.judge import Judge
from agent_backend.judges.model_judge import JudgeEndpoint, ModelJudge
from agent_backend.policy.openai_chat import validate_url
from protocol.base import FrozenModel
from protocol.evaluation.calibration import DEFAULT_THRESHOLD
from protocol.evaluation.judgements import JudgeRef, JudgeSettings
from protocol.providers import Prices
from protocol.trajectory.rewards import ModelJudgeKind

KEY_VARIABLE = "PILOTHOUSE_JUDGE_API_KEY"
ORDER: tuple[ModelJudgeKind, ...] = get_args(ModelJudgeKind)
"""The order of judges after the verifier."""


class InvalidRewardJudges(AgentError):
    """The file of judges cannot be used."""

    code = "reward_judges_invalid"


class RewardJudge(FrozenModel):
    """A model that may decide rewards, and the score from which it counts as success."""

    kind: ModelJudgeKind
    url: Annotated[str, AfterValidator(validate_url)]
    """Root of an OpenAI-compatible API, with /v1."""
    model: str
    name: str = ""
    """The judge's name; by default that of its model."""
    revision: str
    """The revision of its weights, prompt and settings."""
    scripted: bool = False
    threshold: float = Field(default=DEFAULT_THRESHOLD, gt=0, le=1)
    settings: JudgeSettings = JudgeSettings()
    prices: Prices | None = None
    key_variable: str = Field(default=KEY_VARIABLE, pattern=r"^PILOTHOUSE_[A-Z0-9_]+$")
    """The environment variable that holds its key."""

    @property
    def ref(self) -> JudgeRef:
        return JudgeRef(kind=self.kind, name=self.name or self.model, revision=self.revision, scripted=self.scripted)

    def open(self, environment: Mapping[str, str]) -> Judge:
        """A client of its server, to be closed."""
        return ModelJudge(
            JudgeEndpoint(
                ref=self.ref,
                base_url=self.url,
                model=self.model,
                api_key=SecretStr(environment.get(self.key_variable, "")),
                settings=self.settings,
            )
        )


class RewardJudges(FrozenModel):
    """The judges of a rollout. Each kind at most once: a second opinion is a vote."""

    judges: tuple[RewardJudge, ...] = Field(max_length=len(ORDER))

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        kinds = [judge.kind for judge in self.judges]
        if len(set(kinds)) < len(kinds):
            raise ValueError("each kind of judge is named once")
        return self

    @property
    def in_order(self) -> tuple[RewardJudge, ...]:
        """The judges in the order in which they are asked."""
        return tuple(sorted(self.judges, key=lambda judge: ORDER.index(judge.kind)))


def read_reward_judges(path: Path) -> RewardJudges:
    """The judges of a JSON file. Raises InvalidRewardJudges."""
    try:
        return RewardJudges.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InvalidRewardJudges(f"{path}: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidRewardJudges(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
