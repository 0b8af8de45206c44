"""Task files of OSWorld: what is read, and what is refused by its name."""

from typing import Any

import pytest

from protocol.trajectory.tasks import Task
from vm_bridge.drivers.osworld.task_files import parse_task_file, unsupported_reason
from vm_bridge.errors import UnsupportedTask

RULE = {"type": "rule", "rules": {"expected": "yes\n"}}
SAYS = {"type": "vm_command_line", "command": ["echo", "yes"]}


def task(**given: Any) -> Task:
    return Task(id="one", instruction="Do.", parameters={"osworld": given})


def test_a_file_is_read_with_all_its_checks() -> None:
    evaluator = {
        "func": ["exact_match", "check_list"],
        "conj": "or",
        "result": [SAYS, {"type": "vm_file", "path": "/tmp/x", "dest": "x"}],
        "expected": [RULE, {"type": "rule", "rules": {"expect": ["a"]}}],
        "postconfig": [{"type": "sleep", "parameters": {"seconds": 1}}],
    }
    file = parse_task_file(task(config=[{"type": "open", "parameters": {"path": "/tmp/x"}}], evaluator=evaluator))
    assert file is not None
    assert [step.type for step in file.config] == ["open"]
    assert [check.func for check in file.evaluator.checks] == ["exact_match", "check_list"]
    assert file.evaluator.conj == "or"
    assert file.given["evaluator"] == evaluator, "the package gets it as it was written"
    assert file.evaluator.before[0].parameters == {"seconds": 1}


def test_a_task_of_no_file_has_none() -> None:
    assert parse_task_file(Task(id="one", instruction="Do.")) is None


def test_only_their_own_machines_judge_files_and_only_what_is_known() -> None:
    whole = {"config": [], "evaluator": {"func": "exact_match", "result": SAYS, "expected": RULE}}
    assert unsupported_reason("osworld", task(**whole)) is None
    assert "image desktop" in (unsupported_reason("desktop", task(**whole)) or "")
    assert "dreams" in (
        unsupported_reason("osworld", task(evaluator={"func": "x", "result": {"type": "dreams"}})) or ""
    )
    assert unsupported_reason("desktop", Task(id="one", instruction="Do.")) is None


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"config": [{"type": "fly"}]}, "no step fly"),
        ({"config": [{"type": "tidy_desktop"}]}, "does not do tidy_desktop"),
        ({"evaluator": {"func": "guess_well", "result": SAYS, "expected": RULE}}, "guess_well"),
        ({"evaluator": {"func": "exact_match", "result": {"type": "dreams"}, "expected": RULE}}, "dreams"),
        ({"evaluator": {"func": "exact_match", "result": SAYS, "conj": "nor"}}, "conj"),
        ({"evaluator": {"func": "exact_match", "expected": RULE}}, "looks at nothing"),
        ({"evaluator": {"func": [], "result": []}}, "checks"),
        ({"evaluator": {"func": ["exact_match"], "result": [SAYS, SAYS]}}, "different lengths"),
        ({"evaluator": 3}, "no task file"),
        ({"config": "launch"}, "valid tuple"),
    ],
)
def test_what_nobody_can_do_is_refused_by_its_name(given: dict[str, Any], named: str) -> None:
    whole = {"config": [], "evaluator": {"func": "exact_match", "result": SAYS, "expected": RULE}} | given
    with pytest.raises(UnsupportedTask, match=named):
        parse_task_file(task(**whole))
