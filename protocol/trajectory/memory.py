"""Fits working memory (the latest steps) and episodic memory (notes on older steps) into a prompt's history budget.

Serving and training share this module: a policy trained on other histories than it is served with would be another
policy. A prompt grows at its end only, as far as possible: screenshots and steps leave it several at a time (`stride`),
so that a server finds most of a prompt in its caches.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field, StringConstraints, model_validator

from protocol.base import FrozenModel
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.steps import Step

MemoryText = Annotated[str, StringConstraints(max_length=4_000)]


class Memory(FrozenModel):
    """Notes on the steps after the last memory's, up to and with the one of index `through`."""

    through: int = Field(ge=0)
    text: MemoryText
    policy: PolicyRef
    revised: bool = False
    """The annotator put it right."""
    original: MemoryText | None = None
    """What the policy wrote, where it was put right."""
    written_at: datetime


CHARACTERS_PER_TOKEN = 4
"""Estimated characters per token if no tokenizer counts."""

TokenCounter = Callable[[str], int]
"""How many tokens a text has."""
StepLengths = dict[int, int]
"""Tokens of steps by the steps' identity: for histories of the same steps, while the steps are alive."""


def estimate_tokens(text: str) -> int:
    """The tokens of a text where its model's server does not say."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def step_text(step: Step) -> str:
    """The text of a step that is counted."""
    return step.thought + step.action.model_dump_json()


class HistoryBudget(FrozenModel):
    """Bounds of a prompt's history: screenshots (the present one included), and tokens of thoughts and actions."""

    images: int = Field(default=5, ge=1)
    stride: int = Field(default=3, ge=1)
    """How many screenshots leave at a time; between `images - stride + 1` and `images` are shown."""
    tokens: int = Field(default=6_000, ge=0)
    working: int = Field(default=12, ge=1)
    """Steps that are never condensed."""
    episode: int = Field(default=0, ge=0)
    """Steps condensed into one note; 0 for a policy that writes none, as most were never taught to."""
    note_tokens: int = Field(default=1_500, ge=0)
    """Tokens of notes; the oldest are left out."""

    @model_validator(mode="before")
    @classmethod
    def _in_tokens(cls, values: Any) -> Any:
        """Older settings are in characters."""
        if not isinstance(values, dict):
            return values
        names = {"characters": "tokens", "notes": "note_tokens"}
        return {
            names.get(name, name): value // CHARACTERS_PER_TOKEN if name in names and isinstance(value, int) else value
            for name, value in values.items()
        }

    @property
    def step(self) -> int:
        """The stride that the window allows."""
        return min(self.stride, self.images)


@dataclass(frozen=True)
class RecalledHistory:
    """What a prompt holds of the past: notes, the steps after them, and how many steps came before those."""

    memories: tuple[Memory, ...] = ()
    steps: tuple[Step, ...] = ()
    earlier: int = 0


def recall_history(
    steps: tuple[Step, ...],
    memories: tuple[Memory, ...],
    budget: HistoryBudget,
    length: TokenCounter = estimate_tokens,
    step_lengths: StepLengths | None = None,
) -> RecalledHistory:
    """What a policy is reminded of at its next decision.

    Args:
        steps: Those that count, all of them.
        step_lengths: What was counted already with the same `length`; what is counted is added.
    """
    valid, rest = _split_by_memories(steps, memories)
    remaining, count = budget.note_tokens, 0
    for memory in reversed(valid):
        remaining -= length(memory.text)
        if remaining < 0:
            break
        count += 1
    recent = fit_steps(rest, budget, length, step_lengths)
    return RecalledHistory(memories=valid[len(valid) - count :], steps=recent, earlier=len(steps) - len(recent))


def steps_to_summarize(
    steps: tuple[Step, ...], memories: tuple[Memory, ...], budget: HistoryBudget
) -> tuple[Step, ...]:
    """The steps to write the next note on; none while the working memory has room."""
    _, rest = _split_by_memories(steps, memories)
    return rest[: budget.episode] if budget.episode and len(rest) >= budget.working + budget.episode else ()


def _split_by_memories(
    steps: tuple[Step, ...], memories: tuple[Memory, ...]
) -> tuple[tuple[Memory, ...], tuple[Step, ...]]:
    """The memories that still hold, and the steps they do not tell of; what was taken back since is no memory."""
    if not memories:
        return (), steps
    places = {step.index: place for place, step in enumerate(steps)}
    valid = tuple(memory for memory in memories if memory.through in places)
    return valid, steps[places[valid[-1].through] + 1 :] if valid else steps


def fit_steps(
    steps: tuple[Step, ...],
    budget: HistoryBudget,
    length: TokenCounter = estimate_tokens,
    step_lengths: StepLengths | None = None,
) -> tuple[Step, ...]:
    """The latest steps whose thoughts and actions fit the budget, in order; those with a picture always fit.

    What is cut is the oldest, so a long episode is forgotten from its beginning and no prompt outgrows its model.
    """
    known: StepLengths = {} if step_lengths is None else step_lengths
    remaining = budget.tokens
    count = 0
    for step in reversed(steps):
        if (tokens := known.get(id(step))) is None:
            tokens = known[id(step)] = length(step_text(step))
        remaining -= tokens
        if remaining < 0 and count >= budget.images - 1:
            break
        count += 1
    chunk = budget.step**2  # seldomer than pictures leave
    cut = -(-(len(steps) - count) // chunk) * chunk
    return steps[min(cut, max(len(steps) - budget.images + 1, len(steps) - count)) :]
