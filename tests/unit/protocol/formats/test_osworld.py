"""OSWorld's words for a task: its own whole, ours as far as they reach."""

import json

import pytest

from protocol.actions.types import Action, CallUser, Finish, Infeasible
from protocol.dialects.families import get_dialect
from protocol.formats.osworld import FORMAT, osworld_task
from protocol.formats.records import ExportOptions, Record
from protocol.trajectory.tasks import Task
from tests.unit.protocol.examples import trajectory

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
    (record,) = FORMAT.records(trajectory(action), ExportOptions(get_dialect("opencua")))
    assert isinstance(record, Record)
    (line,) = (data for name, data in record.files.items() if name.endswith("traj.jsonl"))
    assert isinstance(line, bytes)
    assert json.loads(line.splitlines()[-1])["action"] == word


def test_a_task_of_theirs_goes_out_as_it_came() -> None:
    document = osworld_task(Task(id="bb5e4c0d", instruction="Find it.", parameters={"osworld": THEIRS}))
    assert document == {"id": "bb5e4c0d", "instruction": "Find it.", **THEIRS}


def test_a_task_of_ours_has_no_evaluator_that_it_has_not() -> None:
    task = Task(id="one", instruction="Type one.", suite="fake", name="type")
    document = osworld_task(task)
    assert (document["snapshot"], document["config"], "evaluator" in document) == ("fake", [], False)
    assert Task.model_validate(document["pilothouse"]) == task
