"""OSWorld's words for a task: its own whole, ours as far as they reach."""

from vocabulary.formats.osworld import task_of
from vocabulary.tasks import Task

THEIRS = {
    "snapshot": "chrome",
    "source": "https://example.org",
    "config": [{"type": "launch", "parameters": {"command": ["google-chrome"]}}],
    "trajectory": "trajectories/",
    "related_apps": ["chrome"],
    "evaluator": {"func": "exact_match", "result": {}, "expected": {}},
}


def test_a_task_of_theirs_goes_out_as_it_came() -> None:
    told = task_of(Task(id="bb5e4c0d", instruction="Find it.", parameters={"osworld": THEIRS}))
    assert told == {"id": "bb5e4c0d", "instruction": "Find it.", **THEIRS}


def test_a_task_of_ours_has_no_evaluator_that_it_has_not() -> None:
    task = Task(id="one", instruction="Type one.", suite="fake", name="type")
    told = task_of(task)
    assert (told["snapshot"], told["config"], "evaluator" in told) == ("fake", [], False)
    assert Task.model_validate(told["pilothouse"]) == task
