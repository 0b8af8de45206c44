"""Variants of the thoughts of a recorded session: other texts that a model wrote, labelled beside the originals. Pure
functions."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from pydantic import Field

from protocol.base import FrozenModel
from protocol.trajectory.speech import (
    RefinedText,
    SpokenThought,
    ThoughtText,
    Word,
    join_words,
    redact_text,
    speech_of,
    step_of_thought,
    step_thoughts,
    thought_text,
)
from protocol.trajectory.steps import Step
from protocol.trajectory.trajectories import ORIGINAL, Trajectory

VariantKind = Literal["enriched", "diversified"]
"""enriched: what was said, and sentences on what is visible at the step; diversified: the same in other words."""


class ThoughtVariant(FrozenModel):
    """Another text of one thought. It belongs to a thought that has the same words, says `original` and stands in
    `step`; a thought that was changed since has it no more."""

    kind: VariantKind
    index: int = Field(ge=1)
    """Counts the variants of a kind that one thought has."""
    words: tuple[int, int]
    step: int = Field(ge=0)
    original: ThoughtText
    sentences: tuple[RefinedText, ...]
    model: str = ""
    """The policy revision that wrote it."""
    prompt_sha256: str = ""

    @property
    def label(self) -> str:
        """What its rows are labelled with."""
        return f"{self.kind}-{self.index}"

    @property
    def text(self) -> str:
        """The thought in this variant."""
        return join_words(one.text for one in self.sentences)


def belongs(variant: ThoughtVariant, words: Sequence[Word], thought: SpokenThought, first: int = 0) -> bool:
    """Whether this is a variant of a thought as it is now. `first`: the session's step that is 0 here."""
    return (
        variant.words == thought.words
        and step_of_thought(thought) == variant.step - first
        and thought_text(words, thought) == variant.original
    )


def variant_trajectories(
    trajectory: Trajectory, variants: Iterable[ThoughtVariant], kinds: Iterable[VariantKind], first: int = 0
) -> tuple[Trajectory, ...]:
    """A copy of a recorded session (or of a part that begins with its step `first`) for each label of these kinds.
    Copies that would change no thought are left out."""
    wanted = [one for one in variants if one.kind in set(kinds)]
    labels = sorted({(one.kind, one.index) for one in wanted}, key=lambda key: (key[0] != "enriched", key[1]))
    copies = (_copy(trajectory, [one for one in wanted if (one.kind, one.index) == label], first) for label in labels)
    return tuple(copy for copy in copies if copy is not None)


def redact_variants(variants: Iterable[ThoughtVariant], gone: Iterable[int], secrets: Iterable[str]) -> list[bool]:
    """For each variant whether it may stay when words are redacted: it was not made of them and says none of them."""
    places, names = set(gone), tuple(secrets)
    return [
        not places.intersection(range(one.words[0], one.words[1] + 1))
        and all(redact_text(text, names) == text.strip() for text in (one.original, one.text))
        for one in variants
    ]


def split_label(label: str) -> tuple[str, int]:
    """The kind of a label (`none` too) and its number."""
    kind, _, number = label.partition("-")
    return kind, int(number or 0)


def _copy(trajectory: Trajectory, variants: list[ThoughtVariant], first: int) -> Trajectory | None:
    speech = speech_of(trajectory)
    if speech is None:
        return None
    originals = step_thoughts(speech.words, speech.thoughts, len(trajectory.steps))
    texts: list[list[str]] = [[] for _ in trajectory.steps]
    used: list[tuple[int, ThoughtVariant]] = []
    for thought in speech.thoughts:
        step = step_of_thought(thought)
        if step is None or step >= len(texts):
            continue
        own = next((one for one in variants if belongs(one, speech.words, thought, first)), None)
        texts[step].append(thought_text(speech.words, thought) if own is None else own.text)
        if own is not None and trajectory.steps[step].thought == originals[step]:
            used.append((step, own))
    if not used:
        return None
    changed = {step for step, _ in used}
    steps: list[Step] = [
        step.model_copy(update={"thought": join_words(texts[place])}) if place in changed else step
        for place, step in enumerate(trajectory.steps)
    ]
    label = used[0][1].label
    return trajectory.model_copy(
        update={
            "id": f"{trajectory.id}.{label}",
            "steps": tuple(steps),
            "variant": label,
            "variant_steps": tuple(sorted(changed)),
            "task": _with_provenance(trajectory, label, used),
        }
    )


def _with_provenance(trajectory: Trajectory, label: str, used: list[tuple[int, ThoughtVariant]]) -> Any:
    """The task with where each sentence of the variant comes from."""
    recorded: Any = trajectory.task.parameters["recording"]
    thoughts = [
        {
            "step": step,
            "said": one.original,
            "sentences": [sentence.model_dump() for sentence in one.sentences],
            "model": one.model,
            "prompt_sha256": one.prompt_sha256,
        }
        for step, one in used
    ]
    parameters = {
        **trajectory.task.parameters,
        "recording": {**recorded, "variant": {"label": label, "thoughts": thoughts}},
    }
    return trajectory.task.model_copy(update={"parameters": parameters})


def is_original(trajectory: Trajectory) -> bool:
    """Whether its thoughts are those that people said or wrote."""
    return trajectory.variant == ORIGINAL
