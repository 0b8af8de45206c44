"""Values of the shared vocabulary in a text column."""

import json

import pytest
from pydantic import ValidationError

from annotation_app.episodes.models import EpisodeStateDocument
from annotation_app.fields import DocumentField
from protocol.actions.types import Click
from protocol.messages.events import PendingAct
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.tasks import Task
from tests.unit.protocol.examples import proposal

DESK = EpisodeStateDocument(error="nul \x00, quote ', 中", thinking="failed", capabilities=("click",))


def test_what_is_stored_is_what_comes_back() -> None:
    field: DocumentField[EpisodeStateDocument] = DocumentField(EpisodeStateDocument)
    stored = field.get_prep_value(DESK)
    assert stored is not None
    assert "\x00" not in stored, "PostgreSQL would refuse it"
    assert field.from_db_value(stored) == DESK
    assert field.get_prep_value(None) is None
    assert field.from_db_value(None) is None


def test_migrations_see_plain_text() -> None:
    field: DocumentField[PendingAct] = DocumentField(PendingAct)
    assert type(field.clone()).__name__ == "TextField"


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ("NaN", None),
        ('[1, {"b": -Infinity}, 2.5]', [1, {"b": None}, 2.5]),
    ],
)
def test_a_number_of_an_older_database_that_is_not_finite_reads_as_null(stored: str, read: object) -> None:
    field: DocumentField[Task] = DocumentField(Task)
    text = f'{{"id": "old", "instruction": "Do NaN", "parameters": {{"a": {stored}}}}}'
    task = field.from_db_value(text)
    assert task is not None
    assert task.parameters == {"a": read}
    assert task.instruction == "Do NaN"
    written = field.get_prep_value(task)
    assert written is not None
    assert json.loads(written, parse_constant=pytest.fail)["parameters"] == {"a": read}


def test_where_the_type_has_no_null_such_a_number_reads_as_a_finite_one() -> None:
    field: DocumentField[Proposal] = DocumentField(Proposal)
    text = json.dumps(json.loads(proposal(1, Click(x=1, y=1)).model_dump_json()) | {"logprobs": [-0.5, float("-inf")]})
    read = field.from_db_value(text)
    assert read is not None
    assert read.logprobs == (-0.5, -9999.0)


def test_a_document_that_is_wrong_otherwise_stays_an_error() -> None:
    field: DocumentField[Task] = DocumentField(Task)
    with pytest.raises(ValidationError):
        field.from_db_value('{"id": "old", "instruction": "", "parameters": {"a": NaN}}')
    with pytest.raises(ValidationError):
        field.from_db_value('{"id": "old"}')
