"""Recorded input as actions of the vocabulary: clicks, drags, scrolls, typed text and hotkeys. Pure functions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import dist
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from protocol.actions.inputs import (
    MAX_NOTCHES,
    MAX_TEXT,
    DragPath,
    MouseClick,
    Point,
    PressKeys,
    ScrollBy,
    TypeText,
    simplify_action,
)
from protocol.actions.keys import MODIFIERS, find_key
from protocol.trajectory.elements import PointedElement

CLICK_PIXELS = 5.0
"""How far the pointer may move while a button is down, or between two clicks of a double click."""
STRAIGHT_PIXELS = 4.0
"""How far a drag's path may be from a straight line that stands for it."""
MAX_DRAG_POINTS = 64
DOUBLE_CLICK_NS = 400_000_000
SCROLL_PAUSE_NS = 700_000_000
TYPING_PAUSE_NS = 2_000_000_000
COMPOSING_PAUSE_NS = 10_000_000_000
"""Longest pause between two keys of an input method, while a person looks for a character."""
MAX_CLICKS = 3
BUTTONS: dict[int, Any] = {1: "left", 2: "middle", 3: "right", 8: "back", 9: "forward"}
DRAG_BUTTONS = ("left", "middle", "right")
LONE_MODIFIERS = ("super", "alt")
"""Modifiers that do something when they are pressed alone."""


class _Event(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    t_ns: int = Field(ge=0)
    t_error_ns: int = Field(default=0, ge=0)


class _Input(_Event):
    x: int
    y: int
    modifiers: tuple[Literal["ctrl", "shift", "alt", "super"], ...] = ()


class PointerEvent(_Input):
    """The pointer moved, or a button went down or up."""

    kind: Literal["pointer.move", "pointer.down", "pointer.up"]
    button: int = 0
    element: PointedElement | None = None
    """The element under the pointer, if its program reported it."""


class WheelEvent(_Input):
    """A wheel turned by one notch."""

    kind: Literal["scroll"]
    dx: int
    dy: int


class KeyEvent(_Input):
    """A key went down or up."""

    kind: Literal["key.down", "key.up"]
    key: str
    text: str = ""


class InsertionEvent(_Event):
    """A program reported that this text was typed into it, by keys or by an input method that took the keys."""

    kind: Literal["text.inserted"]
    text: Annotated[str, StringConstraints(min_length=1, max_length=500)]


class ScreenshotEvent(_Event):
    """A picture of the screen was taken, `damaged_ns` after it had changed."""

    kind: Literal["screen.frame"]
    sha256: str
    damaged_ns: int = 0
    app: str = ""


class MarkEvent(_Event):
    """A stretch of which nothing is stored begins or ends, sound is missing, or the clocks were compared."""

    kind: Literal["gap.begin", "gap.end", "audio.gap", "clock"]


class NoteEvent(_Event):
    """The person marked a moment (`mark`), or that they used help from outside (`help`)."""

    kind: Literal["mark", "help"]
    note: Annotated[str, StringConstraints(max_length=500)] = ""


RecordedEvent = Annotated[
    PointerEvent | WheelEvent | KeyEvent | InsertionEvent | ScreenshotEvent | MarkEvent | NoteEvent,
    Field(discriminator="kind"),
]


@dataclass(frozen=True)
class RecordedAct:
    """One action, and from when to when it was done (monotonic nanoseconds)."""

    action: Any
    started_ns: int
    ended_ns: int
    error_ns: int
    element: PointedElement | None = None
    """What was under the pointer when a button went down."""


@dataclass(frozen=True)
class Press:
    """A button that is down, and where the pointer went since."""

    event: PointerEvent
    path: tuple[PointerEvent, ...] = ()


def find_acts(events: Iterable[RecordedEvent]) -> list[RecordedAct]:
    """The acts of one stretch without a gap, in order. Keys that mean nothing to the vocabulary are left out."""
    acts: list[RecordedAct] = []
    for act in compose_text(_single_acts(events)):
        joined = _join(acts[-1], act) if acts else None
        if joined is None:
            acts.append(act)
        else:
            acts[-1] = joined
    return [replace(act, action=simplify_action(act.action)) for act in acts]


def compose_text(items: Iterable[RecordedAct | InsertionEvent]) -> Iterator[RecordedAct]:
    """Put what an input method wrote in place of the keys that it took.

    Keys wait until a program tells of their text. What it tells is what the keys write, or a composition: it has
    characters that none of the waiting keys writes, and they were its keys (letters, candidates, corrections).
    """
    waiting: list[RecordedAct] = []
    for item in items:
        if isinstance(item, InsertionEvent):
            if _is_composed(waiting, item):
                yield RecordedAct(TypeText(text=item.text), waiting[0].started_ns, item.t_ns, item.t_error_ns)
                waiting = []
            else:
                written = _written_keys(waiting, item.text)
                yield from waiting[:written]
                waiting = waiting[written:]
            continue
        if waiting and (not _may_compose(item) or item.started_ns - waiting[-1].ended_ns > COMPOSING_PAUSE_NS):
            yield from waiting
            waiting = []
        if _may_compose(item):
            waiting.append(item)
        else:
            yield item
    yield from waiting


def _may_compose(act: RecordedAct) -> bool:
    """Whether an input method may take it: a text, or a key without modifiers that corrects or chooses."""
    match act.action:
        case TypeText():
            return True
        case PressKeys(keys=(key,)):
            return key not in MODIFIERS
    return False


def _is_composed(waiting: Sequence[RecordedAct], inserted: InsertionEvent) -> bool:
    keys = {char for act in waiting if isinstance(act.action, TypeText) for char in act.action.text}
    return bool(keys) and any(not char.isascii() and char not in keys for char in inserted.text)


def _written_keys(waiting: Sequence[RecordedAct], text: str) -> int:
    """How many of the keys wrote this text, from the first one on; none where they did not write it."""
    written = ""
    for count, act in enumerate(waiting, start=1):
        written += act.action.text if isinstance(act.action, TypeText) else ""
        if written.endswith(text):
            return count
    return 0


def _single_acts(events: Iterable[RecordedEvent]) -> Iterator[RecordedAct | InsertionEvent]:
    """Every single click, drag, notch and key, and the text insertions that programs reported."""
    pressed: dict[int, Press] = {}
    lone: KeyEvent | None = None
    for event in events:
        if isinstance(event, PointerEvent):
            act = _pointer_act(event, pressed)
        elif isinstance(event, WheelEvent):
            act = _act(
                event, ScrollBy(point=_point(event), dx=event.dx, dy=event.dy, unit="notches", keys=event.modifiers)
            )
        elif isinstance(event, InsertionEvent):
            yield event
            continue
        elif isinstance(event, KeyEvent):
            act = _key_act(event, lone)
            lone = event if event.kind == "key.down" and event.key in LONE_MODIFIERS else None
        else:
            continue
        if act is not None:
            lone = None
            yield act


def _pointer_act(event: PointerEvent, pressed: dict[int, Press]) -> RecordedAct | None:
    """Follow the buttons in `pressed`; the act that the release of one ends."""
    if event.kind == "pointer.move":
        for number, press in pressed.items():
            pressed[number] = replace(press, path=(*press.path, event))
        return None
    if event.kind == "pointer.down":
        pressed[event.button] = Press(event)
        return None
    begun = pressed.pop(event.button, None)
    button = BUTTONS.get(event.button)
    if begun is None or button is None:
        return None
    keys = begun.event.modifiers
    path = [_point(one) for one in (begun.event, *begun.path, event)]
    if button not in DRAG_BUTTONS or all(_distance(path[0], one) <= CLICK_PIXELS for one in path):
        return _act(begun.event, MouseClick(point=path[0], button=button, keys=keys), event.t_ns)
    return _act(begun.event, DragPath(points=straighten(path), button=button, keys=keys), event.t_ns)


def _key_act(event: KeyEvent, lone: KeyEvent | None) -> RecordedAct | None:
    """What a key does: it writes, or is pressed with its modifiers; a modifier acts where it was pressed alone."""
    if event.key in MODIFIERS:
        if event.kind == "key.up" and lone is not None and lone.key == event.key:
            return _act(lone, PressKeys(keys=(event.key,)), event.t_ns)
        return None
    if event.kind == "key.up":
        return None
    if event.text and event.text.isprintable() and not {"ctrl", "alt", "super"} & set(event.modifiers):
        return _act(event, TypeText(text=event.text))
    key = find_key(event.key) if event.key else None
    return None if key is None else _act(event, PressKeys(keys=(*event.modifiers, key)))


def _join(one: RecordedAct, other: RecordedAct) -> RecordedAct | None:
    """Both as one act, where people mean one."""
    pause = other.started_ns - one.ended_ns
    match one.action, other.action:
        case MouseClick() as first, MouseClick() as second:
            same = (first.button, first.keys) == (second.button, second.keys) and _near(first.point, second.point)
            near_in_time = other.started_ns - one.started_ns <= DOUBLE_CLICK_NS * first.clicks
            if same and near_in_time and first.clicks < MAX_CLICKS and first.button == "left":
                return _joined(one, other, first.model_copy(update={"clicks": first.clicks + 1}))
        case ScrollBy() as first, ScrollBy() as second:
            dx, dy = first.dx + second.dx, first.dy + second.dy
            same = first.keys == second.keys and first.dx * second.dx + first.dy * second.dy > 0
            if same and pause <= SCROLL_PAUSE_NS and _near(first.point, second.point) and abs(dx + dy) <= MAX_NOTCHES:
                return _joined(one, other, first.model_copy(update={"dx": dx, "dy": dy}))
        case TypeText(text=before), TypeText(text=after):
            if pause <= TYPING_PAUSE_NS and not before.endswith("\n") and len(before) + len(after) <= MAX_TEXT:
                return _joined(one, other, TypeText(text=before + after))
        case TypeText(text=before), PressKeys(keys=("enter",)):
            if pause <= TYPING_PAUSE_NS and not before.endswith("\n") and len(before) < MAX_TEXT:
                return _joined(one, other, TypeText(text=before + "\n"))
    return None


def straighten(path: list[Point]) -> tuple[Point, ...]:
    """A path with the fewest of its points that stay near it (Douglas and Peucker 1973), at most 64."""
    points = _straight(path)
    while len(points) > MAX_DRAG_POINTS:
        points = [*points[:-1:2], points[-1]]
    return tuple(points)


def _straight(path: list[Point]) -> list[Point]:
    """Split at the farthest point, with a stack instead of recursion: paths of hands have thousands of points."""
    chosen, pending = {0, len(path) - 1}, [(0, len(path) - 1)]
    while pending:
        first, last = pending.pop()
        inner = range(first + 1, last)
        farthest = max(inner, key=lambda place: _off_line(path[place], path[first], path[last]), default=None)
        if farthest is not None and _off_line(path[farthest], path[first], path[last]) > STRAIGHT_PIXELS:
            chosen.add(farthest)
            pending += [(first, farthest), (farthest, last)]
    return [path[place] for place in sorted(chosen)]


def _off_line(point: Point, begin: Point, end: Point) -> float:
    """How far a point is from the line between two others, or from the first where they are one."""
    length = _distance(begin, end)
    if not length:
        return _distance(point, begin)
    across = (end.x - begin.x) * (begin.y - point.y) - (begin.x - point.x) * (end.y - begin.y)
    along = (point.x - begin.x) * (end.x - begin.x) + (point.y - begin.y) * (end.y - begin.y)
    if not 0 <= along <= length * length:
        return min(_distance(point, begin), _distance(point, end))
    return abs(across) / length


def _distance(one: Point, other: Point) -> float:
    return dist((one.x, one.y), (other.x, other.y))


def _near(one: Point | None, other: Point | None) -> bool:
    return one is not None and other is not None and _distance(one, other) <= CLICK_PIXELS


def _point(event: _Input) -> Point:
    return Point(x=event.x, y=event.y)


def _act(event: _Input, action: Any, ended_ns: int | None = None) -> RecordedAct:
    element = event.element if isinstance(event, PointerEvent) else None
    return RecordedAct(action, event.t_ns, event.t_ns if ended_ns is None else ended_ns, event.t_error_ns, element)


def _joined(one: RecordedAct, other: RecordedAct, action: Any) -> RecordedAct:
    error_ns = max(one.error_ns, other.error_ns)
    return RecordedAct(action, one.started_ns, other.ended_ns, error_ns, one.element)


def split_at_gaps(events: Iterable[RecordedEvent]) -> Iterator[list[RecordedEvent]]:
    """Stretches of events without a gap between them, in order of time."""
    stretch: list[RecordedEvent] = []
    for event in sorted(events, key=lambda one: one.t_ns):
        if event.kind in ("gap.begin", "gap.end"):
            yield stretch
            stretch = []
        else:
            stretch.append(event)
    yield stretch
