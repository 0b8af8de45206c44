"""LLaMA-Factory's ShareGPT rows: supervised, preferences (DPO) and single judgements (KTO), with `dataset_info.json`.

It has no weight a turn: train the supervised rows with `mask_history: true`, so that the last turn alone is learned.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from vocabulary.exports import image_path
from vocabulary.formats.record import Choice, Format, Record, RowRefused
from vocabulary.formats.telling import Told, contrasts_of, judged_of, line, told_of, turns_of
from vocabulary.trajectories import Trajectory

SPEAKERS = {"user": "human", "assistant": "gpt", "system": "system"}
FILE = "rows.jsonl"


def supervised(trajectory: Trajectory, choice: Choice) -> Iterator[Record]:
    """One row a step; the last turn is the step's."""
    for told in told_of(trajectory, choice):
        yield _record(told.key, told, {"conversations": [*_before(told), _said(told.target)]})


def preferences(trajectory: Trajectory, choice: Choice) -> Iterator[Record]:
    """One row a pair."""
    for number, one in contrasts_of(trajectory, choice):
        row = {"conversations": _before(one.told), "chosen": _said(one.chosen), "rejected": _said(one.rejected)}
        yield _record(f"{one.told.key}-{number}", one.told, row)


def judgements(trajectory: Trajectory, choice: Choice) -> Iterator[Record]:
    """One row a judged reply."""
    for number, one in judged_of(trajectory, choice):
        row = {"conversations": [*_before(one.told), _said(one.reply)], "kto_tag": one.good}
        yield _record(f"{one.told.key}-{number}", one.told, row)


def _before(told: Told) -> list[dict[str, str]]:
    turns = [{"from": SPEAKERS[turn.role], "value": turn.text} for turn in turns_of(told)]
    speakers = [turn["from"] for turn in turns if turn["from"] != "system"]
    if speakers != ["human", "gpt"] * (len(speakers) // 2) + ["human"]:
        raise RowRefused("turns", f"{told.key}: human and gpt do not take turns")
    return turns


def _said(text: str) -> dict[str, str]:
    return {"from": "gpt", "value": text.replace("<image>", "< image >")}


def _record(key: str, told: Told, row: dict[str, Any]) -> Record:
    paths = [image_path(image) for image in told.images]
    return Record(key, told.images, lines={FILE: line({**row, "images": paths})})


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


SFT = Format("llama_factory_sft", "lines", supervised, dialect=True, beside=_info({}))
DPO = Format(
    "llama_factory_dpo",
    "lines",
    preferences,
    dialect=True,
    beside=_info({"chosen": "chosen", "rejected": "rejected"}, ranking=True),
)
KTO = Format("llama_factory_kto", "lines", judgements, dialect=True, beside=_info({"kto_tag": "kto_tag"}))
