"""The columns of each table, and what `datasets` is told of them; fixed, so that no shard differs from another."""

import json
from typing import Any

import pyarrow as pa

from protocol.formats.huggingface import COLUMNS as HUGGINGFACE_COLUMNS

TEXT, INTEGER, BOOLEAN = pa.string(), pa.int64(), pa.bool_()
TYPES = {"string": TEXT, "int64": INTEGER, "float64": pa.float64(), "bool": BOOLEAN}
IMAGE_TYPE = pa.struct([("bytes", pa.binary()), ("path", TEXT)])
MESSAGE_PARTS = pa.list_(
    pa.struct([("role", TEXT), ("content", pa.list_(pa.struct([("type", TEXT), ("text", TEXT)])))])
)
MESSAGES = pa.list_(pa.struct([("role", TEXT), ("content", TEXT)]))
IMAGES_COLUMN = ("images", pa.list_(IMAGE_TYPE))

FORMAT_COLUMNS: dict[str, list[tuple[str, Any]]] = {
    "trl_sft": [("prompt", MESSAGE_PARTS), ("completion", MESSAGE_PARTS), ("variant", TEXT), IMAGES_COLUMN],
    "trl_dpo": [("prompt", MESSAGE_PARTS), ("chosen", MESSAGE_PARTS), ("rejected", MESSAGE_PARTS), IMAGES_COLUMN],
    "trl_kto": [("prompt", MESSAGE_PARTS), ("completion", MESSAGE_PARTS), ("label", BOOLEAN), IMAGES_COLUMN],
    "trl_stepwise": [("prompt", TEXT), ("completions", pa.list_(TEXT)), ("labels", pa.list_(BOOLEAN))],
    "verl_sft": [("messages", MESSAGES), ("variant", TEXT), IMAGES_COLUMN],
    "verl_rl": [
        ("data_source", TEXT),
        ("prompt", MESSAGES),
        ("ability", TEXT),
        ("reward_model", pa.struct([("style", TEXT), ("ground_truth", TEXT)])),
        (
            "extra_info",
            pa.struct(
                [
                    *((name, TEXT) for name in ("split", "trajectory_id", "task_id", "dialect")),
                    *((name, INTEGER) for name in ("index", "width", "height")),
                ]
            ),
        ),
        IMAGES_COLUMN,
    ],
    "huggingface": [*((name, TYPES[kind]) for name, kind in HUGGINGFACE_COLUMNS.items()), ("image", IMAGE_TYPE)],
}
"""By the format's name. A column `images` or `image` has the pictures' bytes."""


def parquet_schema(name: str) -> pa.Schema:
    """The schema of a format's table, its pictures declared so that `datasets` decodes them."""
    columns = FORMAT_COLUMNS[name]
    features = {column: _feature(column, kind) for column, kind in columns}
    metadata = json.dumps({"info": {"features": features}})
    return pa.schema([pa.field(column, kind) for column, kind in columns], metadata={"huggingface": metadata})


def _feature(column: str, kind: pa.DataType) -> Any:
    """A column as `datasets` writes it down."""
    if kind == IMAGE_TYPE:
        return {"_type": "Image"}
    if pa.types.is_list(kind):
        return {"feature": _feature(column, kind.value_type), "_type": "List"}
    if pa.types.is_struct(kind):
        return {field.name: _feature(field.name, field.type) for field in kind}
    return {"dtype": next(name for name, known in TYPES.items() if known == kind), "_type": "Value"}
