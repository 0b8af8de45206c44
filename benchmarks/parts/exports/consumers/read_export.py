"""`python read_export.py CONSUMER FORMAT FOLDER OUT`: the rows of an export as a consumer's own loader gives them.

Writes one line of JSON a row, in order, as `hostile_rows` writes what a row is to be. Imports nothing of the platform:
the environment has only the consumers.
"""

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FORMAT, FOLDER = sys.argv[2], Path(sys.argv[3])
Row = dict[str, Any]
PICTURES = ("jpg", "png")
KEYS = ("__key__", "__url__", "__local_path__")
"""What WebDataset's readers add to a sample."""


def datasets(streaming: bool) -> Iterator[Row]:
    """`load_dataset(FOLDER)`: the export's card says which files hold rows. Pictures stay bytes."""
    from datasets import Image, List, load_dataset

    found = load_dataset(str(FOLDER), split="train", streaming=streaming)
    for name, feature in found.features.items():
        if isinstance(feature, Image):
            found = found.cast_column(name, Image(decode=False))
        elif isinstance(feature, List) and isinstance(feature.feature, Image):
            found = found.cast_column(name, List(Image(decode=False)))
    file = next((path.name for path in FOLDER.glob("*.jsonl")), None)
    for row in found:
        if file is not None:
            yield {file: row}
        elif FORMAT == "webdataset":
            yield _sample(row, row["json"], [row[name]["bytes"] for name in PICTURES if row[name]])
        else:
            pictures = row.pop("images", None) or [row.pop("image")]
            yield {"row": row, "images": _digests([one["bytes"] for one in pictures])}


def web_dataset() -> Iterator[Row]:
    """WebDataset's own reader and decoder; pictures stay bytes."""
    import webdataset

    shards = sorted(str(path) for path in FOLDER.glob("train-*.tar"))
    for row in webdataset.WebDataset(shards, shardshuffle=False):
        names = set(row) - {*KEYS, "json", *PICTURES}
        assert not names, f"{row['__key__']} has {names}: its key is not whole"
        yield _sample(row, json.loads(row["json"]), [row[name] for name in PICTURES if name in row])


def harbor() -> Iterator[Row]:
    """Harbor's validator, pictures included, and its model of a trajectory. Raises ValueError."""
    from harbor.models.trajectories import Trajectory
    from harbor.utils.trajectory_validator import TrajectoryValidator

    path = FOLDER / "trajectory.json"
    for line in (FOLDER / "atif.jsonl").read_text().split("\n")[:-1]:
        path.write_text(line)
        validator = TrajectoryValidator()
        if not validator.validate(path, validate_images=True):
            raise ValueError(f"{line[:100]}: {validator.get_errors()}")
        yield {"atif.jsonl": json.loads(Trajectory.model_validate_json(line).model_dump_json())}
    path.unlink()


def _sample(row: Row, values: Row, pictures: list[bytes]) -> Row:
    """A sample, its key checked against what is in it."""
    key = f"{values['trajectory_id']}-{values['step']:05d}".replace(".", "_")
    assert row["__key__"] == key, f"{row['__key__']} is not {key}"
    return {"row": values, "images": _digests(pictures)}


def _digests(pictures: list[bytes]) -> list[str]:
    return [hashlib.sha256(data).hexdigest() for data in pictures]


CONSUMERS = {
    "datasets": lambda: datasets(streaming=False),
    "datasets, streaming": lambda: datasets(streaming=True),
    "webdataset": web_dataset,
    "Harbor": harbor,
}


def main() -> None:
    with Path(sys.argv[4]).open("w") as lines:
        for row in CONSUMERS[sys.argv[1]]():
            lines.write(f"{json.dumps(row)}\n")


if __name__ == "__main__":
    main()
