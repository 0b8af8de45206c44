"""Keys as a browser is told them, and addresses as people write them."""

import pytest

from protocol.actions.keys import KEYS
from protocol.trajectory.tasks import Task
from vm_bridge.browser.action_executor import resolve_address
from vm_bridge.browser.keys import MODIFIERS, key_event
from vm_bridge.drivers.browser.episode_config import parse_episode_config
from vm_bridge.errors import InvalidAction, UnknownTask


@pytest.mark.parametrize("key", sorted(KEYS))
def test_every_key_can_be_told(key: str) -> None:
    told = key_event(key, 0)
    assert told["key"]
    assert told["code"]
    assert told["windowsVirtualKeyCode"]


def test_shift_changes_what_a_key_writes_and_control_keeps_it_from_writing() -> None:
    assert key_event("a", MODIFIERS["shift"])["text"] == "A"
    assert key_event("1", MODIFIERS["shift"])["text"] == "!"
    assert key_event("!", 0)["code"] == "Digit1"
    assert "text" not in key_event("a", MODIFIERS["ctrl"])
    assert key_event("enter", 0)["text"] == "\r"


@pytest.mark.parametrize(
    ("wanted", "url"),
    [
        ("http://b.test/x", "http://b.test/x"),
        ("b.test/x", "http://b.test/x"),
        ("/x", "http://a.test/x"),
        ("#x", "http://a.test/one/two#x"),
        ("../x", "http://a.test/x"),
        (" ?q=1 ", "http://a.test/one/two?q=1"),
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("javascript:alert(1)", "javascript:alert(1)"),
    ],
)
def test_an_address_is_read_as_browsers_do(wanted: str, url: str) -> None:
    assert resolve_address(wanted, "http://a.test/one/two") == url


def _task(**parameters: object) -> Task:
    return Task.model_validate({"id": "t", "instruction": "x", "platform": "browser", "parameters": parameters})


def test_a_task_says_whose_time_and_which_screen() -> None:
    plan = parse_episode_config({}, _task(size=[320, 240], clock="real", screenshot="png"))
    assert (plan.screen, plan.clock, plan.pace, plan.form) == ((320, 240), "script", 1, "png")
    plain = parse_episode_config({}, None)
    assert (plain.clock, plain.pace, plain.form, plain.seed) == ("exact", 0, "jpeg", 0)


@pytest.mark.parametrize(
    "wrong", [{"size": [1, 1]}, {"size": "big"}, {"clock": "sundial"}, {"pace": -1}, {"pace": "x"}]
)
def test_what_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidAction):
        parse_episode_config({}, _task(**wrong))


def test_a_suite_nobody_has_is_no_task() -> None:
    with pytest.raises(UnknownTask):
        parse_episode_config({}, _task().model_copy(update={"suite": "desktop", "name": "x"}))
