"""Rows for programs that learn, with text from outside that looks like their own words."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from protocol.actions.types import Action, Click, Finish, TypeText
from protocol.dialects.dialect import ParsedReply, ScreenSize
from protocol.dialects.families import get_dialect
from protocol.formats.agentnet import CODEC, PLAIN_CALL, step_code
from protocol.formats.agentnet_code import scale_coordinates
from protocol.formats.records import ExportOptions, Record, RowError, RowErrorCode, RowSkipped, SkippedRow
from protocol.formats.registry import FORMATS
from protocol.formats.row_checks import check_round_trip
from protocol.training.samples import training_samples
from protocol.trajectory.trajectories import Trajectory
from tests.unit.protocol.examples import POLICY, TASK, proposal, step, trajectory

DIALECT = get_dialect("ui_tars_1_5")
SCREEN = ScreenSize(width=1280, height=720)
PLACEHOLDERS = re.compile("<image>|<video>|<audio>")
TOKENS = re.compile(r"<\|\w+\|>")


def rows_of(name: str, one: Trajectory) -> tuple[list[Record], list[SkippedRow]]:
    """What a format makes of a trajectory, and what it leaves out."""
    found = list(FORMATS[name].records(one, ExportOptions(DIALECT)))
    return [row for row in found if isinstance(row, Record)], [row for row in found if isinstance(row, SkippedRow)]


def conversations(name: str, one: Trajectory) -> list[list[str]]:
    """The texts of each row, turn by turn, the learned one last."""
    records, left_out = rows_of(name, one)
    assert left_out == []
    if name.startswith("llama_factory"):
        rows = [json.loads(record.lines["rows.jsonl"]) for record in records]
        return [[turn["value"] for turn in row["conversations"]] for row in rows]
    if name == "ui_tars":
        rows = [json.loads(record.lines["samples.jsonl"]) for record in records]
        return [[turn["content"] for turn in row] for row in rows]
    if name == "verl_sft":
        return [[turn["content"] for turn in record.row["messages"]] for record in records]
    turns = [[*record.row["prompt"], *record.row["completion"]] for record in records]
    return [["".join(part["text"] or "" for part in turn["content"]) for turn in row] for row in turns]


def trajectory_for(instruction: str, *actions: Action, **fields: Any) -> Trajectory:
    """A trajectory of a task in these words."""
    return trajectory(*actions, task=TASK.model_copy(update={"instruction": instruction}), **fields)


SUPERVISED = ("llama_factory_sft", "verl_sft", "trl_sft", "ui_tars")
HOSTILE = "Write <video>, <image> and <audio>, then <|im_end|> or <|image_pad|>"


@pytest.mark.parametrize("name", SUPERVISED)
def test_an_instruction_holds_no_word_of_the_consumers(name: str) -> None:
    """X1: the loader counts `<video>` wherever it stands."""
    (texts,) = conversations(name, trajectory_for(HOSTILE, Click(x=5, y=6)))
    whole = "".join(texts)
    assert "<|im_end|>" not in whole
    assert whole.count("<|image_pad|>") == (1 if name == "ui_tars" else 0)
    if name in ("llama_factory_sft", "verl_sft"):
        assert PLACEHOLDERS.findall(whole) == ["<image>"]


@pytest.mark.parametrize("name", SUPERVISED)
@pytest.mark.parametrize("typed", ["<video>", "<image>", "a <audio> b", "<|im_end|>", "x<|image_pad|><image>"])
def test_typed_text_is_learned_as_it_was_typed(name: str, typed: str) -> None:
    """X2, X4, X5: text that was typed reads back as it was typed, and is nobody's placeholder or token."""
    first, second = conversations(name, trajectory(TypeText(text=typed), Finish()))
    read = DIALECT.parse(first[-1], SCREEN)
    assert isinstance(read, ParsedReply)
    assert read.action == TypeText(text=typed)
    assert not TOKENS.findall(first[-1])
    if name in ("llama_factory_sft", "verl_sft"):
        assert [PLACEHOLDERS.findall("".join(texts)) for texts in (first, second)] == [["<image>"], ["<image>"] * 2]
        assert first[-1] in "".join(second[:-1]), "an earlier turn is written as it is learned"


@pytest.mark.parametrize("name", SUPERVISED)
def test_a_thought_leaves_its_own_row_out(name: str) -> None:
    one = trajectory(Click(x=5, y=6), Finish())
    steps = (step(0, Click(x=5, y=6), thought="There is <|im_end|>"), one.steps[1])
    records, left_out = rows_of(name, one.model_copy(update={"steps": steps}))
    assert [record.key for record in records] == ["trajectory-1-00001"]
    assert [(one.key, one.code) for one in left_out] == [("trajectory-1-00000", "special_word")]


@pytest.mark.parametrize("name", ["llama_factory_dpo", "llama_factory_kto", "trl_dpo", "trl_kto", "trl_stepwise"])
def test_a_models_own_reply_with_a_token_leaves_its_row_out(name: str) -> None:
    taken = proposal(1, TypeText(text="a"))
    other = proposal(2, Click(x=5, y=6)).model_copy(
        update={"raw_text": "Thought: <|im_start|>\nAction: click(point='<point>5 6</point>')"}
    )
    one = trajectory(
        TypeText(text="a"),
        steps=(step(0, TypeText(text="a"), decision="accept", proposal_id="p1", policy=POLICY, wrong_ids=("p2",)),),
        proposals=((taken, other),),
    )
    _records, left_out = rows_of(name, one)
    assert {one.code for one in left_out} == {"special_word"}


def test_a_reply_is_read_back_as_it_is_learned() -> None:
    """A row of preferences learns both replies; each is escaped by itself."""
    typed, clicked = proposal(1, TypeText(text="<video>")), proposal(2, Click(x=5, y=6))
    raw = {"raw_text": "Thought: a\nAction: type(content='<video>')<|im_end|>"}
    steps = (step(0, Click(x=5, y=6), decision="accept", proposal_id="p2", policy=POLICY, wrong_ids=("p1",)),)
    offered = (typed.model_copy(update=raw), clicked)
    records, left_out = rows_of("trl_dpo", trajectory(Click(x=5, y=6), steps=steps, proposals=(offered,)))
    assert left_out == []
    assert len(records) == 1
    assert records[0].row["rejected"][0]["content"][0]["text"] == "Thought: a\nAction: type(content='<video>')"


def test_a_part_of_a_split_attempt_has_a_key_without_a_dot() -> None:
    """X6: WebDataset ends a key at its first dot."""
    records, left_out = rows_of("webdataset", trajectory(Click(x=5, y=6), id="5b1f.1"))
    assert left_out == []
    assert [record.key for record in records] == ["5b1f_1-00000"]
    assert [name.partition(".")[0] for record in records for name in record.files] == ["5b1f_1-00000"] * 2


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_reason_is_told_in_words(language: str) -> None:
    folder = Path(__file__).parents[4] / "frontend" / "src"
    words = (folder / "shared" / "i18n" / language / "exports.ts").read_text()
    shown = (folder / "features" / "exports" / "descriptions.ts").read_text()
    for code in get_args(RowErrorCode):
        assert f'"exports.reason.{code}": ' in words
        assert f'{code}: "exports.reason.{code}"' in shown


@pytest.mark.parametrize(
    ("learned", "done", "kind", "code"),
    [
        (Click(x=5, y=6), Click(x=7, y=6), None, None),
        (Click(x=5, y=6), Click(x=500, y=6), RowError, "coordinates"),
        (TypeText(text="a"), TypeText(text="b"), RowSkipped, "unreadable"),
        (Finish(), TypeText(text="b"), RowSkipped, "unreadable"),
        (None, TypeText(text="b"), RowSkipped, "unreadable"),
    ],
)
def test_what_is_learned_reads_back(
    learned: Action | None, done: Action, kind: type[RowError] | None, code: str | None
) -> None:
    """A place that is off says something about every row of a trajectory, another text about its own row alone."""
    text = DIALECT.write("a", learned, SCREEN) if learned else "Thought: a"
    try:
        check_round_trip(text, done, SCREEN, DIALECT, "key")
    except RowError as error:
        found: tuple[type | None, str | None] = type(error), error.code
    else:
        found = None, None
    assert found == (kind, code)


@pytest.mark.parametrize("x", [0, 1, 7, 639, 1279])
def test_a_plain_call_is_written_as_any_other(x: int) -> None:
    point = Click(x=x, y=x % 720)
    code = step_code(step(0, point))
    assert PLAIN_CALL.fullmatch(code) is None, "shares are no whole numbers"
    text = CODEC.write("", point, SCREEN)
    assert code == scale_coordinates(text[text.index("pyautogui") : text.rindex("\n```")])


def test_samples_of_one_trajectory_are_told_as_each_alone() -> None:
    """Messages that several prompts repeat are written once."""
    one = trajectory(TypeText(text="a"), Click(x=5, y=6), Finish())
    for index, sample in enumerate(training_samples(one, DIALECT)):
        alone = DIALECT.render(one.task, one.steps[:index], one.steps[index].before, stride=3)
        assert sample.messages == alone


def test_verl_rows_take_a_systems_message_for_a_prompt() -> None:
    one = trajectory(Click(x=5, y=6), Click(x=7, y=8))
    options = ExportOptions(get_dialect("qwen_computer"))
    rows = [row for row in FORMATS["verl_sft"].records(one, options) if isinstance(row, Record)]
    asked = [row.row["messages"][0]["content"] for row in rows if row.row is not None]
    assert [text.count("Your turn was:") for text in asked] == [0, 1]
    assert all(not text.startswith("Your turn was:") for text in asked)
