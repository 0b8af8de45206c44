"""Screens drawn from a seed: buttons, boxes, fields, links and text, with all that is to be known of them.

They are drawn at the size of a page and then scaled as a server scales a page, so that letters have its blur.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from PIL import Image, ImageDraw

from protocol.dialects.coordinates import smart_resize
from trainer.nano.synthetic.fonts import Font, fonts
from trainer.nano.synthetic.labels import sample_label

Kind = Literal["button", "checkbox", "radio", "field", "link", "text"]
Colour = tuple[int, int, int]
Page = tuple[int, int]
"""Width and height."""
PAGES = ((320, 240), (320, 240), (320, 240), (160, 210))
"""Sizes of pages: the bundled tasks' small one, and MiniWoB++'s. Both have as many tokens."""
GAP = 3
WHITE = (255, 255, 255)
LINKS = ((20, 60, 190), (140, 190, 255))
"""Of links on a light ground, and on a dark one."""
DOT = "\N{BULLET}"
TRIES = 40


@dataclass(frozen=True)
class TextLine:
    """One line of text: where each of its letters begins (and the last ends), and its highest and lowest stroke."""

    text: str
    bounds: tuple[float, ...]
    top: float
    bottom: float


@dataclass(frozen=True)
class WidgetState:
    """The state of a widget after some acts."""

    ticked: bool = False
    text: str = ""
    """What was typed into a field."""
    secret: bool = False
    """Whether dots are seen in its place."""
    focused: bool = False


UNTOUCHED = WidgetState()


@dataclass(frozen=True)
class Widget:
    """Something with a label that can be pointed at, in pixels of the scaled picture."""

    kind: Kind
    label: str
    box: tuple[float, float, float, float]
    """Left, top, right, bottom of all of it."""
    target: tuple[float, float, float, float]
    """Where a click counts."""
    writing: TextLine
    state: WidgetState
    content: TextLine | None = None
    """What is to be read in a field."""

    @property
    def point(self) -> tuple[float, float]:
        """The middle of where a click counts."""
        left, top, right, bottom = self.target
        return (left + right) / 2, (top + bottom) / 2

    def hit(self, x: float, y: float) -> bool:
        """Whether a click there counts."""
        left, top, right, bottom = self.target
        return left <= x <= right and top <= y <= bottom


@dataclass(frozen=True)
class Screen:
    """A picture as the model gets it, and what is in it."""

    image: Image.Image
    widgets: tuple[Widget, ...]


@dataclass(frozen=True)
class DrawingContext:
    """What a screen is drawn with."""

    brush: ImageDraw.ImageDraw
    ground: Colour
    random: Random


def draw_screen(random: Random, *, page: Page, dense: bool, held_out: bool = False) -> Screen:
    """A screen of a page's size; a dense one is full of writing, another has what a form has.

    With `kept`, all its labels are of words that no training sees.
    """
    return draw_on_background(
        random,
        page,
        lambda pen: _rows(pen, page, held_out) if dense else scatter_widgets(pen, page, [], held_out=held_out),
    )


def draw_on_background(random: Random, page: Page, draw: Callable[[DrawingContext], list[Widget]]) -> Screen:
    """What is drawn on a ground of some colour, as a server scales it."""
    width, height = page
    ground = sample_shade(random, light=random.random() < 0.85)
    image = Image.new("RGB", page, ground)
    widgets = draw(DrawingContext(ImageDraw.Draw(image), ground, random))
    rows, columns = smart_resize(height, width)
    scale = columns / width, rows / height
    scaled = image.resize((columns, rows), Image.Resampling.BICUBIC)
    return Screen(scaled, tuple(_scaled(widget, *scale) for widget in widgets))


def _rows(pen: DrawingContext, page: Page, held_out: bool) -> list[Widget]:
    """Line under line, each as full as can be."""
    random, widgets = pen.random, list[Widget]()
    top = random.randint(0, 6)
    while True:
        font, left, lowest = random.choice(fonts()), random.randint(0, 12), 0
        while True:
            kind = _kind(random, dense=True)
            label = sample_label(random, held_out=held_out)
            size = widget_size(random, kind, label, font)
            if top + size[1] > page[1]:
                return widgets
            if left + size[0] > page[0]:
                break
            widgets.append(draw_widget(pen, (kind, label, font), (left, top), size))
            left, lowest = left + size[0] + random.randint(3, 12), max(lowest, size[1])
        if lowest:
            top += lowest + random.randint(1, 5)


def scatter_widgets(pen: DrawingContext, page: Page, known: list[Widget], *, held_out: bool) -> list[Widget]:
    """Some widgets wherever there is room beside those that are known, no two of them called alike."""
    random, widgets = pen.random, list(known)
    wanted, few = random.randint(2, 10), [random.choice(fonts()) for _ in range(random.randint(1, 3))]
    for _ in range(TRIES):
        if len(widgets) >= wanted:
            break
        kind, label, font = _kind(random, dense=False), sample_label(random, held_out=held_out), random.choice(few)
        place_widget(pen, page, widgets, (kind, label, font))
    return widgets


def place_widget(
    pen: DrawingContext,
    page: Page,
    widgets: list[Widget],
    what: tuple[Kind, str, Font],
    state: WidgetState | None = None,
) -> bool:
    """Draw a widget, of this kind, label and font, where there is room, if there is and no other is called so."""
    (kind, label, font), random = what, pen.random
    size = widget_size(random, kind, label, font)
    room = page[0] - size[0] - 2 * GAP, page[1] - size[1] - 2 * GAP
    if min(room) < 0 or any(label.lower() == other.label.lower() for other in widgets):
        return False
    place = GAP + random.randint(0, room[0]), GAP + random.randint(0, room[1])
    if any(_near(place, size, other.box) for other in widgets):
        return False
    widgets.append(draw_widget(pen, what, place, size, state))
    return True


def _kind(random: Random, *, dense: bool) -> Kind:
    chance = random.random()
    if dense and chance < 0.45:
        return "text"
    return random.choice(("button", "button", "button", "checkbox", "link", "field"))


def widget_size(random: Random, kind: Kind, label: str, font: Font) -> tuple[int, int]:
    """Width and height of a widget with this label."""
    wide, high = round(font.bounds(label)[-1]) + 1, font.height
    match kind:
        case "button":
            return wide + random.randint(6, 24), high + random.randint(2, 10)
        case "checkbox" | "radio":
            return wide + 19, max(14, high)
        case "field":
            return wide + random.randint(45, 110), high + random.randint(2, 6)
        case "link" | "text":
            return wide, high


def draw_widget(
    pen: DrawingContext, what: tuple[Kind, str, Font], place: Page, size: Page, state: WidgetState | None = None
) -> Widget:
    """Draw a widget, of this kind, label and font, and say where everything of it is. Without a state it is as nobody
    has touched it, or a box is ticked by chance."""
    (kind, label, font), random, brush = what, pen.random, pen.brush
    (left, top), (wide, high) = place, size
    box = left, top, left + wide, top + high
    middle = top + (high - font.height) // 2
    text, ink, target, content = (left, middle), readable_colour(random, pen.ground), box, None
    match kind:
        case "button":
            fill = sample_shade(random, light=random.random() < 0.5)
            edge = readable_colour(random, fill) if random.random() < 0.5 else fill
            brush.rounded_rectangle((left, top, left + wide - 1, top + high - 1), random.randint(0, 5), fill, edge)
            text, ink = (left + (wide - round(font.bounds(label)[-1])) // 2, middle), readable_colour(random, fill)
        case "checkbox" | "radio":
            target = left, top + high // 2 - 7, left + 13, top + high // 2 + 6
            state = state or WidgetState(ticked=random.random() < 0.4)
            _box_draw(brush, target, kind, state)
            text = left + 18, middle
        case "field":
            target = left + round(font.bounds(label)[-1]) + (5 if label else 0), top, left + wide, top + high
            content = draw_field(brush, target, middle, font, state or UNTOUCHED)
        case "link":
            ink = LINKS[0] if sum(pen.ground) > 380 else LINKS[1]
            brush.line((left, middle + font.ascent + 1, left + wide - 1, middle + font.ascent + 1), ink)
        case "text":
            pass
    brush.text(text, label, fill=ink, font=font.face)
    return Widget(kind, label, box, target, text_line(label, font, text), state or UNTOUCHED, content)


def _box_draw(brush: ImageDraw.ImageDraw, box: tuple[int, int, int, int], kind: Kind, state: WidgetState) -> None:
    """What is ticked is filled, or has a white tick on blue."""
    left, top, right, bottom = box
    shape = brush.ellipse if kind == "radio" else brush.rectangle
    shape(box, WHITE, (90, 90, 90))
    if not state.ticked:
        return
    if state.focused and kind == "checkbox":
        brush.rectangle(box, (0, 117, 255))
        brush.line((left + 3, top + 7, left + 5, top + 9, left + 10, top + 4), WHITE, 2)
    else:
        shape((left + 3, top + 3, right - 3, bottom - 3), (30, 90, 200))


def draw_field(
    brush: ImageDraw.ImageDraw, box: tuple[int, int, int, int], middle: int, font: Font, state: WidgetState
) -> TextLine | None:
    """The frame is thick around what has the focus."""
    left, top, right, bottom = box
    edge, thick = ((20, 20, 20), 2) if state.focused else ((120, 120, 120), 1)
    brush.rectangle((left, top, right - 1, bottom - 1), WHITE, edge, thick)
    text = DOT * len(state.text) if state.secret else state.text
    end = left + 3 + round(font.bounds(text)[-1])
    brush.text((left + 3, middle), text, fill=(0, 0, 0), font=font.face)
    if state.focused:
        brush.line((end + 1, middle + 1, end + 1, middle + font.height - 2), (0, 0, 0))
    return text_line(text, font, (left + 3, middle)) if text else None


def text_line(text: str, font: Font, place: tuple[int, int]) -> TextLine:
    left, top = place
    return TextLine(text, tuple(left + bound for bound in font.bounds(text)), top, top + font.height)


def _near(place: tuple[int, int], size: tuple[int, int], box: tuple[float, float, float, float]) -> bool:
    (left, top), (wide, high) = place, size
    return left < box[2] + GAP and box[0] < left + wide + GAP and top < box[3] + GAP and box[1] < top + high + GAP


def sample_shade(random: Random, *, light: bool) -> Colour:
    low, high = (200, 255) if light else (20, 150)
    grey = random.randint(low, high)
    spread = 0 if random.random() < 0.4 else 55
    red, green, blue = (max(0, min(255, grey + random.randint(-spread, spread))) for _ in range(3))
    return red, green, blue


def readable_colour(random: Random, under: Colour) -> Colour:
    """A colour that can be read on another."""
    level = random.randint(0, 60)
    light = 0.3 * under[0] + 0.6 * under[1] + 0.1 * under[2] > 130
    shade = level if light else 255 - level
    return shade, shade, shade


def _scaled(widget: Widget, across: float, down: float) -> Widget:
    scale = across, down, across, down
    return replace(
        widget,
        box=_times(widget.box, scale),
        target=_times(widget.target, scale),
        writing=_scale_text_line(widget.writing, across, down),
        content=widget.content and _scale_text_line(widget.content, across, down),
    )


def _scale_text_line(writing: TextLine, across: float, down: float) -> TextLine:
    bounds = tuple(bound * across for bound in writing.bounds)
    return TextLine(writing.text, bounds, writing.top * down, writing.bottom * down)


def _times(
    box: tuple[float, float, float, float], scale: tuple[float, float, float, float]
) -> tuple[float, float, float, float]:
    left, top, right, bottom = (side * factor for side, factor in zip(box, scale, strict=True))
    return left, top, right, bottom
