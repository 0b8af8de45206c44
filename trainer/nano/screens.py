"""Screens drawn from a seed: buttons, check boxes, fields, links and text, with all that is to be known of them.

They are drawn at the size of a page and then scaled as a server scales a page, so that letters have its blur.
"""

from dataclasses import dataclass
from random import Random
from typing import Literal

from PIL import Image, ImageDraw

from trainer.nano.fonts import Font, fonts
from trainer.nano.words import label_draw
from vocabulary.resize import smart_resize

Kind = Literal["button", "checkbox", "field", "link", "text"]
Colour = tuple[int, int, int]
PAGES = ((320, 240), (320, 240), (320, 240), (160, 210))
"""Sizes of pages: the bundled tasks' small one, and MiniWoB++'s. Both have as many tokens."""
GAP = 3
TRIES = 40


@dataclass(frozen=True)
class Writing:
    """One line of text: where each of its letters begins (and the last ends), and its highest and lowest stroke."""

    text: str
    bounds: tuple[float, ...]
    top: float
    bottom: float


@dataclass(frozen=True)
class Widget:
    """Something with a label that can be pointed at, in pixels of the scaled picture."""

    kind: Kind
    label: str
    box: tuple[float, float, float, float]
    """Left, top, right, bottom of all of it."""
    target: tuple[float, float, float, float]
    """Where a click counts."""
    writing: Writing

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
class Pen:
    """What a screen is drawn with."""

    brush: ImageDraw.ImageDraw
    ground: Colour
    random: Random


def screen_draw(random: Random, *, page: tuple[int, int], dense: bool, kept: bool = False) -> Screen:
    """A screen of a page's size; a dense one is full of writing, another has what a form has.

    With `kept`, all its labels are of words that no training sees.
    """
    width, height = page
    ground = _shade(random, light=random.random() < 0.85)
    image = Image.new("RGB", page, ground)
    pen = Pen(ImageDraw.Draw(image), ground, random)
    widgets = _rows(pen, page, kept) if dense else _scattered(pen, page, kept)
    rows, columns = smart_resize(height, width)
    scale = columns / width, rows / height
    scaled = image.resize((columns, rows), Image.Resampling.BICUBIC)
    return Screen(scaled, tuple(_scaled(widget, *scale) for widget in widgets))


def _rows(pen: Pen, page: tuple[int, int], kept: bool) -> list[Widget]:
    """Line under line, each as full as can be."""
    random, widgets = pen.random, list[Widget]()
    top = random.randint(0, 6)
    while True:
        font, left, lowest = random.choice(fonts()), random.randint(0, 12), 0
        while True:
            kind = _kind(random, dense=True)
            label = label_draw(random, kept=kept)
            size = _size(random, kind, label, font)
            if top + size[1] > page[1]:
                return widgets
            if left + size[0] > page[0]:
                break
            widgets.append(_drawn(pen, kind, label, font, (left, top), size))
            left, lowest = left + size[0] + random.randint(3, 12), max(lowest, size[1])
        if lowest:
            top += lowest + random.randint(1, 5)


def _scattered(pen: Pen, page: tuple[int, int], kept: bool) -> list[Widget]:
    """Some widgets wherever there is room, no two of them called alike."""
    random, widgets = pen.random, list[Widget]()
    wanted, few = random.randint(2, 10), [random.choice(fonts()) for _ in range(random.randint(1, 3))]
    for _ in range(TRIES):
        if len(widgets) >= wanted:
            break
        kind, label, font = _kind(random, dense=False), label_draw(random, kept=kept), random.choice(few)
        size = _size(random, kind, label, font)
        room = page[0] - size[0] - 2 * GAP, page[1] - size[1] - 2 * GAP
        if min(room) < 0 or any(label.lower() == other.label.lower() for other in widgets):
            continue
        place = GAP + random.randint(0, room[0]), GAP + random.randint(0, room[1])
        if not any(_near(place, size, other.box) for other in widgets):
            widgets.append(_drawn(pen, kind, label, font, place, size))
    return widgets


def _kind(random: Random, *, dense: bool) -> Kind:
    drawn = random.random()
    if dense and drawn < 0.45:
        return "text"
    return random.choice(("button", "button", "button", "checkbox", "link", "field"))


def _size(random: Random, kind: Kind, label: str, font: Font) -> tuple[int, int]:
    """Width and height of a widget with this label."""
    wide, high = round(font.bounds(label)[-1]) + 1, font.height
    match kind:
        case "button":
            return wide + random.randint(6, 24), high + random.randint(2, 10)
        case "checkbox":
            return wide + 19, max(14, high)
        case "field":
            return wide + random.randint(45, 110), high + random.randint(2, 6)
        case "link" | "text":
            return wide, high


def _drawn(pen: Pen, kind: Kind, label: str, font: Font, place: tuple[int, int], size: tuple[int, int]) -> Widget:
    """Draw a widget, and say where everything of it is."""
    random, brush, (left, top), (wide, high) = pen.random, pen.brush, place, size
    box = left, top, left + wide, top + high
    middle = top + (high - font.height) // 2
    text, ink, target = (left, middle), _ink(random, pen.ground), box
    match kind:
        case "button":
            fill = _shade(random, light=random.random() < 0.5)
            edge = _ink(random, fill) if random.random() < 0.5 else fill
            brush.rounded_rectangle((left, top, left + wide - 1, top + high - 1), random.randint(0, 5), fill, edge)
            text, ink = (left + (wide - round(font.bounds(label)[-1])) // 2, middle), _ink(random, fill)
        case "checkbox":
            target = left, top + high // 2 - 7, left + 13, top + high // 2 + 6
            brush.rectangle(target, (255, 255, 255), (90, 90, 90))
            if random.random() < 0.4:
                brush.rectangle((target[0] + 3, target[1] + 3, target[2] - 3, target[3] - 3), (30, 90, 200))
            text = left + 18, middle
        case "field":
            target = left + round(font.bounds(label)[-1]) + 5, top, left + wide, top + high
            brush.rectangle((*target[:2], target[2] - 1, target[3] - 1), (255, 255, 255), (120, 120, 120))
        case "link":
            ink = (20, 60, 190) if sum(pen.ground) > 380 else (140, 190, 255)
            brush.line((left, middle + font.ascent + 1, left + wide - 1, middle + font.ascent + 1), ink)
        case "text":
            pass
    brush.text(text, label, fill=ink, font=font.face)
    bounds = tuple(text[0] + bound for bound in font.bounds(label))
    return Widget(kind, label, box, target, Writing(label, bounds, text[1], text[1] + font.height))


def _near(place: tuple[int, int], size: tuple[int, int], box: tuple[float, float, float, float]) -> bool:
    (left, top), (wide, high) = place, size
    return left < box[2] + GAP and box[0] < left + wide + GAP and top < box[3] + GAP and box[1] < top + high + GAP


def _shade(random: Random, *, light: bool) -> Colour:
    low, high = (200, 255) if light else (20, 150)
    grey = random.randint(low, high)
    spread = 0 if random.random() < 0.4 else 55
    red, green, blue = (max(0, min(255, grey + random.randint(-spread, spread))) for _ in range(3))
    return red, green, blue


def _ink(random: Random, under: Colour) -> Colour:
    """A colour that can be read on another."""
    level = random.randint(0, 60)
    light = 0.3 * under[0] + 0.6 * under[1] + 0.1 * under[2] > 130
    shade = level if light else 255 - level
    return shade, shade, shade


def _scaled(widget: Widget, across: float, down: float) -> Widget:
    scale = across, down, across, down
    writing = widget.writing
    return Widget(
        widget.kind,
        widget.label,
        _times(widget.box, scale),
        _times(widget.target, scale),
        Writing(
            writing.text,
            tuple(bound * across for bound in writing.bounds),
            writing.top * down,
            writing.bottom * down,
        ),
    )


def _times(
    box: tuple[float, float, float, float], scale: tuple[float, float, float, float]
) -> tuple[float, float, float, float]:
    left, top, right, bottom = (side * factor for side, factor in zip(box, scale, strict=True))
    return left, top, right, bottom
