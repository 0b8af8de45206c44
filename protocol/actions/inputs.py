"""Input actions: pointer, keys and touch, in pixels of the observation acted on.

Pixels are absolute integers; dialects convert to a model's grid and the front-end converts from CSS pixels, nothing
else knows about scaling.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from protocol.actions.keys import require_key
from protocol.base import FrozenModel

MAX_TEXT = 20_000
"""Longest text one action may carry (characters)."""

MAX_NOTCHES = 100
"""Most a wheel turns in one action."""
PIXELS_PER_NOTCH = 100

Pixel = Annotated[int, Field(ge=0, le=32_767)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=32), AfterValidator(require_key)]
"""A key of `protocol.actions.keys`; any spelling goes in, the canonical name is kept."""
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
Button = Literal["left", "middle", "right"]
AnyButton = Literal["left", "middle", "right", "back", "forward"]
"""`back` and `forward` are the buttons at a mouse's side."""
HeldKeys = Annotated[tuple[Key, ...], Field(max_length=4)]
"""Keys that are down during an act: pressed before it in this order, released after it in reverse."""
Distance = Annotated[int, Field(ge=-20_000, le=20_000)]
Direction = Literal["up", "down", "left", "right"]
SCROLL_AXES = {"left": ("dx", -1), "right": ("dx", 1), "up": ("dy", -1), "down": ("dy", 1)}
"""The axis and the sign of a scroll in each direction, as `ScrollBy` counts them."""


class Point(FrozenModel):
    """A pixel of the observation acted on."""

    x: Pixel
    y: Pixel


class _PointAction(FrozenModel):
    x: Pixel
    y: Pixel


class Click(_PointAction):
    """Press and release the left button at a point."""

    kind: Literal["click"] = "click"


class DoubleClick(_PointAction):
    """Two left clicks in quick succession."""

    kind: Literal["double_click"] = "double_click"


class TripleClick(_PointAction):
    """Three left clicks: selects a line or paragraph in most programs."""

    kind: Literal["triple_click"] = "triple_click"


class RightClick(_PointAction):
    """Press and release the right button."""

    kind: Literal["right_click"] = "right_click"


class MiddleClick(_PointAction):
    """Press and release the middle button."""

    kind: Literal["middle_click"] = "middle_click"


class MoveTo(_PointAction):
    """Move the pointer without pressing (hover)."""

    kind: Literal["move_to"] = "move_to"


class MouseDown(FrozenModel):
    """Press a button and keep it down; at the current position when no point is given."""

    kind: Literal["mouse_down"] = "mouse_down"
    point: Point | None = None
    button: Button = "left"


class MouseUp(FrozenModel):
    """Release a button; at the current position when no point is given."""

    kind: Literal["mouse_up"] = "mouse_up"
    point: Point | None = None
    button: Button = "left"


class Drag(FrozenModel):
    """Press at `start`, move to `end`, release."""

    kind: Literal["drag"] = "drag"
    start: Point
    end: Point
    button: Button = "left"


class Scroll(FrozenModel):
    """Turn the wheel at a point; `amount` in wheel notches."""

    kind: Literal["scroll"] = "scroll"
    point: Point | None = None
    direction: Direction
    amount: int = Field(default=5, ge=1, le=MAX_NOTCHES)


class MouseClick(FrozenModel):
    """Any click: at the pointer where no point is given, with any button, with keys held."""

    kind: Literal["mouse_click"] = "mouse_click"
    point: Point | None = None
    button: AnyButton = "left"
    clicks: int = Field(default=1, ge=1, le=3)
    keys: HeldKeys = ()


class DragPath(FrozenModel):
    """Press at the first point, move along the others, release at the last, with keys held; with one point, the drag
    begins at the pointer."""

    kind: Literal["drag_path"] = "drag_path"
    points: Annotated[tuple[Point, ...], Field(min_length=1, max_length=64)]
    button: Button = "left"
    keys: HeldKeys = ()


class ScrollBy(FrozenModel):
    """Scroll on both axes, in CSS pixels or wheel notches, with keys held; positive is right and down.

    A machine whose wheel only has notches does pixels as the nearest number of notches of 100, at least one.
    """

    kind: Literal["scroll_by"] = "scroll_by"
    point: Point | None = None
    dx: Distance = 0
    dy: Distance = 0
    unit: Literal["pixels", "notches"] = "pixels"
    keys: HeldKeys = ()

    @model_validator(mode="after")
    def _moves(self) -> Self:
        if not self.dx and not self.dy:
            raise ValueError("it scrolls by nothing")
        if self.unit == "notches" and max(abs(self.dx), abs(self.dy)) > MAX_NOTCHES:
            raise ValueError(f"it scrolls by more than {MAX_NOTCHES} notches")
        return self


class Zoom(FrozenModel):
    """Ask for a part of the screen, enlarged; it comes back as the observation's attachment. Points stay those of the
    whole screen."""

    kind: Literal["zoom"] = "zoom"
    start: Point
    """One corner."""
    end: Point
    """The opposite one; the pixels of both belong to the part."""


class TypeText(FrozenModel):
    """Type text where the focus is; a trailing newline submits."""

    kind: Literal["type_text"] = "type_text"
    text: Text


class PressKeys(FrozenModel):
    """Press keys together as one hotkey, in order, and release them in reverse."""

    kind: Literal["press_keys"] = "press_keys"
    keys: Annotated[tuple[Key, ...], Field(min_length=1, max_length=5)]


class Press(FrozenModel):
    """Press one key and keep it down."""

    kind: Literal["press"] = "press"
    key: Key


class Release(FrozenModel):
    """Release one key that is held."""

    kind: Literal["release"] = "release"
    key: Key


class LongPress(_PointAction):
    """Touch and hold; seconds."""

    kind: Literal["long_press"] = "long_press"
    seconds: float = Field(default=1.0, gt=0, le=10)


class Swipe(FrozenModel):
    """Touch at `start`, slide to `end`, lift."""

    kind: Literal["swipe"] = "swipe"
    start: Point
    end: Point


InputEvent = Annotated[MoveTo | MouseDown | MouseUp | Press | Release | Scroll | TypeText, Field(discriminator="kind")]
"""The primitive inputs a takeover sends; text where a character is no key of a US keyboard, or not that key's."""


class TimedInput(FrozenModel):
    """One primitive input of a gesture, `at_ms` after its first."""

    at_ms: int = Field(ge=0)
    input: InputEvent


class Gesture(FrozenModel):
    """What a person did during a takeover until they paused: primitive inputs in order."""

    kind: Literal["gesture"] = "gesture"
    inputs: Annotated[tuple[TimedInput, ...], Field(min_length=1, max_length=5_000)]


def action_points(action: Any) -> Iterator[Point]:
    """Every pixel an action names, in order; used to refuse those off the screen."""
    if isinstance(action, Gesture):
        for timed in action.inputs:
            yield from action_points(timed.input)
    elif isinstance(action, Drag | Swipe | Zoom):
        yield action.start
        yield action.end
    elif isinstance(action, DragPath):
        yield from action.points
    elif isinstance(action, _PointAction):
        yield Point(x=action.x, y=action.y)
    elif isinstance(action, MouseDown | MouseUp | Scroll | MouseClick | ScrollBy) and action.point is not None:
        yield action.point


def find_off_screen_point(action: Any, width: int, height: int) -> Point | None:
    """The first pixel of an action that lies outside a screen of this size, if any."""
    return next((p for p in action_points(action) if p.x >= width or p.y >= height), None)


_SIMPLE_CLICKS: dict[tuple[AnyButton, int], type[_PointAction]] = {
    ("left", 1): Click,
    ("left", 2): DoubleClick,
    ("left", 3): TripleClick,
    ("right", 1): RightClick,
    ("middle", 1): MiddleClick,
}


def simplify_action(action: Any) -> Any:
    """The simplest action that says the same: a click, drag or scroll where nothing beyond it is asked for."""
    match action:
        case MouseClick(point=Point() as point, keys=()) if cls := _SIMPLE_CLICKS.get((action.button, action.clicks)):
            return cls(x=point.x, y=point.y)
        case DragPath(points=(start, end), keys=()):
            return Drag(start=start, end=end, button=action.button)
        case ScrollBy(unit="notches", keys=()) if not (action.dx and action.dy):
            way: Direction = ("left" if action.dx < 0 else "right") if action.dx else "up" if action.dy < 0 else "down"
            return Scroll(point=action.point, direction=way, amount=abs(action.dx or action.dy))
    return action


def scroll_notches(action: ScrollBy) -> tuple[int, int]:
    """How far a wheel of notches turns for it, to the right and down."""
    if action.unit == "notches":
        return action.dx, action.dy
    return _pixels_to_notches(action.dx), _pixels_to_notches(action.dy)


def _pixels_to_notches(pixels: int) -> int:
    if not pixels:
        return 0
    count = min(max(1, round(abs(pixels) / PIXELS_PER_NOTCH)), MAX_NOTCHES)
    return count if pixels > 0 else -count
