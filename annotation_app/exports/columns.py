"""The columns of each table, and what `datasets` is told of them; fixed, so that no shard differs from another."""

import json
from typing import Any

import pyarrow as pa

TEXT, WHOLE, TRUTH = pa.string(), pa.int64(), pa.bool_()
IMAGE = pa.struct([("bytes", pa.binary()), ("path", TEXT)])
PARTS = pa.list_(pa.struct([("role", TEXT), ("content", pa.list_(pa.struct([("type", TEXT), ("text", TEXT)])))]))
PLAIN = pa.list_(pa.struct([("role", TEXT), ("content", TEXT)]))
IMAGES = ("images", pa.list_(IMAGE))

COLUMNS: dict[str, list[tuple[str, Any]]] = {
    "trl_sft": [("prompt", PARTS), ("completion", PARTS), IMAGES],
    "trl_dpo": [("prompt", PARTS), ("chosen", PARTS), ("rejected", PARTS), IMAGES],
    "trl_kto": [("prompt", PARTS), ("completion", PARTS), ("label", TRUTH), IMAGES],
    "trl_stepwise": [("prompt", TEXT), ("completions", pa.list_(TEXT)), ("labels", pa.list_(TRUTH))],
    "verl_sft": [("messages", PLAIN), IMAGES],
    "verl_rl": [
        ("data_source", TEXT),
        ("prompt", PLAIN),
        ("ability", TEXT),
        ("reward_model", pa.struct([("style", TEXT), ("ground_truth", TEXT)])),
        (
            "extra_info",
            pa.struct(
                [
                    *((name, TEXT) for name in ("split", "trajectory_id", "task_id", "dialect")),
                    *((name, WHOLE) for name in ("index", "width", "height")),
                ]
            ),
        ),
        IMAGES,
    ],
    "huggingface": [
        ("trajectory_id", TEXT),
        ("step", WHOLE),
        *((name, TEXT) for name in ("task_id", "instruction", "platform", "actor", "decision")),
        ("intervention", TRUTH),
        *((name, TEXT) for name in ("thought", "action", "candidates", "error", "policy", "annotator", "outcome")),
        ("reward", pa.float64()),
        ("width", WHOLE),
        ("height", WHOLE),
        ("image_sha256", TEXT),
        ("image", IMAGE),
    ],
}
"""By the format's name. A column `images` or `image` has the pictures' bytes."""


def schema_of(name: str) -> pa.Schema:
    """The schema of a format's table, its pictures declared so that `datasets` decodes them."""
    columns = COLUMNS[name]
    features = {column: _feature(column, kind) for column, kind in columns}
    told = json.dumps({"info": {"features": features}})
    return pa.schema([pa.field(column, kind) for column, kind in columns], metadata={"huggingface": told})


def _feature(column: str, kind: pa.DataType) -> Any:
    """A column as `datasets` writes it down."""
    if kind == IMAGE:
        return {"_type": "Image"}
    if pa.types.is_list(kind):
        return {"feature": _feature(column, kind.value_type), "_type": "List"}
    if pa.types.is_struct(kind):
        return {field.name: _feature(field.name, field.type) for field in kind}
    names = {pa.int64(): "int64", pa.float64(): "float64", pa.bool_(): "bool", pa.string(): "string"}
    return {"dtype": names[kind], "_type": "Value"}
