"""Conditions of site tasks and the acts of their scripts, on pages as a browser would tell of them."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from protocol.actions.types import Click, Finish, PressKeys, Scroll, TypeText
from protocol.evaluation.judge_prompts import without_references
from protocol.site_tasks import Condition, ElementRef, ScriptStep
from protocol.trajectory.tasks import Task
from tests.unit.task_factory.sites.pages import make_element, make_view
from vm_bridge.browser import ScriptFailed
from vm_bridge.drivers.browser.episode_config import parse_episode_config
from vm_bridge.errors import InvalidAction, UnknownTask
from vm_bridge.suites.registry import WEB_SUITES
from vm_bridge.suites.site_tasks import SiteTaskSuite
from vm_bridge.suites.site_tasks.checks import find_fault
from vm_bridge.suites.site_tasks.scripts import completes, next_action

CONDITION: TypeAdapter[Condition] = TypeAdapter(Condition)
STEP: TypeAdapter[ScriptStep] = TypeAdapter(ScriptStep)
PAGE = make_view(
    make_element("textbox", "Town", value="Kelso"),
    make_element("switch", "Sound", checked=True),
    make_element("button", "Save"),
    make_element("button", "Save", pressed=True),
    url="http://trips.test/list/a%20b?q=1#/thing/2",
    text="Trips from Kelso",
)
STATE: Any = {"cart": [{"id": 2, "count": 1, "gift": True}, {"id": 5, "count": 3, "gift": False}]}


def element(role: str, name: str, state: str = "present", **more: Any) -> dict[str, Any]:
    nth = more.pop("nth", 1)
    return {"kind": "element", "element": {"role": role, "name": name, "nth": nth}, "state": state, **more}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ({"kind": "url", "equals": "/list/a b"}, True),
        ({"kind": "url", "part": "fragment", "contains": "/thing/3"}, False),
        ({"kind": "url", "part": "query", "equals": "q=1"}, True),
        ({"kind": "text", "contains": "Trips  from\nKelso"}, True),
        ({"kind": "text", "contains": "Ilford", "present": False}, True),
        ({"kind": "text", "contains": "Kelso", "present": False}, False),
        (element("textbox", "Town", "value", value="Kelso"), True),
        (element("textbox", "Town", "value", value="Kel"), False),
        (element("switch", "Sound", "checked"), True),
        (element("switch", "Sound", "unchecked"), False),
        (element("button", "Save", "pressed"), False),
        (element("button", "Save", "pressed", nth=2), True),
        (element("button", "Send", "absent"), True),
        (element("button", "Send"), False),
        ({"kind": "state", "path": ["cart", 0, "count"], "equals": 1}, True),
        ({"kind": "state", "path": ["cart", 0, "gift"], "equals": 1}, False),
        ({"kind": "state", "path": ["cart", -1, "count"], "equals": 3}, True),
        ({"kind": "state", "path": ["cart", {"where": {"id": 5, "gift": False}}, "count"], "equals": 3}, True),
        ({"kind": "state", "path": ["cart", {"where": {"id": 9}}, "count"], "equals": 3}, False),
        ({"kind": "state", "path": ["cart"], "length": 2}, True),
        ({"kind": "state", "path": ["cart", "length"], "equals": 2}, False),
        ({"kind": "state", "path": ["nothing"], "equals": None}, False),
        ({"kind": "answer", "accepted": ["23.90", "Kira Novak"]}, True),
    ],
)
def test_a_condition_reads_the_page_the_state_and_the_answer(condition: dict[str, Any], holds: bool) -> None:
    assert (find_fault(CONDITION.validate_python(condition), PAGE, STATE, " kira  NOVAK.") == "") is holds


@pytest.mark.parametrize("answer", [None, "", "Kira", "Kira Novak or Ada Brandt"])
def test_only_the_answer_itself_is_right(answer: str | None) -> None:
    assert find_fault(CONDITION.validate_python({"kind": "answer", "accepted": ["Kira Novak"]}), PAGE, None, answer)


def test_a_field_is_clicked_emptied_and_filled() -> None:
    step = STEP.validate_python({"kind": "type", "element": {"role": "textbox", "name": "Town"}, "text": "Ilford"})
    unfocused = make_element("textbox", "Town", value="Kelso", selected_all=False)
    focused = unfocused.model_copy(update={"focused": True})
    selected = focused.model_copy(update={"selected_all": True})
    acts = [next_action(step, make_view(one)) for one in (unfocused, focused, selected)]
    assert acts == [Click(x=50, y=20), PressKeys(keys=("ctrl", "a")), TypeText(text="Ilford")]
    assert [completes(step, act) for act in acts] == [False, False, True]


def test_what_is_out_of_view_is_scrolled_to() -> None:
    step = STEP.validate_python({"kind": "click", "element": {"role": "button", "name": "Save"}})
    below = make_element("button", "Save", shown=False, scroll={"x": 400, "y": 300, "by": 730})
    act = next_action(step, make_view(below))
    assert isinstance(act, Scroll)
    assert (act.direction, act.amount, completes(step, act)) == ("down", 7, False)
    covered = make_element("button", "Save", shown=False, scroll={"x": 400, "y": 300, "by": 0})
    with pytest.raises(ScriptFailed, match="covers"):
        next_action(step, make_view(covered))


@pytest.mark.parametrize("view", [make_view(), make_view(make_element("button", "Save", disabled=True))])
def test_a_step_needs_its_element(view: Any) -> None:
    with pytest.raises(ScriptFailed):
        next_action(STEP.validate_python({"kind": "click", "element": {"role": "button", "name": "Save"}}), view)


def test_an_answer_ends_the_script() -> None:
    step = STEP.validate_python({"kind": "answer", "text": "1720"})
    assert next_action(step, PAGE) == Finish(answer="1720")


def test_marks_tell_states_apart_and_not_places() -> None:
    here, moved = make_element("button", "Save"), make_element("button", "Save", x=9, focused=True, shown=False)
    assert make_view(here).mark == make_view(moved).mark
    assert make_view(here).mark != make_view(make_element("button", "Save", pressed=True)).mark
    assert PAGE.find(ElementRef(role="button", name="Save", nth=3)) is None


def make_task(**parameters: Any) -> Task:
    return Task(id="x", instruction="Do it.", platform="browser", parameters=parameters)


def test_a_task_is_played_where_it_says() -> None:
    given = {"site": {"kind": "bundled", "name": "shop", "seed": 3}, "size": [800, 600]}
    plan = parse_episode_config(WEB_SUITES, make_task(site_task=given))
    assert isinstance(plan.suite, SiteTaskSuite)
    assert (plan.screen, plan.scene().url) == ((800, 600), "http://shop.pilothouse.test/")
    live = make_task(site_task={"site": {"kind": "live", "url": "https://lab.example/start"}})
    assert SiteTaskSuite().scene(live).url == "https://lab.example/start"
    assert parse_episode_config(WEB_SUITES, make_task()).suite is None, "a task without one is as it was"


def test_a_task_that_names_no_site_is_refused() -> None:
    with pytest.raises(UnknownTask):
        SiteTaskSuite().scene(make_task(site_task={"site": {"kind": "bundled", "name": "nowhere"}}))
    with pytest.raises(InvalidAction):
        SiteTaskSuite().scene(make_task(site_task={"site": {"kind": "live", "url": "file:///etc/passwd"}}))


def test_who_does_a_task_is_not_told_its_script() -> None:
    given = {"site": {"kind": "bundled", "name": "shop"}}
    shown = without_references(make_task(site_task=given, category="site_tasks/shop", success_criteria=["Done."]))
    assert shown.parameters == {"category": "site_tasks/shop"}
