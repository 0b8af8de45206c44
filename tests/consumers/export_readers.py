"""`python export_readers.py`: read exports as their consumers do.

Each line of the input is a JSON list of a format and a folder. Each is answered with one line, a JSON object: what was
found, or the `error`, whose traceback is on stderr. A process forked for it reads the export: libraries are imported
once.

Imports nothing of the platform: the environment has only the consumers.
"""

import ast
import importlib
import json
import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path()
READ_SECONDS = 300
LIBRARIES = {
    "llama_factory": ("llamafactory.data.converter", "llamafactory.data.parser", "llamafactory.hparams"),
    "trl": ("datasets", "trl.data_utils"),
    "verl": ("datasets",),
    "huggingface": ("datasets",),
}
"""What takes long to import, by the start of the formats' names."""
Found = dict[str, Any]


def lines(name: str) -> list[Any]:
    """The rows of a file of JSON Lines."""
    return [json.loads(line) for line in (FOLDER / name).read_text().splitlines()]


def pictures(paths: list[str]) -> None:
    """Every one of these opens as a picture."""
    from PIL import Image

    for path in paths:
        with Image.open(FOLDER / path) as image:
            image.load()


def table() -> Any:
    """The parquet files, as `datasets` loads them."""
    from datasets import load_dataset

    return load_dataset("parquet", data_files=str(FOLDER / "data" / "train-*.parquet"), split="train")


def atif() -> Found:
    from harbor.utils.trajectory_validator import TrajectoryValidator

    rows = lines("atif.jsonl")
    for row in rows:
        path = FOLDER / "trajectory.json"
        path.write_text(json.dumps(row))
        validator = TrajectoryValidator()
        assert validator.validate(path, validate_images=True), validator.get_errors()
        path.unlink()
        broken = {**row, "steps": [{**row["steps"][0], "surprise": 1}]}
        assert not TrajectoryValidator().validate(broken), "the validator must be able to refuse"
    return {"records": len(rows)}


def agentnet() -> Found:
    """OpenCUA publishes no loader: its documented lines, and code that parses with every point on the screen."""
    rows = lines("agentnet.jsonl")
    for row in rows:
        assert {"task_id", "instruction", "task_completed", "traj"} <= row.keys()
        for place, one in enumerate(row["traj"]):
            assert one["index"] == place
            assert {"code", "thought", "last_step_correct", "last_step_redundant"} <= one["value"].keys()
            for call in [node for node in ast.walk(ast.parse(one["value"]["code"])) if isinstance(node, ast.Call)]:
                for word in call.keywords:
                    if word.arg in ("x", "y"):
                        assert isinstance(word.value, ast.Constant)
                        assert 0 <= float(str(word.value.value)) <= 1
        pictures([one["image"] for one in row["traj"]])
        codes = [one["value"]["code"] for one in row["traj"]]
        assert "pyautogui.write(message='x=5 <image> y=7')" in codes, "text is no coordinate"
        assert "pyautogui.click(x=0.9375, y=0.8889)" in codes
    return {"records": len(rows)}


def ui_tars() -> Found:
    """UI-TARS publishes an example and no loader: turns, one learned, a placeholder for each picture, five at most."""
    rows, images = lines("samples.jsonl"), lines("images.jsonl")
    for row, shown in zip(rows, images, strict=True):
        assert all(turn.keys() == {"role", "content", "loss_mask"} for turn in row)
        assert [turn["loss_mask"] for turn in row] == [0] * (len(row) - 1) + [1]
        assert row[-1]["role"] == "assistant"
        count = sum(turn["content"].count("<|vision_start|><|image_pad|><|vision_end|>") for turn in row)
        assert 1 <= count == len(shown) <= 5
        pictures(shown)
    return {"records": len(rows)}


def llama_factory(kind: str) -> Found:
    from datasets import load_dataset
    from llamafactory.data.converter import align_dataset
    from llamafactory.data.parser import get_dataset_list
    from llamafactory.hparams import DataArguments

    arguments = DataArguments(dataset="pilothouse_train", dataset_dir=str(FOLDER), media_dir=str(FOLDER))
    (told,) = get_dataset_list(["pilothouse_train"], str(FOLDER))
    raw = load_dataset("json", data_files=str(FOLDER / told.dataset_name), split="train")

    class Training:
        local_process_index = 0
        should_log = False

    rows = list(align_dataset(raw, told, arguments, Training()))
    for row in rows:
        assert row["_prompt"], "a row it leaves out has no prompt"
        assert len(row["_prompt"]) % 2 == 1
        assert row["_response"]
        if kind == "sft":
            assert len(row["_response"]) == 1
        if kind in ("dpo", "kto"):
            assert len(row["_response"]) == 2
        places = sum(turn["content"].count("<image>") for turn in row["_prompt"])
        assert places == len(row["_images"])
        pictures([str(Path(path).relative_to(FOLDER)) for path in row["_images"]])
    return {"records": len(rows)}


def trl(kind: str) -> Found:
    from trl.data_utils import is_conversational, prepare_multimodal_messages

    rows = table()
    for row in rows:
        if kind == "stepwise":
            assert isinstance(row["prompt"], str)
            assert len(row["completions"]) == len(row["labels"]) > 0
            continue
        assert is_conversational(row)
        prepared = prepare_multimodal_messages(row["prompt"], images=row["images"])
        shown = [part for message in prepared for part in message["content"] if part["type"] == "image"]
        assert shown
        assert all(part["image"].size == (160, 90) for part in shown)
        wanted = {"sft": ["completion"], "dpo": ["chosen", "rejected"], "kto": ["completion", "label"]}[kind]
        assert all(row[column] is not None for column in wanted)
        if kind == "dpo":
            assert row["chosen"] != row["rejected"]
    return {"records": len(rows)}


def verl(kind: str) -> Found:
    """verl's own splitting of placeholders where it can be imported; its columns and counts in any case."""
    rows = table()
    for row in rows:
        turns = row["messages"] if kind == "sft" else row["prompt"]
        assert sum(turn["content"].count("<image>") for turn in turns) == len(row["images"]) > 0
        assert all(image.size == (160, 90) for image in row["images"])
        if kind == "sft":
            assert [turn["role"] for turn in turns] == ["user", "assistant"]
        else:
            assert {"data_source", "ability", "reward_model", "extra_info"} <= row.keys()
            assert row["reward_model"]["style"] == "rule"
            assert "kind" in json.loads(row["reward_model"]["ground_truth"])
    return {"records": len(rows)}


def huggingface() -> Found:
    rows = table()
    assert rows.features["image"].__class__.__name__ == "Image"
    for row in rows:
        assert row["image"].size == (row["width"], row["height"])
    return {"records": len(rows)}


def web_dataset() -> Found:
    import webdataset

    shards = sorted(str(path) for path in FOLDER.glob("train-*.tar"))
    rows = list(webdataset.WebDataset(shards, shardshuffle=False).decode("pil"))
    for row in rows:
        assert row["jpg"].size == (row["json"]["width"], row["json"]["height"])
        assert row["__key__"] == f"{row['json']['trajectory_id']}-{row['json']['step']:05d}"
    return {"records": len(rows)}


def osworld() -> Found:
    """OSWorld's results are read by scripts of its own: a folder with traj.jsonl, result.txt and pictures."""
    found = sorted((FOLDER / "train").iterdir())
    for one in found:
        float((one / "result.txt").read_text())
        task = json.loads((one / "task.json").read_text())
        assert {"id", "instruction", "snapshot", "source", "config", "related_apps"} <= task.keys()
        rows = [json.loads(line) for line in (one / "traj.jsonl").read_text().splitlines()]
        assert [row["step_num"] for row in rows] == list(range(1, len(rows) + 1))
        assert [row["done"] for row in rows] == [False] * (len(rows) - 1) + [True]
        pictures([str((one / row["screenshot_file"]).relative_to(FOLDER)) for row in rows])
    return {"records": len(found)}


def ct_documents() -> Found:
    """The trainer reads Markdown with pictures beside it: a folder with a document, each picture once."""
    found = sorted((FOLDER / "train").iterdir())
    for one in found:
        text = (one / "document.md").read_text()
        assert text.startswith("# ")
        named = re.findall(r"^!\[\]\((.+)\)$", text, re.MULTILINE)
        assert {"document.md", "document.json", *named} == {path.name for path in one.iterdir()}
        pictures([str((one / name).relative_to(FOLDER)) for name in named])
    return {"records": len(found)}


READ: dict[str, Callable[[], Found]] = {
    "atif": atif,
    "agentnet": agentnet,
    "ui_tars": ui_tars,
    **{f"llama_factory_{kind}": lambda kind=kind: llama_factory(kind) for kind in ("sft", "dpo", "kto")},  # type: ignore[misc]
    **{f"trl_{kind}": lambda kind=kind: trl(kind) for kind in ("sft", "dpo", "kto", "stepwise")},  # type: ignore[misc]
    **{f"verl_{kind}": lambda kind=kind: verl(kind) for kind in ("sft", "rl")},  # type: ignore[misc]
    "huggingface": huggingface,
    "webdataset": web_dataset,
    "osworld": osworld,
    "ct_documents": ct_documents,
}


def respond(name: str, folder: str) -> None:
    """Read one export in a process of its own and print what was found."""
    for start, modules in LIBRARIES.items():
        if name.startswith(start):
            for module in modules:
                importlib.import_module(module)
    if child := os.fork():
        _, status = os.waitpid(child, 0)
        if status:
            print(json.dumps({"error": f"the reader ended with status {status}"}), flush=True)
        return
    global FOLDER
    FOLDER = Path(folder)
    signal.alarm(READ_SECONDS)
    print(json.dumps(READ[name]()), flush=True)
    os._exit(0)


if __name__ == "__main__":
    for line in sys.stdin:
        respond(*json.loads(line))
