"""Task drafts of a real small language model: what its replies are like, and what is left of them."""

import asyncio
from collections import Counter

from agent_backend.errors import PolicyError
from annotation_app.design.draft_replies import (
    LEVELS_OF,
    Cell,
    Topic,
    is_level_contradicted,
    parse_drafts,
    render_prompt,
)
from benchmarks.parts.small_model import NAME, missing_packages, serve_small_model
from task_factory.language_models import Message, ServedModel

TOPIC = Topic(path=("Mail", "Send"), applications=("Mail", "Calendar", "Files"))
COUNT = 1
MAX_TOKENS = 220


def measure_drafts() -> dict[str, object]:
    """A reply for each kind of person; `drafts_small_model_skipped` says why there was none."""
    if missing := missing_packages():
        return {"drafts_small_model_skipped": missing}
    cells = [Cell(expertise=expertise, scope="single", count=COUNT) for expertise in LEVELS_OF]
    with serve_small_model() as url:
        replies = asyncio.run(_ask(url, cells))
    kept, reasons, contradicted = 0, Counter[str](), 0
    for cell, reply in zip(cells, replies, strict=True):
        drafts, left_out = parse_drafts(reply, TOPIC, cell)
        kept += len(drafts)
        contradicted += sum(is_level_contradicted(draft.expertise, draft.rubric) for draft in drafts)
        reasons.update(one.reason for one in left_out)
    return {
        "drafts_small_model": NAME,
        "drafts_replies": len(replies),
        "drafts_kept": kept,
        "drafts_level_contradicted": contradicted,
        "drafts_left_out": dict(sorted(reasons.items())),
    }


async def _ask(url: str, cells: list[Cell]) -> list[str]:
    model = ServedModel(url, NAME, temperature=0.7, max_tokens=MAX_TOKENS)
    replies = []
    try:
        for cell in cells:
            try:
                replies.append(await model.complete([Message(role="user", content=render_prompt(TOPIC, cell))]))
            except PolicyError as error:
                replies.append(f"(no reply: {error})")
    finally:
        await model.aclose()
    return replies
