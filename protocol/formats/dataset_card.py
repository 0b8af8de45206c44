"""The dataset card of an export, `README.md`: which files hold rows, and the types of their columns.

Hugging Face's `datasets` reads it in `load_dataset(FOLDER)`. Without a card it takes the kind of file that it finds
most of, which are the pictures, and infers types from the first rows: a column that begins with nulls takes no text
afterwards. The card's header is YAML; JSON is a part of it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

CARD = "README.md"
Feature = Mapping[str, Any]
"""A column as a card describes it: its name, and its `dtype`, its `list` or its `struct`."""
SidecarFiles = Callable[[Mapping[str, tuple[str, ...]]], Mapping[str, bytes]]


def describe_columns(columns: Mapping[str, str]) -> list[Feature]:
    """Columns by name, with a type each.

    `json` is any JSON value. Free text in a file of lines is `json` too: a column of `string` in which every row looks
    like a date is read as dates and written again in another spelling.
    """
    return [{"name": name, "dtype": kind} for name, kind in columns.items()]


def dataset_card(features: Sequence[Feature], *, shards: str | None = None) -> SidecarFiles:
    """What writes the card of a format.

    Args:
        shards: The extension of the data files, where they are shards that begin with their split's name.
    """

    def card(files: Mapping[str, tuple[str, ...]]) -> Mapping[str, bytes]:
        paths = {split: f"{split}-*.{shards}" if shards else names[0] for split, names in files.items()}
        if not paths:
            return {}
        data_files = [{"split": split, "path": path} for split, path in paths.items()]
        header = {
            "configs": [{"config_name": "default", "data_files": data_files}],
            "dataset_info": {"features": features},
        }
        return {CARD: f"---\n{json.dumps(header, indent=1)}\n---\n".encode()}

    return card
