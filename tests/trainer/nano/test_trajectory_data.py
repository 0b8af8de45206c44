"""Attempts become decisions as a server would have asked for them: the same tokens, the same pixels."""

import io
import json
from pathlib import Path
from random import Random

import pytest
import torch
from PIL import Image

from protocol.actions.types import Action, Click, DoubleClick, Drag, Point, PressKeys, RightClick, TypeText
from protocol.training.samples import training_samples
from protocol.trajectory.observations import PageLayout, TextElement
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.steps import Step
from protocol.trajectory.trajectories import Trajectory
from tests.trainer.examples import DIALECT, TYPED, as_served, read, write_attempt_folder
from tests.unit.protocol.examples import step, trajectory
from trainer.data.corrections import Weighting
from trainer.data.trajectories import TrajectoryFolder, open_folder
from trainer.model.checkpoints import Checkpoint
from trainer.nano import clicking
from trainer.nano.batches import TELLING, Decision, DecisionTokenizer, build_batch
from trainer.nano.forward import extract_patches
from trainer.nano.synthetic.labels import real_words
from trainer.nano.synthetic.targets import CELL, letter_pairs
from trainer.nano.trajectory_data import (
    SERVED,
    StoredDecision,
    TrajectoryDecisions,
    read_decisions,
    with_policy_thoughts,
)
from trainer.serve.prompt_encoder import PromptEncoder

CLICK = Click(x=30, y=40)
ACTS: tuple[Action, ...] = (CLICK, TYPED, CLICK)


def _part(text: str, left: float, top: float, right: float, bottom: float) -> TextElement:
    step = (right - left) / len(text)
    bounds = tuple(left + step * number for number in range(len(text) + 1))
    return TextElement(
        kind="button", text=text, bounds=bounds, line=(top + 2, bottom - 2), box=(left, top, right, bottom)
    )


PARTS = PageLayout(
    parts=(
        _part("Twice", 0, 0, 18, 12),
        _part("Save", 20, 30, 40, 46),
        _part("Later", 44, 30, 60, 46),
        _part("Twice", 2, 2, 30, 12),
    )
).model_dump_json()


def attempt() -> Trajectory:
    """An attempt of three steps, whose pictures have the sizes that are said of them."""
    return trajectory(steps=tuple(_resize_step(step(index, act)) for index, act in enumerate(ACTS)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> TrajectoryFolder:
    """It, as an export."""
    return open_folder(write_attempt_folder(tmp_path_factory.mktemp("attempts"), attempt()))


def test_every_step_is_asked_for_as_a_server_reads_it(nano: Checkpoint, folder: TrajectoryFolder) -> None:
    decision_tokenizer, reader = DecisionTokenizer(nano.tokenizer), PromptEncoder(nano, max_images=1, context=4096)
    decisions = [one.whole() for one in read_decisions(folder, decision_tokenizer)]
    samples = list(training_samples(with_policy_thoughts(attempt()), DIALECT, budget=SERVED))
    assert len(decisions) == len(samples) == 3
    for one, sample in zip(decisions, samples, strict=True):
        prompt = as_served(reader, sample)
        assert (*one.before, *(decision_tokenizer.picture,) * _cells(one), *one.after) == prompt.ids
        own = extract_patches(torch.from_numpy(one.pixels.copy())[None])[0]
        assert torch.allclose(own, prompt.pictures[0].pixels, atol=1e-6)
        assert nano.tokenizer.decode(one.reply, skip_special_tokens=True) == sample.target
    assert [one.point is None for one in decisions] == [False, True, False]
    assert [sample.target.split("\n")[0] for sample in samples][1] == "Thought: I type."
    assert all(len(one.reply) < 12 for one in decisions if one.point is not None)


def test_heads_are_told_of_the_cell_that_is_clicked_and_of_none_where_nothing_is(
    nano: Checkpoint, folder: TrajectoryFolder
) -> None:
    decision_tokenizer = DecisionTokenizer(nano.tokenizer)
    clicked, typed, _ = (one.whole() for one in read_decisions(folder, decision_tokenizer))
    meant, none = (build_batch([one], decision_tokenizer).targets for one in (clicked, typed))
    assert meant.sum() == 1
    assert none.sum() == 0
    columns = clicked.pixels.shape[1] // CELL
    assert clicked.point is not None
    at = int(meant.argmax())
    assert (at % columns, at // columns) == tuple(
        min(pixel // CELL, side // CELL - 1)
        for pixel, side in zip(clicked.point, clicked.pixels.shape[1::-1], strict=True)
    )


def test_a_drag_is_learned_where_it_begins_and_ends_and_a_key_as_itself(nano: Checkpoint, tmp_path: Path) -> None:
    acts: tuple[Action, ...] = (Drag(start=Point(x=30, y=40), end=Point(x=50, y=45)), PressKeys(keys=("left",)))
    made = trajectory(steps=tuple(_resize_step(step(index, act)) for index, act in enumerate(acts)))
    decision_tokenizer = DecisionTokenizer(nano.tokenizer)
    opened = open_folder(write_attempt_folder(tmp_path, made))
    dragged, pressed = (one.whole() for one in read_decisions(opened, decision_tokenizer))
    batch = build_batch([dragged], decision_tokenizer)
    assert dragged.point is not None
    assert pressed.point is None
    across, down = ([pixel for pixel in each.tolist() if pixel >= 0] for each in (batch.across, batch.down))
    assert (across[0], down[0]) == dragged.point
    assert across[1] > across[0]
    assert down[1] > down[0]
    assert batch.targets.sum() == batch.ends.sum() == 1
    said = [nano.tokenizer.decode([token]) for token in pressed.reply if decision_tokenizer.weight(token) == TELLING]
    assert said == ["I press keys.", "hotkey(key='left')", "<|im_end|>"]


def test_a_stage_learns_from_attempts(nano: Checkpoint, folder: TrajectoryFolder, start: Path, tmp_path: Path) -> None:
    shown = TrajectoryDecisions([folder], DecisionTokenizer(nano.tokenizer))
    assert len(shown) == 3
    assert len({one.pixels.shape for one in shown.draw(Random(0), 8)}) == 1
    made = clicking.run(
        clicking.Config(
            checkpoint=start, out=tmp_path / "run", updates=2, batch=2, folders=(folder.path,), shown=1.0, warmup=1
        )
    )
    (first, *_) = (json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines())
    assert first["loss"] > first["said"], "the whole loss, of which replies are a part"
    assert "letters" in first  # half of an update is drawn, so that reading is never left out
    assert (made / "model.safetensors").read_bytes() != (start / "model.safetensors").read_bytes()


def test_what_stands_where_is_told_to_heads_and_not_to_the_policy(nano: Checkpoint, tmp_path: Path) -> None:
    plain = _resize_step(step(0, CLICK))
    told = plain.model_copy(update={"before": plain.before.model_copy(update={"accessibility": PARTS})})
    decision_tokenizer = DecisionTokenizer(nano.tokenizer)
    without, within = (
        next(
            read_decisions(
                open_folder(write_attempt_folder(tmp_path / name, trajectory(steps=(one,)))), decision_tokenizer
            )
        ).whole()
        for name, one in (("plain", plain), ("told", told))
    )
    assert (within.before, within.after, within.reply) == (without.before, without.after, without.reply)
    assert without.seen is None
    assert within.seen is not None
    assert within.chosen == 1
    assert within.seen.letters.any()
    batch = build_batch([within], decision_tokenizer)
    cells = batch.targets[0].nonzero()[:, 0]
    assert len(cells) > 0
    assert (within.seen.widgets[cells.numpy()] == 1).all()
    assert batch.read is not None


def test_another_part_of_a_page_is_asked_for_by_its_name(nano: Checkpoint, tmp_path: Path) -> None:
    plain = _resize_step(step(0, CLICK))
    told = plain.model_copy(update={"before": plain.before.model_copy(update={"accessibility": PARTS})})
    decision_tokenizer = DecisionTokenizer(nano.tokenizer)
    opened = open_folder(write_attempt_folder(tmp_path, trajectory(steps=(told,))))
    said = set[str]()
    for one in TrajectoryDecisions([opened], decision_tokenizer, others=1.0).draw(Random(3), 40):
        assert one.point is not None
        assert one.seen is not None
        asked = nano.tokenizer.decode(list(one.before[one.sentence.start : one.sentence.stop]))
        (name,) = (name for name in ("Save", "Later") if name in asked)
        said.add(name)
        left, right = {"Save": (20, 40), "Later": (44, 60)}[name]
        width = one.pixels.shape[1] / plain.before.width
        assert left * width <= one.point[0] <= right * width
    assert said == {"Save", "Later"}, "twice there is no name to ask by"
    assert all(one.chosen == 1 for one in TrajectoryDecisions([opened], decision_tokenizer).draw(Random(3), 4)), (
        "unless it is wished for"
    )


def test_several_parts_of_a_page_are_asked_for_in_an_order(nano: Checkpoint, tmp_path: Path) -> None:
    plain = _resize_step(step(0, CLICK))
    told = plain.model_copy(update={"before": plain.before.model_copy(update={"accessibility": PARTS})})
    opened = open_folder(write_attempt_folder(tmp_path, trajectory(steps=(told,))))
    done = set()
    for one in TrajectoryDecisions([opened], DecisionTokenizer(nano.tokenizer), others=1.0, ordered=1.0).draw(
        Random(3), 40
    ):
        asked = nano.tokenizer.decode(list(one.before[one.sentence.start : one.sentence.stop]))
        assert "Save" in asked
        assert "Later" in asked
        done.add((one.done, one.chosen))
        due = nano.tokenizer.decode(list(one.before[one.due.start : one.due.stop]))
        assert due == {1: "Save", 2: "Later"}[one.chosen], "and which letters are of the name that is due is known"
    assert done == {(0, 1), (0, 2), (1, 1), (1, 2)}


def test_which_part_has_a_name_in_quotes_is_known_and_what_was_done(nano: Checkpoint, tmp_path: Path) -> None:
    told = [
        one.model_copy(update={"before": one.before.model_copy(update={"accessibility": PARTS})})
        for one in (_resize_step(step(0, CLICK)), _resize_step(step(1, CLICK)))
    ]
    made = trajectory(steps=tuple(told))
    task = made.task.model_copy(update={"instruction": "Press “later” or “save”."})
    opened = open_folder(write_attempt_folder(tmp_path, made.model_copy(update={"task": task})))
    first, then = (one.whole() for one in read_decisions(opened, DecisionTokenizer(nano.tokenizer)))
    assert [words for _, words in first.names] == ["later", "save"]
    assert (first.done, then.done) == (0, 1)
    (_, (begin, words)) = first.names
    assert first.due == range(begin, begin + len(words)), "as it stands in the instruction"


def test_a_name_without_quotes_is_due_where_it_is_said_once(nano: Checkpoint, tmp_path: Path) -> None:
    for number, (instruction, said) in enumerate((("Find “é”, then save it.", "save"), ("“é”: save, save.", ""))):
        plain = _resize_step(step(0, CLICK))
        told = plain.model_copy(update={"before": plain.before.model_copy(update={"accessibility": PARTS})})
        made = trajectory(steps=(told,))
        task = made.task.model_copy(update={"instruction": instruction})
        opened = open_folder(write_attempt_folder(tmp_path / str(number), made.model_copy(update={"task": task})))
        (one,) = (stored.whole() for stored in read_decisions(opened, DecisionTokenizer(nano.tokenizer)))
        assert nano.tokenizer.decode(list(one.before[one.due.start : one.due.stop])) == said


def test_a_part_whose_name_is_kept_for_measuring_is_not_asked_for(nano: Checkpoint, tmp_path: Path) -> None:
    word = next(word for word in real_words(held_out=True) if len(word) == 5)
    parts = PageLayout(parts=(_part(word.capitalize(), 0, 0, 18, 12), _part("Save", 20, 30, 40, 46))).model_dump_json()
    plain = _resize_step(step(0, CLICK))
    told = plain.model_copy(update={"before": plain.before.model_copy(update={"accessibility": parts})})
    decision_tokenizer = DecisionTokenizer(nano.tokenizer)
    opened = open_folder(write_attempt_folder(tmp_path, trajectory(steps=(told,))))
    for one in TrajectoryDecisions([opened], decision_tokenizer, others=1.0).draw(Random(3), 20):
        assert "Save" in nano.tokenizer.decode(list(one.before[one.sentence.start : one.sentence.stop]))


def test_what_stands_in_quotes_of_any_kind_is_told_and_copied(nano: Checkpoint, tmp_path: Path) -> None:
    made = trajectory(steps=(_resize_step(step(0, TypeText(text="Rye bread"))),))
    task = made.task.model_copy(update={"instruction": "Search for “Rye bread”, please."})
    decision_tokenizer = DecisionTokenizer(nano.tokenizer)
    opened = open_folder(write_attempt_folder(tmp_path, made.model_copy(update={"task": task})))
    (one,) = read_decisions(opened, decision_tokenizer)
    spelled = [nano.tokenizer.decode([token]) for token in one.decision.before]
    begin = one.decision.copied.start
    assert "".join(spelled[begin : begin + 9]) == "Rye bread"
    assert len(one.decision.copied) == 10
    assert one.decision.pairs == tuple((begin + place, pair) for place, pair in letter_pairs("Rye bread"))


def test_a_folder_named_twice_is_drawn_from_twice_as_often(
    nano: Checkpoint, folder: TrajectoryFolder, tmp_path: Path
) -> None:
    task = attempt().task.model_copy(update={"instruction": "Another one."})
    other = open_folder(write_attempt_folder(tmp_path, attempt().model_copy(update={"task": task})))
    decision_tokenizer = DecisionTokenizer(nano.tokenizer)
    others = {one.decision.before for one in read_decisions(other, decision_tokenizer)}
    drawn = TrajectoryDecisions([folder, other, other, other], decision_tokenizer).draw(Random(0), 400)
    assert sum(one.before in others for one in drawn) / 400 == pytest.approx(3 / 4, abs=0.08)


def test_a_page_that_was_won_often_teaches_no_more_than_one_that_was_won_once(nano: Checkpoint, tmp_path: Path) -> None:
    once = attempt().model_copy(update={"id": "once"})
    once = once.model_copy(update={"task": once.task.model_copy(update={"id": "hard", "instruction": "Another one."})})
    often = [attempt().model_copy(update={"id": f"often-{number}"}) for number in range(3)]
    decision_tokenizer, opened = (
        DecisionTokenizer(nano.tokenizer),
        open_folder(write_attempt_folder(tmp_path, once, *often)),
    )
    hard = {one.decision.before for one in read_decisions(opened, decision_tokenizer) if one.page == "hard"}
    drawn = TrajectoryDecisions([opened], decision_tokenizer).draw(Random(0), 400)
    assert sum(one.before in hard for one in drawn) / 400 == pytest.approx(1 / 2, abs=0.08)


def _corrected(thought: str, index: int = 0) -> Step:
    """A click by which a person overrode the policy, thinking so."""
    policy = PolicyRef(name="nano", revision="1", dialect="ui_tars_1_5")
    told = {"actor": "human", "decision": "override", "thought": thought, "policy": policy}
    return _resize_step(step(index, CLICK)).model_copy(update=told)


def test_a_persons_thought_that_names_what_was_clicked_asks_for_the_same_click(
    nano: Checkpoint, tmp_path: Path
) -> None:
    decision_tokenizer = DecisionTokenizer(nano.tokenizer)

    def read_one(thought: str, *, layout: bool = True, actor: str = "human", action: Action = CLICK) -> StoredDecision:
        one = _corrected(thought).model_copy(update={"actor": actor, "action": action})
        if layout:
            one = one.model_copy(update={"before": one.before.model_copy(update={"accessibility": PARTS})})
        made = trajectory(steps=(one,))
        task = made.task.model_copy(update={"instruction": 'Press "Later", then "Save".'})
        out = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        return next(read_decisions(open_folder(write_attempt_folder(out, made.model_copy(update={"task": task}))),
                                   decision_tokenizer))  # fmt: skip

    def words(decision: Decision, span: range) -> str:
        return str(nano.tokenizer.decode(list(decision.before[span.start : span.stop])))

    named = read_one("Save is what is left.")
    assert words(named.whole(), named.whole().due) == "Save"
    asked = named.by_thought(decision_tokenizer)
    assert asked is not None
    assert "Save is what is left." in words(asked, asked.sentence)
    assert (asked.point, asked.reply, asked.done) == (named.decision.point, named.decision.reply, 0)
    assert asked.pixels.shape == named.whole().pixels.shape
    seen = read_one("unsaved, now save it").by_thought(decision_tokenizer)
    assert seen is not None
    assert (seen.chosen, words(seen, seen.due)) == (1, "save")
    for silent in ("", "Later is selected.", "That one.", "Save " * 40):
        one = read_one(silent)
        assert one.by_thought(decision_tokenizer) is None, silent
        assert words(one.whole(), one.whole().due) == "Save", "what was clicked, whatever was thought"
    for unsure in (read_one("Later is selected.", layout=False), read_one("Save", layout=False)):
        assert len(unsure.whole().due) == 0, "a thought may be about an outcome"
        assert unsure.by_thought(decision_tokenizer) is None
    for act in (DoubleClick(x=30, y=40), RightClick(x=30, y=40)):
        assert read_one("Save", action=act).by_thought(decision_tokenizer) is None
    assert read_one("Save", actor="policy").thought == "", "what the policy thought is its own"


def test_corrections_are_drawn_as_often_as_all_that_was_accepted(nano: Checkpoint, tmp_path: Path) -> None:
    corrected = trajectory(steps=(_corrected("Save"),)).model_copy(update={"id": "corrected"})
    accepted = [
        trajectory(steps=(_resize_step(step(0, CLICK, actor="policy", decision="auto")),)).model_copy(
            update={"id": f"accepted-{number}"}
        )
        for number in range(9)
    ]
    texts = ("Another one.", "Press it.")
    attempts = [
        one.model_copy(update={"task": one.task.model_copy(update={"id": one.id, "instruction": text})})
        for one, text in ((corrected, texts[0]), *((one, texts[1]) for one in accepted))
    ]
    decision_tokenizer = DecisionTokenizer(nano.tokenizer)
    opened = open_folder(write_attempt_folder(tmp_path, *attempts))
    known = {one.decision.before for one in read_decisions(opened, decision_tokenizer) if one.attempt == "corrected"}

    def share(weighting: Weighting) -> float:
        drawn = TrajectoryDecisions([opened], decision_tokenizer, weighting=weighting).draw(Random(0), 400)
        return sum(one.before in known for one in drawn) / 400

    assert share("none") == pytest.approx(0.1, abs=0.05)
    assert share("interventions") == pytest.approx(0.5, abs=0.08)


def _resize_step(one: Step) -> Step:
    assert one.before.screenshot is not None
    width, height = Image.open(io.BytesIO(read(one.before.screenshot))).size
    return one.model_copy(update={"before": one.before.model_copy(update={"width": width, "height": height})})


def _cells(one: Decision) -> int:
    return int(one.pixels.shape[0] * one.pixels.shape[1] // CELL**2)
