"""Results of probing a model and its server, before people use it."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from protocol.base import FrozenModel
from protocol.evaluation.reports import Rate

PROBE_FORMAT: Literal["pilothouse-probe-1"] = "pilothouse-probe-1"

ScreenSet = Literal["desktop", "small"]
"""Which bundled screens a model is shown: those of a desktop, or the small ones of the bundled policy."""

ProbeFindingCode = Literal[
    "unreachable",
    "no_picture",
    "picture_ignored",
    "unread_replies",
    "other_dialect",
    "wrong_space",
    "wrong_factor",
    "stripped_tokens",
    "stale_weights",
    "low_hits",
    "below_last",
    "single_choice",
    "no_logprobs",
    "no_token_ids",
    "one_picture",
]
Severity = Literal["error", "warning", "note"]


class ProbeFinding(FrozenModel):
    """One thing that is wrong, or that a researcher should know; `message` says who must do what."""

    code: ProbeFindingCode
    severity: Severity
    message: str


class PixelBox(FrozenModel):
    """A rectangle of a screen, in pixels."""

    left: int
    top: int
    right: int
    bottom: int


class GroundingPoint(FrozenModel):
    """One target, and where the model's reply clicks (pixels of the screen); without a point, why there is none."""

    screen: str
    width: int
    height: int
    instruction: str
    box: PixelBox
    x: int | None = None
    y: int | None = None
    hit: bool = False
    error: str = ""
    """Code of the parse error."""
    reply: str = ""
    """Its beginning."""


class Grounding(FrozenModel):
    """How well a model finds the targets."""

    screens: ScreenSet
    points: tuple[GroundingPoint, ...]
    rate: Rate
    """Hits; a reply without a point is none."""
    mean_error_px: float | None
    """Distance from the middle of the target, over the replies that name a point."""
    mean_error_ci_px: float | None
    """Half of the 95 % interval of that mean."""


class DialectScore(FrozenModel):
    """How many replies a dialect reads as a click, and how many of these hit."""

    dialect: str
    questions: int = Field(ge=0)
    read: int = Field(ge=0)
    hits: int = Field(ge=0)
    own_prompt: bool
    """Whether the model was asked in this dialect's own words."""


class ServerAbilities(FrozenModel):
    """What a server can do; None: not known."""

    version: str = ""
    weight_version: str = ""
    models: tuple[str, ...] = ()
    context_tokens: int | None = None
    answers_picture: bool = False
    several_choices: bool | None = None
    logprobs: bool | None = None
    token_ids: bool | None = None
    reasoning: bool | None = None
    """Whether it sends the thought apart from the reply."""
    images: int | None = None
    """The most pictures of one prompt that it has taken; eight are tried at most."""
    health_ms: float | None = None
    """How long one token about a picture takes."""
    first_token_ms: float | None = None


class ProbeReport(FrozenModel):
    """A whole probe."""

    format: Literal["pilothouse-probe-1"] = PROBE_FORMAT
    base_url: str
    model: str
    dialect: str
    began_at: datetime
    seconds: float = Field(ge=0)
    server: ServerAbilities
    grounding: Grounding | None = None
    dialects: tuple[DialectScore, ...] = ()
    fingerprint: tuple[float, ...] = ()
    """Log-probabilities of the reply to the first screen, which change when the weights do."""
    findings: tuple[ProbeFinding, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether nothing is wrong with it."""
        return all(finding.severity != "error" for finding in self.findings)
