"""Asks a model for variants of a thought: enriched with what is visible at its step, and in other wordings.

What was said is kept: an enriched thought holds it word for word beside sentences that are marked as added, and another
wording has its numbers, names and negations. What the model says beyond what is known is dropped; where nothing is
left, there is no variant (`problem` says why).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import httpx

from agent_backend.refinement.provenance import (
    RefinedSentence,
    find_other_meaning,
    find_unsupported,
    is_near_identical,
    split_sentences,
)
from agent_backend.refinement.text_model import TextModel
from protocol.actions.descriptions import describe_action
from protocol.trajectory.observations import Observation
from protocol.trajectory.steps import Step
from protocol.trajectory.variants import VariantKind

MAX_ADDED = 3
"""Sentences that an enriched thought has beside what was said."""
MAX_ACCESSIBILITY = 2_000
"""Characters of the accessibility tree and of a terminal's text that a model is shown."""
ENRICH = (
    "A person thought aloud before an action on a computer. Write one to three short sentences that stand before the "
    "thought: what is visible at this step (application, page, elements by their names), and how the action serves the "
    "task. Use only what is given below. No number, name or fact that is not given. No negation. Do not repeat the "
    "thought. Answer with the sentences alone."
)
DIVERSIFY = (
    "You reword what a person thought before an action on a computer. Keep the meaning, every number, every name and "
    "every negation. Add nothing. Answer with the text alone."
)
STYLES = (
    "Use other words and another order of the sentences.",
    "Write it briefly and directly, in the present tense.",
    "Write it as a plan: first what you see or want, then what you do.",
)
"""How the wordings differ; one request each."""
PROMPT_SHA256: dict[VariantKind, str] = {
    "enriched": hashlib.sha256(ENRICH.encode()).hexdigest(),
    "diversified": hashlib.sha256("\n".join((DIVERSIFY, *STYLES)).encode()).hexdigest(),
}


@dataclass(frozen=True)
class WrittenVariants:
    """Variants of one thought, each as sentences with their source; `problem` says why there are none."""

    variants: tuple[tuple[RefinedSentence, ...], ...]
    problem: str = ""


class VariantWriter:
    """A model behind an OpenAI-compatible server."""

    def __init__(
        self, base_url: str, model: str, *, api_key: str = "", transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self.model = model
        self._text_model = TextModel(base_url, model, api_key=api_key, transport=transport)

    async def write(
        self, kind: VariantKind, thought: str, evidence: str, names: frozenset[str] = frozenset()
    ) -> WrittenVariants:
        """The variants of a thought; `evidence` is what is known of its step (`describe_step`). Raises
        PolicyUnavailable and PolicyRejected."""
        if kind == "enriched":
            return await self._enrich(thought, evidence, names)
        return await self._diversify(thought, evidence, names)

    async def aclose(self) -> None:
        """Close the connections to the server."""
        await self._text_model.aclose()

    async def _enrich(self, thought: str, evidence: str, names: frozenset[str]) -> WrittenVariants:
        messages = _conversation(ENRICH, f"{evidence}\nThought: {thought}")
        problem = ""
        for _ in range(2):
            reply = await self._text_model.ask(messages)
            added, problem = supported_sentences(reply, thought, evidence, names)
            if added:
                said = split_sentences(thought)
                kept = (RefinedSentence(one, "verbatim", (place,)) for place, one in enumerate(said))
                return WrittenVariants(((*(RefinedSentence(one, "added") for one in added), *kept),))
            messages += _objection(reply, f"This is not known ({problem}). Use only what is given.")
        return WrittenVariants((), problem)

    async def _diversify(self, thought: str, evidence: str, names: frozenset[str]) -> WrittenVariants:
        found: list[str] = []
        problem = ""
        for style in STYLES:
            messages = _conversation(f"{DIVERSIFY} {style}", f"{evidence}\nThought: {thought}")
            for _ in range(2):
                reply = await self._text_model.ask(messages)
                wrong = find_other_meaning(thought, reply, names) if reply else "the reply is empty"
                if not wrong:
                    if is_near_identical(reply, (thought, *found)):
                        wrong = "it is nearly the same"
                    else:
                        found.append(reply)
                    break
                messages += _objection(reply, f"This changes what was thought ({wrong}). Keep every fact.")
            problem = wrong or problem
        variants = tuple(tuple(RefinedSentence(one, "paraphrased") for one in split_sentences(text)) for text in found)
        return WrittenVariants(variants, "" if variants else problem)


def supported_sentences(
    reply: str, thought: str, evidence: str, names: frozenset[str] = frozenset()
) -> tuple[tuple[str, ...], str]:
    """The sentences of a reply that follow from what is known of the step and say something beside the thought, and
    what was wrong with the last other one."""
    added: list[str] = []
    problem = "" if reply else "the reply is empty"
    for sentence in split_sentences(reply):
        wrong = find_unsupported(sentence, evidence, names)
        if not wrong and is_near_identical(sentence, (*split_sentences(thought), *added)):
            wrong = "it repeats the thought"
        if wrong:
            problem = wrong
        elif len(added) < MAX_ADDED:
            added.append(sentence)
    return tuple(added), problem


def describe_step(instruction: str, steps: Sequence[Step], place: int, element: str = "") -> str:
    """What is known of a step, line by line: the task, what is visible before the action, the `element` that it was
    done on, and the actions. Pictures are left out: what a model reads from one cannot be checked here."""
    step = steps[place]
    lines = [f"Task: {instruction}", *_visible(step.before)]
    if place:
        lines.append(f"Previous action: {describe_action(steps[place - 1].action)}")
    lines.append(f"Action: {describe_action(step.action)}")
    if element:
        lines.append(f"Element: {element}")
    return "\n".join(lines)


def _visible(look: Observation) -> list[str]:
    page = look.page
    named = {
        "Application": look.application,
        "Page": page.title if page else None,
        "Address": look.url,
        "Screen": page.description if page else None,
        "Elements": look.accessibility[:MAX_ACCESSIBILITY] if look.accessibility else None,
        "Text": look.text[:MAX_ACCESSIBILITY] if look.text else None,
    }
    return [f"{name}: {value}" for name, value in named.items() if value]


def _conversation(system: str, question: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": system}, {"role": "user", "content": question}]


def _objection(reply: str, text: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": reply}, {"role": "user", "content": text}]
