"""Task files of OSWorld: what is read, what is refused by its name, and how values are compared."""

from typing import Any

import pytest

from vm_bridge.drivers.osworld_metrics import METRICS
from vm_bridge.drivers.osworld_task import refusal_of, task_file_of
from vm_bridge.errors import UnsupportedTask
from vocabulary.tasks import Task

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
    file = task_file_of(task(config=[{"type": "open", "parameters": {"path": "/tmp/x"}}], evaluator=evaluator))
    assert file is not None
    assert [step.type for step in file.config] == ["open"]
    assert [check.func for check in file.evaluator.checks] == ["exact_match", "check_list"]
    assert file.evaluator.conjunction == "or"
    assert file.evaluator.before[0].parameters == {"seconds": 1}


def test_a_task_of_no_file_has_none() -> None:
    assert task_file_of(Task(id="one", instruction="Do.")) is None


def test_only_their_own_machines_judge_files_and_only_what_is_known() -> None:
    whole = {"config": [], "evaluator": {"func": "exact_match", "result": SAYS, "expected": RULE}}
    assert refusal_of("osworld", task(**whole)) is None
    assert "image desktop" in (refusal_of("desktop", task(**whole)) or "")
    assert "bookmarks" in (refusal_of("osworld", task(evaluator={"func": "x", "result": {"type": "bookmarks"}})) or "")
    assert refusal_of("desktop", Task(id="one", instruction="Do.")) is None


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"config": [{"type": "googledrive"}]}, "googledrive"),
        ({"config": [{"type": "execute", "parameters": {"command": ["echo", "{CLIENT_PASSWORD}"]}}]}, "password"),
        ({"evaluator": {"func": "compare_docx_files", "result": SAYS, "expected": RULE}}, "compare_docx_files"),
        ({"evaluator": {"func": "exact_match", "result": {"type": "bookmarks"}, "expected": RULE}}, "bookmarks"),
        ({"evaluator": {"func": "exact_match", "result": SAYS}}, "expects nothing"),
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
        task_file_of(task(**whole))


@pytest.mark.parametrize(
    ("name", "found", "expected", "options", "score"),
    [
        ("exact_match", "yes", {"expected": "yes"}, {}, 1),
        ("exact_match", "yes\n", {"expected": "yes"}, {}, 0),
        ("check_include_exclude", "a b", {"include": ["a"], "exclude": ["c"]}, {}, 1),
        ("check_include_exclude", "a c", {"include": ["a"], "exclude": ["c"]}, {}, 0),
        ("check_include_exclude", None, {"include": []}, {}, 0),
        ("match_in_list", "a", {"expected": ["a", "b"]}, {}, 1),
        ("is_in_list", ["a"], {"expected": "b"}, {}, 0),
        ("literal_match", "A", "a", {"ignore_case": True}, 1),
        ("literal_match", ["a"], ["b"], {"type": "list"}, 0),
        ("diff_text_file", b"a\nb\n", b"a\nc\n", {}, 0.5),
        ("compare_text_file", b"a  b\n", b"a b", {"ignore_blanks": True}, 1),
        ("compare_text_file", None, b"a", {}, 0),
        ("compare_csv", b"a,b\r\n", b"a,b\n", {}, 1),
        ("compare_csv", b"a,b\n", b"a,c\n", {}, 0),
        ("check_list", b"one\ntwo\n", {"expect": ["^t"], "unexpect": ["x"]}, {}, 1),
        ("check_list", b"one\nxx\n", {"expect": ["^o"], "unexpect": ["x"]}, {}, 0),
        ("check_csv", b"a,b\n1,2\n", {"expect": [{"a": "1"}]}, {}, 1),
        ("check_csv", b"a,b\n1,2\n", {"unexpect": [{"b": "2"}]}, {}, 0),
        ("check_direct_json_object", "{'a': 1}", {"expected": {"a": 1}}, {}, 1),
        ("check_direct_json_object", "nonsense", {"expected": {"a": 1}}, {}, 0),
        ("check_direct_json_object", {"a": "abc"}, {"expected": {"a": "b"}, "expect_in_result": True}, {}, 1),
        ("check_gnome_favorite_apps", "['b', 'a']", {"expected": ["a", "b"]}, {}, 1),
        ("check_gnome_favorite_apps", "__import__('os')", {"expected": []}, {}, 0),
        ("check_moved_jpgs", {"children": [{"name": "a.jpg"}]}, {"expected": ["a.jpg"]}, {}, 1),
        ("is_in_vm_clickboard", {"expected": ["a"]}, "xay", {}, 1),
        ("is_utc_0", "a\nb\nc\n Time zone: UTC (UTC, +0000)", None, {}, 1),
        ("check_text_enlarged", "1.25\n", None, {}, 1),
    ],
)
def test_a_metric(name: str, found: Any, expected: Any, options: dict[str, Any], score: float) -> None:
    assert METRICS[name].score(found, expected, options) == score


def test_every_metric_is_tried_above() -> None:
    (mark,) = (one for one in test_a_metric.pytestmark if one.name == "parametrize")
    assert {row[0] for row in mark.args[1]} == METRICS.keys()
