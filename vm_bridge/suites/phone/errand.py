"""What a phone task is made of: where it begins, what must have become of it, and the moves that solve it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from vm_bridge.suites.phone.world import World
from vocabulary.actions import Action, Finish, OpenApp, PressBack, PressHome, TypeText


@dataclass(frozen=True, slots=True)
class Touch:
    """A touch of what carries this label, wherever the screen has it."""

    label: str
    how: Literal["tap", "hold", "swipe"] = "tap"


Deed = Touch | Action


@dataclass(frozen=True, slots=True)
class Wrong:
    """What somebody careless would do instead; `weight` is its share of the likelihood."""

    deed: Deed
    thought: str
    weight: float = 0.3


@dataclass(frozen=True, slots=True)
class Move:
    """One step towards the end, why it is made, and how it could be got wrong."""

    deed: Deed
    thought: str
    wrong: Wrong | None = None


@dataclass(frozen=True, slots=True)
class Errand:
    """A task as its seed makes it."""

    instruction: str
    world: World
    checks: tuple["Check", ...]
    moves: tuple[Move, ...]


Check = Callable[[World, World, str], str]
"""Looks at the phone at the beginning, the phone now and the answer; gives the reason why not, or an empty string."""


def holds(what: str, find: Callable[[World], Any], wanted: Any) -> Check:
    """What `find` gives of the present phone equals `wanted`; `what` names it."""

    def check(start: World, now: World, answer: str) -> str:
        found = find(now)
        return "" if found == wanted else f"{what} should be {wanted!r}, not {found!r}"

    return check


def untouched(*names: str) -> Check:
    """These apps hold what they held at the beginning; to have read a message changes nothing."""

    def check(start: World, now: World, answer: str) -> str:
        changed = [name for name in names if _kept(now[name]) != _kept(start[name])]
        return f"{', '.join(changed)} should not have changed" if changed else ""

    return check


def _kept(value: Any) -> Any:
    """A part of the state without what looking at it changes."""
    if isinstance(value, dict):
        return {key: _kept(item) for key, item in value.items() if key != "unread"}
    return [_kept(item) for item in value] if isinstance(value, list) else value


def answered(*wanted: str) -> Check:
    """The answer holds one of these, whatever its case."""

    def check(start: World, now: World, answer: str) -> str:
        given = answer.casefold()
        return "" if any(one.casefold() in given for one in wanted) else f"the answer should be {wanted[0]}"

    return check


def tap(label: str, thought: str, wrong: Wrong | None = None) -> Move:
    """Touch what carries this label."""
    return Move(Touch(label), thought, wrong)


def typed(text: str, thought: str, wrong: Wrong | None = None) -> Move:
    """Type where the focus is."""
    return Move(TypeText(text=text), thought, wrong)


def started(name: str, thought: str, wrong: Wrong | None = None) -> Move:
    """Open an app by its name."""
    return Move(OpenApp(name=name), thought, wrong)


def home(thought: str) -> Move:
    """Back to the home screen."""
    return Move(PressHome(), thought)


def went_back(thought: str) -> Move:
    """One screen back."""
    return Move(PressBack(), thought)


def done(thought: str, answer: str = "", wrong: Wrong | None = None) -> Move:
    """Say that it is finished."""
    return Move(Finish(answer=answer), thought, wrong)
