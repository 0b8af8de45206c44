"""Variants of thoughts are copies of a session with a label; only the steps that they change are learned from."""

import json
from typing import Any

import pytest

from protocol.actions.types import Finish, Wait
from protocol.dialects.families import get_dialect
from protocol.formats.records import ExportOptions, Record, RowError
from protocol.formats.registry import FORMATS, READERS
from protocol.formats.row_readers import SourceRow
from protocol.training.samples import training_samples
from protocol.trajectory.speech import RefinedText, SpeechRecord, SpokenThought, with_speech
from protocol.trajectory.trajectories import Trajectory
from protocol.trajectory.variants import ThoughtVariant, redact_variants, split_label, variant_trajectories
from tests.unit.protocol.examples import trajectory

SAID = ("I", "open", "it.", "Then", "I", "close", "this.")
WORDS = tuple((float(place), place + 0.5, text) for place, text in enumerate(SAID))
OPEN = SpokenThought(begin=0, end=2.5, words=(0, 2), role="plan", relation="before", steps=(0,))
CLOSE = SpokenThought(begin=3, end=6.5, words=(3, 6), role="plan", relation="before", steps=(1,))
SPEECH = SpeechRecord(words=WORDS, thoughts=(OPEN, CLOSE))


def variant(
    thought: SpokenThought, original: str, text: str, *, kind: str = "diversified", index: int = 1
) -> ThoughtVariant:
    return ThoughtVariant.model_validate(
        {
            "kind": kind,
            "index": index,
            "words": thought.words,
            "step": thought.steps[0],
            "original": original,
            "sentences": [RefinedText(text=text, support="paraphrased")],
            "model": "writer 1",
            "prompt_sha256": "0" * 64,
        }
    )


@pytest.fixture
def session() -> Trajectory:
    made = trajectory(Wait(seconds=1), Finish(answer=""))
    steps = tuple(
        step.model_copy(update={"thought": text, "review": None})
        for step, text in zip(made.steps, ("I open it.", "Then I close this."), strict=True)
    )
    task = made.task.model_copy(update={"parameters": {"recording": {}}})
    return with_speech(made.model_copy(update={"task": task, "steps": steps, "origin": "recording"}), SPEECH)


def test_each_label_is_a_copy_that_names_the_steps_it_changes(session: Trajectory) -> None:
    variants = [
        variant(CLOSE, "Then I close this.", "This is closed next.", index=2),
        variant(OPEN, "I open it.", "It gets opened."),
        variant(CLOSE, "Then I close this.", "The mail is open. Then I close this.", kind="enriched"),
        variant(OPEN, "I opened it.", "A thought that was changed since has it no more."),
    ]
    assert variant_trajectories(session, variants, ()) == ()
    found = variant_trajectories(session, variants, ("diversified", "enriched"))
    assert [(one.id, one.variant, one.variant_steps) for one in found] == [
        (f"{session.id}.enriched-1", "enriched-1", (1,)),
        (f"{session.id}.diversified-1", "diversified-1", (0,)),
        (f"{session.id}.diversified-2", "diversified-2", (1,)),
    ]
    assert [step.thought for step in found[1].steps] == ["It gets opened.", "Then I close this."]
    recorded: Any = found[1].task.parameters["recording"]
    (made,) = recorded["variant"]["thoughts"]
    assert (made["said"], made["model"]) == ("I open it.", "writer 1")
    assert session.variant == "none"


def test_a_step_that_a_reviewer_corrected_has_no_variant(session: Trajectory) -> None:
    first = session.steps[0].model_copy(update={"thought": "I open the first one."})
    corrected = session.model_copy(update={"steps": (first, *session.steps[1:])})
    assert variant_trajectories(corrected, [variant(OPEN, "I open it.", "It gets opened.")], ("diversified",)) == ()


def test_a_part_has_the_variants_of_its_own_steps(session: Trajectory) -> None:
    moved = CLOSE.model_copy(update={"steps": (0,)})
    part = with_speech(
        session.model_copy(update={"steps": (session.steps[1].model_copy(update={"index": 0}),)}),
        SPEECH.model_copy(update={"thoughts": (moved,)}),
    )
    variants = [variant(OPEN, "I open it.", "It gets opened."), variant(CLOSE, "Then I close this.", "Closed next.")]
    (found,) = variant_trajectories(part, variants, ("diversified",), first=1)
    assert [step.thought for step in found.steps] == ["Closed next."]


def test_only_changed_steps_of_a_variant_are_learned_from(session: Trajectory) -> None:
    (found,) = variant_trajectories(session, [variant(OPEN, "I open it.", "It gets opened.")], ("diversified",))
    dialect = get_dialect("ui_tars_1_5")
    assert [sample.index for sample in training_samples(session, dialect)] == [0, 1]
    (sample,) = training_samples(found, dialect)
    assert (sample.index, "It gets opened." in sample.target) == (0, True)


@pytest.mark.parametrize("name", ["trl_sft", "verl_sft", "llama_factory_sft", "huggingface", "ui_tars", "webdataset"])
def test_rows_carry_the_label(session: Trajectory, name: str) -> None:
    (found,) = variant_trajectories(session, [variant(OPEN, "I open it.", "It gets opened.")], ("diversified",))
    options = ExportOptions(dialect=get_dialect("ui_tars_1_5"))
    labels = [[_label(record) for record in FORMATS[name].records(one, options)] for one in (session, found)]
    assert labels == [["none", "none"], ["diversified-1"]]


def _label(record: object) -> str:
    assert isinstance(record, Record), record
    if record.row:
        return str(record.row["variant"])
    if "variants.jsonl" in record.lines:
        return str(json.loads(record.lines["variants.jsonl"]))
    files = (data for data in record.files.values() if isinstance(data, bytes))
    texts: list[str | bytes] = [*record.lines.values(), *files]
    return str(json.loads(texts[0])["variant"])


def test_a_document_is_labelled_beside_it(session: Trajectory) -> None:
    (found,) = variant_trajectories(session, [variant(OPEN, "I open it.", "It gets opened.")], ("diversified",))
    options = ExportOptions(dialect=get_dialect("ui_tars_1_5"))
    (record,) = FORMATS["ct_documents"].records(found, options)
    assert isinstance(record, Record)
    label, document = record.files[f"{found.id}/document.json"], record.files[f"{found.id}/document.md"]
    assert isinstance(label, bytes)
    assert isinstance(document, bytes)
    assert json.loads(label) == {"variant": "diversified-1"}
    assert b"It gets opened." in document
    assert b"diversified" not in document, "the label is not learned"


def test_a_variant_is_not_imported_as_an_attempt(session: Trajectory) -> None:
    (found,) = variant_trajectories(session, [variant(OPEN, "I open it.", "It gets opened.")], ("diversified",))
    row = json.loads(found.model_dump_json())
    with pytest.raises(RowError) as caught:
        READERS["canonical"].read(SourceRow(row, lambda path: None, found.created_at, "one"))  # type: ignore[arg-type, return-value]
    assert caught.value.code == "variant"


def test_redacted_words_take_their_variants_away() -> None:
    variants = [
        variant(OPEN, "I open it.", "It gets opened."),
        variant(CLOSE, "Then I close this.", "This is closed."),
        variant(CLOSE, "Then I close this.", "I close what Miller sent."),
    ]
    assert redact_variants(variants, {1}, ["open"]) == [False, True, True]
    assert redact_variants(variants, set(), ["Miller"]) == [True, True, False]


def test_labels_have_a_kind_and_a_number() -> None:
    assert [split_label(one) for one in ("none", "enriched-1", "diversified-12")] == [
        ("none", 0),
        ("enriched", 1),
        ("diversified", 12),
    ]
