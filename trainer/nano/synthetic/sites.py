"""Drawn pages like a small site's: lines with something to press at their end, boards of cards, people to sign up.

What is asked for stands in one place, and what is done about it is done in another. None of their words is kept.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Literal

from protocol.actions.types import Action, Click, Drag, Point, TypeText
from trainer.nano.synthetic.fonts import Font, fonts
from trainer.nano.synthetic.forms import InstructionBuilder, NextAction, click_widget
from trainer.nano.synthetic.labels import sample_label
from trainer.nano.synthetic.screens import (
    Colour,
    DrawingContext,
    Page,
    Screen,
    Widget,
    WidgetState,
    draw_field,
    draw_on_background,
    draw_widget,
    readable_colour,
    sample_shade,
    text_line,
    widget_size,
)

LINES = (
    *("Switch “{}” over.", "Find “{}” and toggle it.", "“{}” should be the other way round."),
    *("Open “{}”.", "Save “{}”, whatever gets in the way.", "Put “{}” among those that are kept.", "Choose {}."),
    *("Take “{}” and send it.", "Reserve one for {}."),
)
MOVES = (
    ("Move the card “{}”", " to the column “{}”."),
    ("“{}” belongs", " into “{}”. Drag it there."),
    ("On the board, put “{}”", " into “{}”."),
    ("Drag {}", " to {}."),
)
PEOPLE = (
    ("Register {}", " with the e-mail address {}", " for the plan {}."),
    ("Sign up {}", " ({}).", " The plan is {}."),
    ("Send the form for a new member: {}", ", {}", ". Choose {}."),
    ("{}", " ({})", " wants {}."),
)
NAMES, MAILS = ("Name", "Full name", "Your name"), ("E-mail", "E-mail address", "Mail")
SENDING = ("Sign up", "Join", "Send", "Become a member", "Submit")
SAVING = ("Save", "Apply", "Keep", "Done")
Ending = Literal["switch", "button", "text", "nothing"]
ENDINGS: tuple[Ending, ...] = ("switch", "switch", "button", "button", "text", "text", "nothing")
"""What stands at the end of a line; one that stands here twice is drawn twice as often."""
SWITCH = 40, 20
EDGE = 4
Box = tuple[int, int, int, int]


def draw_lines(random: Random, page: Page) -> tuple[Screen, NextAction] | None:
    """Lines of a list, each with a switch, a button or a word at its end, perhaps beside places to go to. Where there
    is nothing to press, the line itself is pressed."""
    font, ending = _font(random), random.choice(ENDINGS)
    pressed, pitch = sample_label(random).split()[0], font.height + random.randint(5, 18)

    def draw(pen: DrawingContext) -> list[Widget]:
        widgets, left, top = list[Widget](), random.randint(4, 20), random.randint(EDGE, 70)
        if random.random() < 0.4:
            for number in range(random.randint(2, 5)):
                at = left, top + number * pitch, left + 76, top + (number + 1) * pitch
                widgets.append(_line(pen, at, font, _End("nothing")))
            left += 84
        for _ in range(random.randint(3, 7)):
            if top + pitch > page[1] - EDGE:
                break
            widgets.append(
                _line(pen, (left, top, page[0] - left % 20 - EDGE, top + pitch), font, _End(ending, pressed))
            )
            top += pitch
            pen.brush.line((left, top, page[0] - EDGE, top), sample_shade(random, light=random.random() < 0.5))
        size = widget_size(random, "button", label := random.choice(SAVING), font)
        if top + size[1] + 3 * EDGE < page[1] and random.random() < 0.5:
            widgets.append(draw_widget(pen, ("button", label, font), (left, top + 2 * EDGE), size))
        return widgets if all(_inside(widget, page) for widget in widgets) else []

    screen = draw_on_background(random, page, draw)
    if not _has_unique_labels(screen.widgets):
        return None
    number, sentence = random.randrange(len(screen.widgets)), InstructionBuilder()
    sentence.say(random.choice(LINES), screen.widgets[number].label)
    done = [click_widget(widget) for widget in random.sample(screen.widgets, random.choice((0, 0, 0, 1, 2)))]
    return screen, NextAction(
        sentence.text, tuple(sentence.labels), tuple(done), click_widget(screen.widgets[number]), number
    )


def draw_board(random: Random, page: Page) -> tuple[Screen, NextAction] | None:
    """Columns of cards, one of which is to be dragged to another column."""
    font, count, cards = _font(random), random.choice((3, 4, 4)), list[list[int]]()
    top, gap = random.randint(EDGE, 50), random.randint(2, 8)
    wide = (page[0] - 2 * EDGE) // count

    def draw(pen: DrawingContext) -> list[Widget]:
        heads = [
            _heading(pen, (EDGE + number * wide, top, EDGE + (number + 1) * wide - gap, top + font.height + 4), font)
            for number in range(count)
        ]
        widgets, cards[:] = list(heads), [[] for _ in heads]
        fill, edge = sample_shade(random, light=_light(pen.ground)), readable_colour(random, pen.ground)
        for head, own in zip(heads, cards, strict=True):
            left, lowest = round(head.box[0]), round(head.box[3]) + gap
            high = 2 * font.height + random.randint(4, 10)
            for _ in range(random.randint(1, 4)):
                if lowest + high > page[1] - EDGE:
                    break
                own.append(len(widgets))
                widgets.append(_card(pen, (left, lowest, left + wide - gap, lowest + high), font, (fill, edge)))
                lowest += high + gap
        return widgets if all(_inside(widget, page) for widget in widgets) and all(cards) else []

    screen = draw_on_background(random, page, draw)
    if not _has_unique_labels(screen.widgets):
        return None
    begun, ended = random.sample(range(count), 2)
    number, (first, second), sentence = random.choice(cards[begun]), random.choice(MOVES), InstructionBuilder()
    sentence.say(first, screen.widgets[number].label)
    sentence.say(second, screen.widgets[ended].label)
    start, end = (click_widget(screen.widgets[each]) for each in (number, ended))
    act = Drag(start=Point(x=start.x, y=start.y), end=Point(x=end.x, y=end.y + random.randint(8, 24)))
    return screen, NextAction(sentence.text, tuple(sentence.labels), (), act, number, ended=ended)


def draw_signup(random: Random, page: Page) -> tuple[Screen, NextAction] | None:
    """A name, an address and one of a few plans, in any order, and a button; words above a field say which it is."""
    font, order = _font(random), random.sample(("name", "mail", "plan"), 3)
    first, last = (sample_label(random).split()[0].lower() for _ in range(2))
    name, mail = f"{first.capitalize()} {last.capitalize()}", _mail(random, first, last)
    plans = [sample_label(random).split()[0].capitalize() for _ in range(random.choice((2, 3, 3)))]
    plan, texts = random.choice(plans), {"name": name, "mail": mail}
    steps = [(what, act) for what in order for act in (("press",) if what == "plan" else ("press", "type"))]
    at = random.randint(0, len(steps))
    done, (what, doing) = steps[:at], steps[at] if at < len(steps) else ("send", "press")
    places = dict[str, int]()

    def draw(pen: DrawingContext) -> list[Widget]:
        widgets, left, top = list[Widget](), random.randint(EDGE, 16), random.randint(EDGE, 36)
        for each in order:
            if each == "plan":
                places[each], across = len(widgets) + plans.index(plan), left
                for one in plans:
                    size, state = (
                        widget_size(random, "radio", one, font),
                        WidgetState(ticked=(each, "press") in done and one == plan),
                    )
                    widgets.append(draw_widget(pen, ("radio", one, font), (across, top), size, state))
                    across += size[0] + random.randint(4, 14)
                top += font.height + random.randint(6, 20)
                continue
            places[each] = len(widgets)
            state = WidgetState(
                text=texts[each] if (each, "type") in done else "", focused=(each, "press") in done[-1:]
            )
            high = 2 * font.height + 10
            label = random.choice(NAMES if each == "name" else MAILS)
            widgets.append(_field(pen, (left, top, page[0] - left, top + high), font, (label, state)))
            top += high + random.randint(2, 8)
        places["send"] = len(widgets)
        size = widget_size(random, "button", label := random.choice(SENDING), font)
        widgets.append(draw_widget(pen, ("button", label, font), (left, top), size))
        return widgets if all(_inside(widget, page) for widget in widgets) else []

    screen = draw_on_background(random, page, draw)
    if not _has_unique_labels(screen.widgets) or len(mail) > 30:
        return None
    sentence = InstructionBuilder()
    for form, text in zip(random.choice(PEOPLE), (name, mail, plan), strict=True):
        sentence.say(form, text, typed=text != plan)
    text_at = dict(zip(("name", "mail"), sentence.texts, strict=True))

    def act(which: str, deed: str) -> Click | TypeText:
        return TypeText(text=texts[which]) if deed == "type" else click_widget(screen.widgets[places[which]])

    before: tuple[Action, ...] = tuple(act(*each) for each in done)
    wanted, typing = act(what, doing), doing == "type"
    return screen, NextAction(
        sentence.text,
        tuple(sentence.labels),
        before,
        wanted,
        None if typing else places[what],
        text_at[what] if typing else None,
    )


LAYOUTS: tuple[Callable[[Random, Page], tuple[Screen, NextAction] | None], ...] = (
    *(draw_lines, draw_lines, draw_lines),
    *(draw_board, draw_board, draw_signup),
)
"""An entry that is listed twice is drawn twice as often."""


def draw_site(random: Random, page: Page) -> tuple[Screen, NextAction]:
    """A screen of one of these kinds."""
    while (made := random.choice(LAYOUTS)(random, page)) is None:
        pass
    return made


@dataclass(frozen=True)
class _End:
    """What stands at the end of a line."""

    kind: Ending
    text: str = ""


def _line(pen: DrawingContext, box: Box, font: Font, end: _End) -> Widget:
    """A label on the left and what is pressed on the right."""
    (left, top, right, bottom), random, label = box, pen.random, sample_label(pen.random)
    middle, wide = (top + bottom) // 2, round(font.bounds(end.text)[-1])
    line, content, target, ink = middle - font.height // 2, None, box, readable_colour(random, pen.ground)
    match end.kind:
        case "switch":
            target = right - SWITCH[0], middle - SWITCH[1] // 2, right, middle + SWITCH[1] // 2
            on = random.random() < 0.5
            pen.brush.rounded_rectangle(
                target, 10, sample_shade(random, light=not on), ink if random.random() < 0.3 else None
            )
            knob = right - SWITCH[1] if on else right - SWITCH[0]
            pen.brush.ellipse(
                (knob + 2, target[1] + 2, knob + SWITCH[1] - 2, target[3] - 2), sample_shade(random, light=on)
            )
        case "button":
            target = right - wide - 14, middle - font.height // 2 - 3, right, middle + font.height // 2 + 3
            pen.brush.rounded_rectangle(target, random.randint(0, 9), None, ink)
            pen.brush.text((right - wide - 7, line), end.text, fill=ink, font=font.face)
            content = text_line(end.text, font, (right - wide - 7, line))
        case "text":
            target = left, top, right - wide - 4, bottom
            pen.brush.text((right - wide, line), end.text, fill=ink, font=font.face)
            content = text_line(end.text, font, (right - wide, line))
        case "nothing":
            pass
    pen.brush.text((left, line), label, fill=ink, font=font.face)
    return Widget("button", label, box, target, text_line(label, font, (left, line)), WidgetState(), content)


def _heading(pen: DrawingContext, box: Box, font: Font) -> Widget:
    label = sample_label(pen.random).split()[0]
    pen.brush.text((box[0] + 3, box[1] + 2), label, fill=readable_colour(pen.random, pen.ground), font=font.face)
    return Widget("text", label, box, box, text_line(label, font, (box[0] + 3, box[1] + 2)), WidgetState())


def _card(pen: DrawingContext, box: Box, font: Font, colours: tuple[Colour, Colour]) -> Widget:
    """Two words, one below the other."""
    random, (fill, edge), (left, top) = pen.random, colours, (box[0] + 3, box[1] + 2)
    words = sample_label(random).split()[0], sample_label(random).split()[0].lower()
    pen.brush.rounded_rectangle(box, random.randint(0, 6), fill, edge)
    lines = []
    for number, word in enumerate(words):
        place = left, top + number * font.height
        pen.brush.text(place, word, fill=readable_colour(random, fill), font=font.face)
        lines.append(text_line(word, font, place))
    return Widget("text", " ".join(words), box, box, lines[0], WidgetState(), lines[1])


def _field(pen: DrawingContext, box: Box, font: Font, named_state: tuple[str, WidgetState]) -> Widget:
    """A label, and below it what is written into."""
    (left, top, right, bottom), (label, state) = box, named_state
    target = left, top + font.height + 2, right, bottom
    pen.brush.text((left, top), label, fill=readable_colour(pen.random, pen.ground), font=font.face)
    content = draw_field(pen.brush, target, target[1] + 3, font, state)
    return Widget("field", label, box, target, text_line(label, font, (left, top)), state, content)


def _mail(random: Random, first: str, last: str) -> str:
    """An address that is like a name, as most are."""
    who = random.choice(
        (f"{first}.{last}", f"{last}.{first[0]}", f"{first[0]}.{last}", f"{first}{random.randint(1, 99)}", first)
    )
    host = random.choice(("example", "example", sample_label(random).split()[0].lower()))
    return f"{who}@{host}.{random.choice(('org', 'net', 'com'))}"


def _font(random: Random) -> Font:
    return random.choice([one for one in fonts() if one.height < 18])


def _light(ground: Colour) -> bool:
    return sum(ground) > 380


def _inside(widget: Widget, page: Page) -> bool:
    """Whether all of it is on the page, and its words before what is pressed."""
    ends = [one.bounds[-1] for one in (widget.writing, widget.content) if one is not None]
    begun = widget.target[0] if widget.target[0] > widget.box[0] else widget.box[2]
    return widget.writing.bounds[-1] < begun and max(ends) < page[0] and widget.box[3] <= page[1]


def _has_unique_labels(widgets: tuple[Widget, ...]) -> bool:
    """Whether there are any, and no two are called alike."""
    return bool(widgets) and len({widget.label.lower() for widget in widgets}) == len(widgets)
