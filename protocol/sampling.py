"""How a policy's replies are drawn."""

from typing import Annotated, Any

from pydantic import Field

from protocol.base import FrozenModel

MAX_REPLIES = 16
MAX_ACTIONS = 16
"""Most actions that one reply may hold, whatever a policy's settings say."""


class SamplingParams(FrozenModel):
    """How replies are drawn. `top_p`, `top_k` and `min_p` are off by default: a truncated distribution's logprobs
    are renormalised, and no trainer could compare them with its own."""

    n: int = Field(default=4, ge=1, le=MAX_REPLIES)
    temperature: float = Field(default=0.8, ge=0)
    temperatures: tuple[Annotated[float, Field(ge=0)], ...] = Field(default=(), max_length=MAX_REPLIES)
    """Where given, the n replies are drawn at these in turn instead, in one request for each."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    top_k: int = -1
    min_p: float = Field(default=0.0, ge=0, le=1)
    max_tokens: int = Field(default=512, ge=1)
    max_actions: int = Field(default=1, ge=1, le=MAX_ACTIONS)
    """How many actions one reply may hold; a reply with more is refused. It is no parameter of the server."""
    seed: int | None = None

    def requests(self) -> tuple[dict[str, Any], ...]:
        """The fields of each request; no two share a reply's randomness."""
        fields = self.model_dump(exclude={"temperatures", "max_actions"}, exclude_none=True)
        ladder = self.temperatures[: self.n] or (self.temperature,)
        shares = [len(range(place, self.n, len(ladder))) for place in range(len(ladder))]
        return tuple(
            fields
            | {"temperature": temperature, "n": share}
            | ({} if self.seed is None else {"seed": self.seed + place * MAX_REPLIES})
            for place, (temperature, share) in enumerate(zip(ladder, shares, strict=True))
        )
