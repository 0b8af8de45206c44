"""Dataset cards name every column of the rows beside them, whatever is in the first rows."""

import json
from typing import Any

import pytest

from protocol.actions.types import Click, Finish
from protocol.dialects.families import get_dialect
from protocol.formats.dataset_card import CARD
from protocol.formats.records import ExportOptions, Record
from protocol.formats.registry import FORMATS
from tests.unit.protocol.examples import proposal, trajectory

OPTIONS = ExportOptions(get_dialect("ui_tars_1_5"))
CARDS = ("canonical", "atif", "agentnet", "llama_factory_sft", "llama_factory_dpo", "llama_factory_kto", "webdataset")


def card(name: str, files: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    """The header of a format's card, which is JSON."""
    text = FORMATS[name].sidecar_files(files)[CARD].decode()
    _, header, rest = text.split("---\n")
    assert rest == ""
    found: dict[str, Any] = json.loads(header)
    return found


@pytest.mark.parametrize("name", CARDS)
def test_a_card_names_every_column(name: str) -> None:
    one = trajectory(Click(x=5, y=6), Finish(), proposals=((proposal(1, Click(x=400, y=300)),), ()))
    record = next(record for record in FORMATS[name].records(one, OPTIONS) if isinstance(record, Record))
    text: Any = next(iter(record.lines.values()), None) or record.files[f"{record.key}.json"]
    row = json.loads(text)
    header = card(name, {"train": ("rows.jsonl",)})
    features = {feature["name"]: feature for feature in header["dataset_info"]["features"]}
    if name == "webdataset":
        assert features.keys() == {"json", "jpg", "png", "__key__", "__url__"}
        features = {feature["name"]: feature for feature in features["json"]["struct"]}
    assert features.keys() == row.keys()
    kinds: dict[str, Any] = {
        "string": (str, type(None)),
        "bool": bool,
        "int64": int,
        "float64": (float, type(None)),
        "json": object,
    }
    assert all(isinstance(row[key], kinds[feature.get("dtype", "json")]) for key, feature in features.items())


def test_a_card_names_the_files_of_each_split() -> None:
    def paths(name: str, files: Any) -> dict[str, str]:
        return {one["split"]: one["path"] for one in card(name, files)["configs"][0]["data_files"]}

    lines = {"train": ("trajectories.jsonl",), "test": ("test.trajectories.jsonl",)}
    assert paths("canonical", lines) == {"train": "trajectories.jsonl", "test": "test.trajectories.jsonl"}
    assert paths("webdataset", {"train": (), "test": ()}) == {"train": "train-*.tar", "test": "test-*.tar"}
    assert FORMATS["canonical"].sidecar_files({}) == {}, "nothing to describe"
