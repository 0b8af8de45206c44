"""What is trained on can be read, and nothing in it steers a terminal."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.parts.model_servers.checkpoint import token_id
from protocol.dialects.families import get_dialect
from protocol.formats.records import ExportOptions
from protocol.formats.registry import FORMATS
from tests.trainer.examples import CLICK, TYPED, accepted, read, sample, write_attempt_folder
from tests.unit.protocol.examples import trajectory
from trainer.data.rendering import Renderer
from trainer.model.checkpoints import Checkpoint
from trainer.serve.prompt_encoder import PromptEncoder
from trainer.show import HUMAN, NOTHING, OWN, READ, format_sample, main

PAD = token_id("image_pad")


@pytest.fixture
def renderer(checkpoint: Checkpoint) -> Renderer:
    return Renderer(checkpoint, context=32_768)


def test_colours_say_who_said_what(renderer: Renderer) -> None:
    one = renderer.render_sample(sample(1, target="wait()"), read)
    text = format_sample(one, renderer, pad=PAD, colour=True)
    assert text.splitlines()[0].endswith("7 learned (weight 1), pictures: 1, worded by the person")
    assert f"{HUMAN}wait()<|im_end|>" in text
    assert f"{READ}<|im_start|>user\n" in text
    assert "[picture of 8 x 8 patches: 16 tokens]" in text
    assert f"{HUMAN}{NOTHING}wait()" in format_sample(
        renderer.render_sample(sample(1, target="wait()", weight=0), read), renderer, pad=PAD, colour=True
    )
    assert OWN in format_sample(replace(one, actor="policy"), renderer, pad=PAD, colour=True)


def test_without_colour_brackets_say_it(renderer: Renderer) -> None:
    text = format_sample(renderer.render_sample(sample(1, target="wait()"), read), renderer, pad=PAD, colour=False)
    assert "⟦wait()<|im_end|>⟧" in text
    assert "\x1b" not in text


def test_control_characters_are_escaped(renderer: Renderer) -> None:
    text = format_sample(
        renderer.render_sample(sample(1, target="\x1b[2J\x07é\n最"), read), renderer, pad=PAD, colour=False
    )
    assert "⟦\\x1b[2J\\x07é\n最<|im_end|>⟧" in text


def test_a_folder_is_shown_and_counted(
    tmp_path: Path, checkpoint: Checkpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_attempt_folder(tmp_path, trajectory(CLICK, TYPED, CLICK))
    assert main([str(path), str(checkpoint.path), "--most", "1", "--colour", "never"]) == 0
    printed = capsys.readouterr().out
    assert "trajectory-1 step 0:" in printed
    assert "trajectory-1 step 1:" not in printed
    assert printed.splitlines()[-1].startswith("3 samples, ")
    assert printed.splitlines()[-1].endswith("left out: none")


def test_lengths_have_the_keys_of_an_exports_rows(
    tmp_path: Path, checkpoint: Checkpoint, renderer: Renderer, capsys: pytest.CaptureFixture[str]
) -> None:
    one = trajectory(CLICK, TYPED)
    path, lengths = write_attempt_folder(tmp_path, one), tmp_path / "lengths.jsonl"
    assert main([str(path), str(checkpoint.path), "--most", "0", "--lengths", str(lengths)]) == 0
    found = [json.loads(line) for line in lengths.read_text().splitlines()]
    rows = FORMATS["trl_sft"].records(one, ExportOptions(get_dialect("ui_tars_1_5")))
    assert [row["key"] for row in found] == [row.key for row in rows]
    assert [row["pictures"] for row in found] == [1, 2]
    tokens, learned = (sum(row[name] for row in found) for name in ("tokens", "learned"))
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"2 samples, {tokens} tokens, {learned} learned;")
    assert main([str(path), str(checkpoint.path), "--lengths", str(tmp_path / "no" / "file")]) == 1


def test_what_is_too_long_or_foreign_is_counted(
    tmp_path: Path, checkpoint: Checkpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    reader = PromptEncoder(checkpoint, max_images=5, context=32_768)
    path = write_attempt_folder(tmp_path, accepted(reader, prompt_token_ids=(1, 2, 3)))
    assert main([str(path), str(checkpoint.path), "--context", "100"]) == 0
    counted = capsys.readouterr().out.splitlines()[-1]
    assert counted.startswith("0 samples")
    assert "'sample_foreign': 1" in counted
    assert "'sample_too_long': 1" in counted


def test_what_cannot_be_used_is_said(
    checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "nothing"), str(checkpoint.path)]) == 1
    assert "folder_unknown" in capsys.readouterr().err
