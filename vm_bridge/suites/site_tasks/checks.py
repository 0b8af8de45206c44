"""Whether the conditions of a site task hold. Reads only."""

import re
from urllib.parse import unquote, urlsplit

from pydantic import JsonValue

from protocol.site_tasks import (
    AnswerCondition,
    Condition,
    ElementCondition,
    StateCondition,
    TextCondition,
    UrlCondition,
    Where,
)
from vm_bridge.suites.site_tasks.pages import PageElement, PageView

MISSING = object()


def normalize_text(text: str) -> str:
    """White space as single spaces, as pages are read."""
    return re.sub(r"[\s\u200b]+", " ", text).strip()


def normalize_answer(text: str) -> str:
    """An answer without what does not count: case, white space, quotes and a full stop at the end."""
    return normalize_text(text).strip("\"'“”‘’ ").rstrip(".。").strip().casefold()


def find_fault(condition: Condition, page: PageView, state: JsonValue, answer: str | None) -> str:
    """Why a condition does not hold; empty where it does. `state` is what a bundled site tells of itself."""
    match condition:
        case UrlCondition():
            return _url_fault(condition, page.url)
        case TextCondition():
            found = normalize_text(condition.contains) in page.text
            absent = "does not show" if condition.present else "still shows"
            return "" if found == condition.present else f"the page {absent} “{condition.contains}”"
        case ElementCondition():
            return _element_fault(condition, page.find(condition.element))
        case StateCondition():
            return _state_fault(condition, state)
        case AnswerCondition():
            if not answer:
                return "no answer was given"
            accepted = {normalize_answer(one) for one in condition.accepted}
            return "" if normalize_answer(answer) in accepted else "the answer is wrong"


def _url_fault(condition: UrlCondition, url: str) -> str:
    parts = urlsplit(url)
    found = {"path": unquote(parts.path), "query": parts.query, "fragment": unquote(parts.fragment)}[condition.part]
    if condition.equals is not None and found != condition.equals:
        return f"the address's {condition.part} is not {condition.equals}"
    if condition.contains is not None and condition.contains not in found:
        return f"the address's {condition.part} has no {condition.contains}"
    return ""


def _element_fault(condition: ElementCondition, found: PageElement | None) -> str:
    called = f"{condition.element.role} “{condition.element.name}”"
    if condition.state == "absent":
        return "" if found is None else f"there is still a {called}"
    if found is None:
        return f"there is no {called}"
    if condition.state == "value":
        return "" if (found.value or "") == (condition.value or "") else f"the {called} does not hold the value"
    holds = {
        "present": True,
        "checked": found.checked is True,
        "unchecked": found.checked is False,
        "pressed": found.pressed is True,
        "not_pressed": found.pressed is False,
        "selected": found.selected is True,
        "expanded": found.expanded is True,
        "disabled": found.disabled,
    }[condition.state]
    return "" if holds else f"the {called} is not {condition.state.replace('_', ' ')}"


def _state_fault(condition: StateCondition, state: JsonValue) -> str:
    found = _value_at(condition, state)
    if found is MISSING:
        return "the site's state has no such value"
    if condition.length is not None:
        return "" if isinstance(found, list) and len(found) == condition.length else "the list has another length"
    same = found == condition.equals and isinstance(found, bool) == isinstance(condition.equals, bool)
    return "" if same else "the site's state has another value"


def _value_at(condition: StateCondition, state: JsonValue) -> object:
    value: object = state
    for part in condition.path:
        if isinstance(part, Where):
            items = value if isinstance(value, list) else []
            value = next((one for one in items if _has_fields(one, part)), MISSING)
        elif isinstance(part, int):
            value = value[part] if isinstance(value, list) and -len(value) <= part < len(value) else MISSING
        else:
            value = value.get(part, MISSING) if isinstance(value, dict) else MISSING
        if value is MISSING:
            return MISSING
    return value


def _has_fields(item: object, wanted: Where) -> bool:
    return isinstance(item, dict) and all(item.get(name, MISSING) == value for name, value in wanted.where.items())
