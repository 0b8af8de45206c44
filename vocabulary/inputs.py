"""What hands do to a machine: pointer, keys and touch, in pixels of the observation acted on.

Pixels are absolute integers; dialects convert to a model's grid and the front-end converts from CSS pixels, nothing
else knows about scaling.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints

from vocabulary.base import Frozen
from vocabulary.keys import key_checked

MAX_TEXT = 20_000
"""Longest text one action may carry (characters)."""

Pixel = Annotated[int, Field(ge=0, le=32_767)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=32), AfterValidator(key_checked)]
"""A key of `vocabulary.keys`; any spelling goes in, the canonical name is kept."""
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
Button = Literal["left", "middle", "right"]
Direction = Literal["up", "down", "left", "right"]


class Point(Frozen):
    """A pixel of the observation acted on."""

    x: Pixel
    y: Pixel


class _At(Frozen):
    x: Pixel
    y: Pixel


class Click(_At):
    """Press and release the left button at a point."""

    kind: Literal["click"] = "click"


class DoubleClick(_At):
    """Two left clicks in quick succession."""

    kind: Literal["double_click"] = "double_click"


class TripleClick(_At):
    """Three left clicks: selects a line or paragraph in most programs."""

    kind: Literal["triple_click"] = "triple_click"


class RightClick(_At):
    """Press and release the right button."""

    kind: Literal["right_click"] = "right_click"


class MiddleClick(_At):
    """Press and release the middle button."""

    kind: Literal["middle_click"] = "middle_click"


class MoveTo(_At):
    """Move the pointer without pressing (hover)."""

    kind: Literal["move_to"] = "move_to"


class MouseDown(Frozen):
    """Press a button and keep it down; at the current position when no point is given."""

    kind: Literal["mouse_down"] = "mouse_down"
    point: Point | None = None
    button: Button = "left"


class MouseUp(Frozen):
    """Release a button; at the current position when no point is given."""

    kind: Literal["mouse_up"] = "mouse_up"
    point: Point | None = None
    button: Button = "left"


class Drag(Frozen):
    """Press at `start`, move to `end`, release."""

    kind: Literal["drag"] = "drag"
    start: Point
    end: Point
    button: Button = "left"


class Scroll(Frozen):
    """Turn the wheel at a point; `amount` in wheel notches."""

    kind: Literal["scroll"] = "scroll"
    point: Point | None = None
    direction: Direction
    amount: int = Field(default=5, ge=1, le=100)


class TypeText(Frozen):
    """Type text where the focus is; a trailing newline submits."""

    kind: Literal["type_text"] = "type_text"
    text: Text


class PressKeys(Frozen):
    """Press keys together as one hotkey, in order, and release them in reverse."""

    kind: Literal["press_keys"] = "press_keys"
    keys: Annotated[tuple[Key, ...], Field(min_length=1, max_length=5)]


class Press(Frozen):
    """Press one key and keep it down."""

    kind: Literal["press"] = "press"
    key: Key


class Release(Frozen):
    """Release one key that is held."""

    kind: Literal["release"] = "release"
    key: Key


class LongPress(_At):
    """Touch and hold; seconds."""

    kind: Literal["long_press"] = "long_press"
    seconds: float = Field(default=1.0, gt=0, le=10)


class Swipe(Frozen):
    """Touch at `start`, slide to `end`, lift."""

    kind: Literal["swipe"] = "swipe"
    start: Point
    end: Point


InputEvent = Annotated[MoveTo | MouseDown | MouseUp | Press | Release | Scroll, Field(discriminator="kind")]
"""The primitive inputs a takeover sends."""


class TimedInput(Frozen):
    """One primitive input of a gesture, `at_ms` after its first."""

    at_ms: int = Field(ge=0)
    input: InputEvent


class Gesture(Frozen):
    """What a person did during a takeover until they paused: primitive inputs in order."""

    kind: Literal["gesture"] = "gesture"
    inputs: Annotated[tuple[TimedInput, ...], Field(min_length=1, max_length=5_000)]


def points_of(action: Any) -> Iterator[Point]:
    """Every pixel an action names, in order; used to refuse those off the screen."""
    if isinstance(action, Gesture):
        for timed in action.inputs:
            yield from points_of(timed.input)
    elif isinstance(action, Drag | Swipe):
        yield action.start
        yield action.end
    elif isinstance(action, _At):
        yield Point(x=action.x, y=action.y)
    elif isinstance(action, MouseDown | MouseUp | Scroll) and action.point is not None:
        yield action.point


def off_screen(action: Any, width: int, height: int) -> Point | None:
    """The first pixel of an action that lies outside a screen of this size, if any."""
    return next((p for p in points_of(action) if p.x >= width or p.y >= height), None)
