"""LLaMA-Factory's ShareGPT rows: supervised, preferences (DPO) and single judgements (KTO), with `dataset_info.json`.

It has no weight a turn: train the supervised rows with `mask_history: true`, so that the last turn alone is learned.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from vocabulary.exports import image_path
from vocabulary.formats.record import Choice, Format, LeftOut, Record, RowRefused, record_or_reason
from vocabulary.formats.special_words import LLAMA_FACTORY
from vocabulary.formats.telling import (
    Contrast,
    Judged,
    Reply,
    Told,
    contrasts_of,
    judged_of,
    line,
    reply_text,
    told_of,
    turns_of,
)
from vocabulary.trajectories import Trajectory

SPEAKERS = {"user": "human", "assistant": "gpt", "system": "system"}
FILE = "rows.jsonl"
PICTURED = b'"images":["'
"""Of a row with pictures. From the beginning of a file `datasets` infers what `images` holds; `[]` does not say."""


def supervised(trajectory: Trajectory, choice: Choice) -> Iterator[Record | LeftOut]:
    """One row a step; the last turn is the step's."""

    def row(told: Told) -> dict[str, Any]:
        return {"conversations": [*_before(told), _said(told.target, told)]}

    for told in told_of(trajectory, choice):
        yield _record(told.key, told, partial(row, told))


def preferences(trajectory: Trajectory, choice: Choice) -> Iterator[Record | LeftOut]:
    """One row a pair."""

    def row(one: Contrast) -> dict[str, Any]:
        chosen, rejected = (_said(reply, one.told) for reply in (one.chosen, one.rejected))
        return {"conversations": _before(one.told), "chosen": chosen, "rejected": rejected}

    for number, one in contrasts_of(trajectory, choice):
        yield _record(f"{one.told.key}-{number}", one.told, partial(row, one))


def judgements(trajectory: Trajectory, choice: Choice) -> Iterator[Record | LeftOut]:
    """One row a judged reply."""

    def row(one: Judged) -> dict[str, Any]:
        return {"conversations": [*_before(one.told), _said(one.reply, one.told)], "kto_tag": one.good}

    for number, one in judged_of(trajectory, choice):
        yield _record(f"{one.told.key}-{number}", one.told, partial(row, one))


def _before(told: Told) -> list[dict[str, str]]:
    turns = [{"from": SPEAKERS[turn.role], "value": turn.text} for turn in turns_of(told, LLAMA_FACTORY)]
    speakers = [turn["from"] for turn in turns if turn["from"] != "system"]
    if speakers != ["human", "gpt"] * (len(speakers) // 2) + ["human"]:
        raise RowRefused("turns", f"{told.key}: human and gpt do not take turns")
    return turns


def _said(reply: Reply, told: Told) -> dict[str, str]:
    return {"from": "gpt", "value": reply_text(reply, told, LLAMA_FACTORY)}


def _record(key: str, told: Told, row: Callable[[], dict[str, Any]]) -> Record | LeftOut:
    def record() -> Record:
        paths = [image_path(image) for image in told.images]
        return Record(key, told.images, lines={FILE: line({**row(), "images": paths})})

    return record_or_reason(key, record)


def _info(
    columns: Mapping[str, str], *, ranking: bool = False
) -> Callable[[Mapping[str, tuple[str, ...]]], Mapping[str, bytes]]:
    """What `dataset_info.json` says of each split."""

    def beside(files: Mapping[str, tuple[str, ...]]) -> Mapping[str, bytes]:
        entries = {
            f"pilothouse_{split}": {
                "file_name": name,
                "formatting": "sharegpt",
                **({"ranking": True} if ranking else {}),
                "columns": {"messages": "conversations", "images": "images", **columns},
            }
            for split, (name, *_rest) in files.items()
        }
        return {"dataset_info.json": json.dumps(entries, indent=1).encode()}

    return beside


SFT = Format("llama_factory_sft", "lines", supervised, dialect=True, lead=PICTURED, beside=_info({}))
DPO = Format(
    "llama_factory_dpo",
    "lines",
    preferences,
    dialect=True,
    lead=PICTURED,
    beside=_info({"chosen": "chosen", "rejected": "rejected"}, ranking=True),
)
KTO = Format(
    "llama_factory_kto", "lines", judgements, dialect=True, lead=PICTURED, beside=_info({"kto_tag": "kto_tag"})
)
