"""Variants of thoughts whose numbers, names and negations are known, by a scripted model that invents on purpose."""

import asyncio
import json
import random
from typing import Any

import httpx

from agent_backend.refinement.variants import VariantWriter, WrittenVariants
from benchmarks.parts.figures import floor_share
from benchmarks.parts.recorder.refinement import SaidThought, ScriptedModel, keeps_facts, write_thoughts

EVIDENCE = (
    "Task: Fill in the form of the order\nApplication: shop\nPage: Orders\nElements: button Save, field Amount\n"
    "Action: Click at (4, 4)"
)
SUPPORTED = (
    "The application shop shows the page Orders.",
    "I see the button Save and the field Amount.",
    "I need the field for the form of the order.",
)
INVENTED = ("There are 88 rows on the page.", "Victor has the page open.", "The button is not visible.")


class InventingModel(ScriptedModel):
    """Every second reply of either kind holds something that nobody gave, said or typed."""

    def reply(self, system: str, thought: str) -> str:
        """What it answers to a prompt of `agent_backend.refinement.variants`."""
        if "reword" not in system:
            wrong = self._rng.choice(INVENTED) if self.is_wrong() else ""
            return f"{self._rng.choice(SUPPORTED)} {wrong}".strip()
        text = " ".join(reversed(self._clean(thought).replace(".", "").split()))
        return self.change_fact(text) if self.is_wrong() else text

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """One answer as server-sent events."""
        if request.method == "GET":
            return httpx.Response(404)
        system, question = (one["content"] for one in json.loads(request.content)["messages"][:2])
        return self.answer(self.reply(system, question.rpartition("Thought: ")[2]))


def measure_variants(rng: random.Random, count: int) -> dict[str, Any]:
    """Every figure: how many thoughts have a variant of each kind, and whether facts are kept and nothing is invented
    by the lists of who wrote the thoughts and the model."""
    thoughts = write_thoughts(rng, count)
    enriched, diversified = asyncio.run(_write(thoughts, httpx.MockTransport(InventingModel(rng))))
    texts = [
        (said, " ".join(one.text for one in sentences if one.support != "added"))
        for said, written in zip(thoughts * 2, (*enriched, *diversified), strict=True)
        for sentences in written.variants
    ]
    added = [one.text for made in enriched for each in made.variants for one in each if one.support == "added"]
    return {
        "variant_thoughts": len(thoughts),
        "variants_enriched": sum(bool(one.variants) for one in enriched),
        "variants_diversified": sum(len(one.variants) for one in diversified),
        "variant_facts_kept": floor_share(sum(keeps_facts(said, text) for said, text in texts), len(texts)),
        "variant_added_sentences": len(added),
        "variant_invented_sentences": sum(one in INVENTED for one in added),
    }


async def _write(
    thoughts: list[SaidThought], transport: httpx.AsyncBaseTransport
) -> tuple[list[WrittenVariants], list[WrittenVariants]]:
    writer = VariantWriter("http://scripted/v1", "small", transport=transport)
    try:
        enriched = [await writer.write("enriched", one.text, EVIDENCE) for one in thoughts]
        return enriched, [await writer.write("diversified", one.text, EVIDENCE) for one in thoughts]
    finally:
        await writer.aclose()
