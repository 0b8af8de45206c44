"""What a policy is reminded of: working memory, its latest steps in full, and episodic memory, its notes on older ones.

Shared, because a policy trained on other histories than it is served with would be another policy. A prompt grows at
its end only, as far as that goes: pictures leave it, and steps are forgotten, several at a time (`stride`), so that a
server finds most of a prompt, and its pictures, in its caches.
"""

from collections.abc import Callable
from typing import Any

from pydantic import Field, model_validator

from vocabulary.base import Frozen
from vocabulary.episodic import Memory
from vocabulary.steps import Step

CHARACTERS = 4
"""Characters a token has where nobody counts."""

Length = Callable[[str], int]
"""How many tokens a text has."""


def estimated(text: str) -> int:
    """The tokens of a text where its model's server does not say."""
    return -(-len(text) // CHARACTERS)


def told(step: Step) -> str:
    """The text of a step that is counted."""
    return step.thought + step.action.model_dump_json()


class Budget(Frozen):
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
    def _in_tokens(cls, given: Any) -> Any:
        """Older settings are in characters."""
        if not isinstance(given, dict):
            return given
        names = {"characters": "tokens", "notes": "note_tokens"}
        return {
            names.get(name, name): value // CHARACTERS if name in names and isinstance(value, int) else value
            for name, value in given.items()
        }

    @property
    def step(self) -> int:
        """The stride that the window allows."""
        return min(self.stride, self.images)


class Recall(Frozen):
    """What a prompt holds of the past: notes, the steps after them, and how many steps came before those."""

    memories: tuple[Memory, ...] = ()
    steps: tuple[Step, ...] = ()
    earlier: int = 0


def recall(steps: tuple[Step, ...], memories: tuple[Memory, ...], budget: Budget, length: Length = estimated) -> Recall:
    """What a policy is reminded of at its next decision; `steps` are those that count, all of them."""
    valid, rest = _noted(steps, memories)
    left, kept = budget.note_tokens, 0
    for memory in reversed(valid):
        left -= length(memory.text)
        if left < 0:
            break
        kept += 1
    shown = recalled(rest, budget, length)
    return Recall(memories=valid[len(valid) - kept :], steps=shown, earlier=len(steps) - len(shown))


def condensable(steps: tuple[Step, ...], memories: tuple[Memory, ...], budget: Budget) -> tuple[Step, ...]:
    """The steps to write the next note on; none while the working memory has room."""
    _, rest = _noted(steps, memories)
    return rest[: budget.episode] if budget.episode and len(rest) >= budget.working + budget.episode else ()


def _noted(steps: tuple[Step, ...], memories: tuple[Memory, ...]) -> tuple[tuple[Memory, ...], tuple[Step, ...]]:
    """The memories that still hold, and the steps they do not tell of; what was taken back since is no memory."""
    places = {step.index: place for place, step in enumerate(steps)}
    valid = tuple(memory for memory in memories if memory.through in places)
    return valid, steps[places[valid[-1].through] + 1 :] if valid else steps


def recalled(steps: tuple[Step, ...], budget: Budget, length: Length = estimated) -> tuple[Step, ...]:
    """The latest steps whose thoughts and actions fit the budget, in order; those with a picture always fit.

    What is cut is the oldest, so a long episode is forgotten from its beginning and no prompt outgrows its model.
    """
    left = budget.tokens
    kept = 0
    for step in reversed(steps):
        left -= length(told(step))
        if left < 0 and kept >= budget.images - 1:
            break
        kept += 1
    chunk = budget.step**2  # seldomer than pictures leave
    cut = -(-(len(steps) - kept) // chunk) * chunk
    return steps[min(cut, max(len(steps) - budget.images + 1, len(steps) - kept)) :]
