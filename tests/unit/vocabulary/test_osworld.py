"""OSWorld's words for a task: its own whole, ours as far as they reach."""

import json

import pytest

from tests.unit.vocabulary.examples import trajectory
from vocabulary.actions import Action, CallUser, Finish, Infeasible
from vocabulary.dialects import dialect_named
from vocabulary.formats.osworld import FORMAT, task_of
from vocabulary.formats.record import Choice, Record
from vocabulary.tasks import Task

THEIRS = {
    "snapshot": "chrome",
    "source": "https://example.org",
    "config": [{"type": "launch", "parameters": {"command": ["google-chrome"]}}],
    "trajectory": "trajectories/",
    "related_apps": ["chrome"],
    "evaluator": {"func": "exact_match", "result": {}, "expected": {}},
}


@pytest.mark.parametrize(
    ("action", "word"),
    [(Infeasible(reason="no"), "FAIL"), (Finish(), "DONE"), (CallUser(message="?"), "computer.call_user(message='?')")],
)
def test_only_an_infeasible_end_is_a_fail(action: Action, word: str) -> None:
    (record,) = FORMAT.records(trajectory(action), Choice(dialect_named("opencua")))
    assert isinstance(record, Record)
    (line,) = (data for name, data in record.files.items() if name.endswith("traj.jsonl"))
    assert isinstance(line, bytes)
    assert json.loads(line.splitlines()[-1])["action"] == word


def test_a_task_of_theirs_goes_out_as_it_came() -> None:
    told = task_of(Task(id="bb5e4c0d", instruction="Find it.", parameters={"osworld": THEIRS}))
    assert told == {"id": "bb5e4c0d", "instruction": "Find it.", **THEIRS}


def test_a_task_of_ours_has_no_evaluator_that_it_has_not() -> None:
    task = Task(id="one", instruction="Type one.", suite="fake", name="type")
    told = task_of(task)
    assert (told["snapshot"], told["config"], "evaluator" in told) == ("fake", [], False)
    assert Task.model_validate(told["pilothouse"]) == task
