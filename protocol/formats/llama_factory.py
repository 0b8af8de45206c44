"""LLaMA-Factory's ShareGPT rows: supervised, preferences (DPO) and single judgements (KTO), with `dataset_info.json`
and a dataset card.

It has no weight a turn: train the supervised rows with `mask_history: true`, so that the last turn alone is learned.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from protocol.formats.dataset_card import Feature, SidecarFiles, dataset_card, describe_columns
from protocol.formats.records import ExportFormat, ExportOptions, Record, RowError, SkippedRow, build_record
from protocol.formats.special_tokens import LLAMA_FACTORY
from protocol.formats.training_examples import (
    PreferencePair,
    RatedReply,
    TrainingExample,
    TrainingReply,
    escape_reply_text,
    merge_turns,
    preference_pairs,
    rated_replies,
    to_json_line,
    training_examples,
)
from protocol.trajectory.export_folders import image_path
from protocol.trajectory.trajectories import Trajectory

SPEAKERS = {"user": "human", "assistant": "gpt", "system": "system"}
FILE = "rows.jsonl"
IMAGE_ROW_MARKER = b'"images":["'
"""Of a row with pictures. From the beginning of a file `datasets` infers what `images` holds; `[]` does not say."""


def supervised(trajectory: Trajectory, options: ExportOptions) -> Iterator[Record | SkippedRow]:
    """One row a step; the last turn is the step's."""

    def row(example: TrainingExample) -> str:
        return _row_line(example, learned=example.target, variant=trajectory.variant)

    for example in training_examples(trajectory, options):
        yield _record(example.key, example, partial(row, example))


def preferences(trajectory: Trajectory, options: ExportOptions) -> Iterator[Record | SkippedRow]:
    """One row a pair."""

    def row(one: PreferencePair) -> str:
        chosen, rejected = (_assistant_turn(reply, one.example) for reply in (one.chosen, one.rejected))
        return _row_line(one.example, chosen=chosen, rejected=rejected)

    for number, one in preference_pairs(trajectory, options):
        yield _record(f"{one.example.key}-{number}", one.example, partial(row, one))


def unpaired_preferences(trajectory: Trajectory, options: ExportOptions) -> Iterator[Record | SkippedRow]:
    """One row a judged reply."""

    def row(one: RatedReply) -> str:
        return _row_line(one.example, learned=one.reply, kto_tag=one.good)

    for number, one in rated_replies(trajectory, options):
        yield _record(f"{one.example.key}-{number}", one.example, partial(row, one))


def _row_line(example: TrainingExample, *, learned: TrainingReply | None = None, **columns: Any) -> str:
    """A row as JSON: the turns before a decision and, where one reply is learned, that reply; other columns; pictures.

    Turns are put together from JSON that the rows of a trajectory have in common. Raises RowError.
    """
    turns = _prompt_turns(example)
    if learned is not None:
        turns.append(to_json_line(_assistant_turn(learned, example)))
    paths = [image_path(image) for image in example.images]
    rest = to_json_line({**columns, "images": paths})
    return f'{{"conversations":[{",".join(turns)}],{rest[1:]}'


def _prompt_turns(example: TrainingExample) -> list[str]:
    turns = [(SPEAKERS[turn.role], turn.json) for turn in merge_turns(example, LLAMA_FACTORY)]
    speakers = [speaker for speaker, _ in turns if speaker != "system"]
    if speakers != ["human", "gpt"] * (len(speakers) // 2) + ["human"]:
        raise RowError("turns", f"{example.key}: human and gpt do not take turns")
    return [f'{{"from":"{speaker}","value":{text}}}' for speaker, text in turns]


def _assistant_turn(reply: TrainingReply, example: TrainingExample) -> dict[str, str]:
    return {"from": "gpt", "value": escape_reply_text(reply, example, LLAMA_FACTORY)}


def _record(key: str, example: TrainingExample, row: Callable[[], str]) -> Record | SkippedRow:
    return build_record(key, lambda: Record(key, example.images, lines={FILE: row()}))


TURN = describe_columns({"from": "string", "value": "string"})


def _sidecar_files(
    columns: Mapping[str, str], features: Sequence[Feature] = (), *, ranking: bool = False
) -> SidecarFiles:
    """What writes `dataset_info.json` and the dataset card, for a format with these columns besides."""
    card = dataset_card([{"name": "conversations", "list": TURN}, *features, {"name": "images", "list": "string"}])

    def sidecar_files(files: Mapping[str, tuple[str, ...]]) -> Mapping[str, bytes]:
        entries = {
            f"pilothouse_{split}": {
                "file_name": name,
                "formatting": "sharegpt",
                **({"ranking": True} if ranking else {}),
                "columns": {"messages": "conversations", "images": "images", **columns},
            }
            for split, (name, *_rest) in files.items()
        }
        return {"dataset_info.json": json.dumps(entries, indent=1).encode(), **card(files)}

    return sidecar_files


SFT = ExportFormat(
    "llama_factory_sft",
    "lines",
    supervised,
    dialect=True,
    first_line_marker=IMAGE_ROW_MARKER,
    sidecar_files=_sidecar_files({}, describe_columns({"variant": "string"})),
)
DPO = ExportFormat(
    "llama_factory_dpo",
    "lines",
    preferences,
    dialect=True,
    first_line_marker=IMAGE_ROW_MARKER,
    sidecar_files=_sidecar_files(
        {"chosen": "chosen", "rejected": "rejected"},
        [{"name": name, "struct": TURN} for name in ("chosen", "rejected")],
        ranking=True,
    ),
)
KTO = ExportFormat(
    "llama_factory_kto",
    "lines",
    unpaired_preferences,
    dialect=True,
    first_line_marker=IMAGE_ROW_MARKER,
    sidecar_files=_sidecar_files({"kto_tag": "kto_tag"}, describe_columns({"kto_tag": "bool"})),
)
