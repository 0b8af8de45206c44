"""Refinement of spoken thoughts whose numbers, names and negations are known: by a small language model on this
computer where it is installed, and by a scripted one that changes facts on purpose."""

import asyncio
import json
import random
import re
from dataclasses import dataclass
from typing import Any

import httpx

from agent_backend.refinement.refiner import RefinedThought, Refiner
from benchmarks.parts.figures import floor_share
from benchmarks.parts.small_model import missing_packages, serve_small_model

NUMBERS = (("forty two", "42"), ("seven", "7"), ("two hundred and five", "205"), ("13.60", "13.60"), ("nineteen", "19"))
NAMES = ("Alice", "Berlin", "Gmail", "Okafor", "Lisbon")
FILLERS = ("", "um, ", "okay so ", "uh ")
TEMPLATES = (
    "{filler}I type {number} into the field for {name}.",
    "{filler}I do not open the page of {name}, because it costs {number} dollars.",
    "{filler}now I look for {name} on page {number}. I never press the red button.",
    "{filler}there are {number} rows and {name} is not the first. I scroll down to see more.",
    "{filler}let me ask {name} without waiting for the {number} others.",
)
NEGATIVE = re.compile(r"\b(?:not|never|without|no|cannot)\b|n't")
WRONG_SHARE = 0.5
"""Of the replies of the scripted model."""


@dataclass(frozen=True)
class SaidThought:
    """A thought with the facts that its writer put into it."""

    text: str
    number: tuple[str, str]
    name: str
    negative: bool


def write_thoughts(rng: random.Random, count: int) -> list[SaidThought]:
    """Thoughts at random."""
    thoughts = []
    for place in range(count):
        number, name = rng.choice(NUMBERS), rng.choice(NAMES)
        text = TEMPLATES[place % len(TEMPLATES)].format(filler=rng.choice(FILLERS), number=number[0], name=name)
        thoughts.append(SaidThought(text, number, name, NEGATIVE.search(text) is not None))
    return thoughts


def keeps_facts(said: SaidThought, refined: str) -> bool:
    """Whether a text has the facts, by the writer's own list."""
    numbers = {one for spelled in NUMBERS for one in spelled if re.search(rf"\b{re.escape(one)}\b", refined.lower())}
    names = {name for name in NAMES if name.lower() in refined.lower()}
    negative = NEGATIVE.search(refined.lower()) is not None
    return bool(numbers) and numbers <= set(said.number) and names == {said.name} and negative == said.negative


def measure_refinement(rng: random.Random, scripted: int, real: int) -> dict[str, Any]:
    """Every figure; the small model's only where it is installed and asked for."""
    thoughts = write_thoughts(rng, scripted)
    refined = asyncio.run(_refine("http://scripted/v1", thoughts, httpx.MockTransport(ScriptedModel(rng))))
    figures = _figures("refined", thoughts, refined)
    if not real:
        return figures
    if missing := missing_packages():
        return {**figures, "small_model_skipped": missing}
    with serve_small_model() as url:
        thoughts = write_thoughts(rng, real)
        return figures | _figures("small_model", thoughts, asyncio.run(_refine(url, thoughts, None)))


def _figures(prefix: str, thoughts: list[SaidThought], refined: list[RefinedThought]) -> dict[str, Any]:
    kept = sum(keeps_facts(said, one.text()) for said, one in zip(thoughts, refined, strict=True))
    sentences = [sentence for one in refined for sentence in one.sentences]
    return {
        f"{prefix}_thoughts": len(refined),
        f"{prefix}_sentences": len(sentences),
        f"{prefix}_left_as_said": sum(bool(one.problem) for one in refined),
        f"{prefix}_added_sentences": sum(one.support == "added" for one in sentences),
        "refinement_facts_kept" if prefix == "refined" else f"{prefix}_facts_kept": floor_share(kept, len(refined)),
    }


async def _refine(
    url: str, thoughts: list[SaidThought], transport: httpx.AsyncBaseTransport | None
) -> list[RefinedThought]:
    refiner = Refiner(url, "small", transport=transport)
    try:
        return [await refiner.refine(one.text, "Fill in the form", "click", frozenset()) for one in thoughts]
    finally:
        await refiner.aclose()


class ScriptedModel:
    """Answers as a server does. Every second reply drops, changes or invents a fact."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """One answer as server-sent events."""
        if request.method == "GET":
            return httpx.Response(404)
        said = json.loads(request.content)["messages"][1]["content"].rpartition("Said: ")[2]
        text = self._clean(said) + self._rng.choice(("", " This brings the whole work forward."))
        return self.answer(self.change_fact(text) if self.is_wrong() else text)

    def is_wrong(self) -> bool:
        """Whether the next reply is wrong."""
        return self._rng.random() < WRONG_SHARE

    def change_fact(self, text: str) -> str:
        """The text with a number, a name or a negation changed, or something invented."""
        return self._rng.choice((self._other_number, self._other_name, self._no_negation, self._invention))(text)

    @staticmethod
    def answer(text: str) -> httpx.Response:
        """A reply as server-sent events."""
        events = ({"index": 0, "delta": {"content": text}}, {"index": 0, "delta": {}, "finish_reason": "stop"})
        body = "".join(f"data: {json.dumps({'choices': [event]})}\n\n" for event in events) + "data: [DONE]\n\n"
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, text=body)

    def _clean(self, said: str) -> str:
        text = re.sub(r"^(?:um, |okay so |uh )", "", said)
        text = text[:1].upper() + text[1:]
        for spelled, digits in NUMBERS:
            text = text.replace(spelled, digits)
        return text

    def _other_number(self, text: str) -> str:
        return re.sub(r"\d[\d.]*\d|\d", "88", text, count=1)

    def _other_name(self, text: str) -> str:
        return re.sub("|".join(NAMES), self._rng.choice(("Bob", "somebody")), text)

    def _no_negation(self, text: str) -> str:
        return re.sub(r" (?:do not|not|never|without)\b", "", text)

    def _invention(self, text: str) -> str:
        return f"{text} {self._rng.choice(('Nobody helps me.', 'There are 3 more.', 'Then Victor comes.'))}"
