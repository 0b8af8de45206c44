"""The next act of a script's step on the page that is open."""

from protocol.actions.types import Action, Click, Drag, Finish, NavigateBack, Point, PressKeys, Scroll, TypeText
from protocol.site_tasks import (
    AnswerStep,
    BackStep,
    ClickStep,
    DragStep,
    ElementRef,
    PressStep,
    ScriptStep,
    TypeStep,
)
from vm_bridge.browser import ScriptFailed
from vm_bridge.suites.site_tasks.pages import PageElement, PageView

NOTCH = 100
"""Pixels of one notch of the wheel."""
MAX_NOTCHES = 10


def next_action(step: ScriptStep, page: PageView) -> Action:
    """What to do now so that a step is done; several acts may be needed for one step. Raises ScriptFailed where the
    page does not have what the step names."""
    match step:
        case ClickStep():
            found = require_element(page, step.element)
            return _scroll_to(found) or Click(x=found.x, y=found.y)
        case TypeStep():
            return _type(step, require_element(page, step.element))
        case DragStep():
            start, end = require_element(page, step.element), require_element(page, step.to)
            drag = Drag(start=Point(x=start.x, y=start.y), end=Point(x=end.x, y=end.y))
            return _scroll_to(start) or drag
        case PressStep():
            return PressKeys(keys=step.keys)
        case BackStep():
            return NavigateBack()
        case AnswerStep():
            return Finish(answer=step.text)


def completes(step: ScriptStep, action: Action) -> bool:
    """Whether an act is the last one of its step, and not one that makes it possible."""
    last = {"click": "click", "type": "type_text", "drag": "drag", "press": "press_keys", "back": "navigate_back"}
    return action.kind == last.get(step.kind, "finish")


def describe_step(step: ScriptStep) -> str:
    """A step in words, as a thought of the script."""
    match step:
        case ClickStep():
            return f"I click the {_called(step.element)}."
        case TypeStep():
            return f"I write “{step.text}” into the {_called(step.element)}."
        case DragStep():
            return f"I drag the {_called(step.element)} to the {_called(step.to)}."
        case PressStep():
            return f"I press {'+'.join(step.keys)}."
        case BackStep():
            return "I go back."
        case AnswerStep():
            return f"The answer is {step.text}."


def require_element(page: PageView, wanted: ElementRef) -> PageElement:
    """The element on the page. Raises ScriptFailed."""
    found = page.find(wanted)
    if found is None:
        raise ScriptFailed(f"the page has no {_called(wanted)}")
    if found.disabled:
        raise ScriptFailed(f"the {_called(wanted)} is disabled")
    return found


def _type(step: TypeStep, field: PageElement) -> Action:
    if not field.focused:
        return _scroll_to(field) or Click(x=field.x, y=field.y)
    if not field.selected_all:
        return PressKeys(keys=("ctrl", "a"))
    return TypeText(text=f"{step.text}\n" if step.enter else step.text)


def _scroll_to(element: PageElement) -> Action | None:
    """Brings an element into view; None where it is. Raises ScriptFailed for one that something else covers."""
    if element.shown:
        return None
    scroll = element.scroll
    if scroll is None or abs(scroll.by) < NOTCH // 2:
        raise ScriptFailed(f"something covers the {element.role} “{element.name}”")
    notches = min(MAX_NOTCHES, max(1, round(abs(scroll.by) / NOTCH)))
    direction = "down" if scroll.by > 0 else "up"
    return Scroll(point=Point(x=scroll.x, y=scroll.y), direction=direction, amount=notches)


def _called(element: ElementRef) -> str:
    return f"{element.role} “{element.name}”"
