"""What a phone task is made of: where it begins, what must have become of it, and the moves that solve it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from protocol.actions.types import Action, Finish, OpenApp, PressHome, TypeText
from vm_bridge.suites.phone.world import World


@dataclass(frozen=True, slots=True)
class Touch:
    """A touch of what carries this label, wherever the screen has it."""

    label: str
    how: Literal["tap", "hold", "swipe"] = "tap"


TaskAction = Touch | Action


@dataclass(frozen=True, slots=True)
class Mistake:
    """A plausible careless action; `weight` is its share of the probability."""

    action: TaskAction
    thought: str
    weight: float = 0.3


@dataclass(frozen=True, slots=True)
class ExpertStep:
    """One step towards the end, why it is made, and how it could be got wrong."""

    action: TaskAction
    thought: str
    mistake: Mistake | None = None


@dataclass(frozen=True, slots=True)
class PhoneTask:
    """A task as its seed makes it."""

    instruction: str
    world: World
    checks: tuple["Check", ...]
    expert_steps: tuple[ExpertStep, ...]


Check = Callable[[World, World, str], str]
"""Looks at the phone at the beginning, the phone now and the answer; gives the reason why not, or an empty string."""


def state_equals(what: str, find: Callable[[World], Any], wanted: Any) -> Check:
    """What `find` gives of the present phone equals `wanted`; `what` names it."""

    def check(start: World, now: World, answer: str) -> str:
        found = find(now)
        return "" if found == wanted else f"{what} should be {wanted!r}, not {found!r}"

    return check


def unchanged(*names: str) -> Check:
    """These apps hold what they held at the beginning; to have read a message changes nothing."""

    def check(start: World, now: World, answer: str) -> str:
        changed = [name for name in names if _comparable(now[name]) != _comparable(start[name])]
        return f"{', '.join(changed)} should not have changed" if changed else ""

    return check


def _comparable(value: Any) -> Any:
    """A part of the state without what looking at it changes."""
    if isinstance(value, dict):
        return {key: _comparable(item) for key, item in value.items() if key != "unread"}
    return [_comparable(item) for item in value] if isinstance(value, list) else value


def answer_contains(*wanted: str) -> Check:
    """The answer holds one of these, whatever its case."""

    def check(start: World, now: World, answer: str) -> str:
        given = answer.casefold()
        return "" if any(one.casefold() in given for one in wanted) else f"the answer should be {wanted[0]}"

    return check


def tap_step(label: str, thought: str, mistake: Mistake | None = None) -> ExpertStep:
    """Touch what carries this label."""
    return ExpertStep(Touch(label), thought, mistake)


def type_step(text: str, thought: str, mistake: Mistake | None = None) -> ExpertStep:
    """Type where the focus is."""
    return ExpertStep(TypeText(text=text), thought, mistake)


def open_app_step(name: str, thought: str, mistake: Mistake | None = None) -> ExpertStep:
    """Open an app by its name."""
    return ExpertStep(OpenApp(name=name), thought, mistake)


def home_step(thought: str) -> ExpertStep:
    """Back to the home screen."""
    return ExpertStep(PressHome(), thought)


def finish_step(thought: str, answer: str = "", mistake: Mistake | None = None) -> ExpertStep:
    """Say that it is finished."""
    return ExpertStep(Finish(answer=answer), thought, mistake)
