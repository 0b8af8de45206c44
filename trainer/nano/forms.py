"""Drawn tasks of several acts, at any of their steps: forms to fill in, lists to tick, links in running text.

How far an attempt has come is drawn first; what stands on the screen, what was done and what comes next follow from it.
"""

import string
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from trainer.nano.fonts import fonts
from trainer.nano.screens import (
    GAP,
    UNTOUCHED,
    Kind,
    Page,
    Pen,
    Screen,
    State,
    Widget,
    drawn_on,
    place_find,
    scattered,
    size_of,
    widget_draw,
)
from trainer.nano.words import label_draw
from vocabulary.actions import Action, Click, Drag, TypeText

ENDS = ("Submit", "Submit", "Login", "OK", "Search", "Send", "Done", "Save", "Enter")
"""What buttons that end a form are mostly called."""
STRINGS = 0.5
"""The share of typed texts and of lists that are letters at random."""
JOINED = 0.2
"""The share of typed texts that are like names of users, addresses and passwords."""
FIELDS = ('the "{}" field', 'the field "{}"', "{}", "the {} field", '"{}"')
TRIES = 12


@dataclass
class Sentence:
    """An instruction in the making: its text, and at which of its bytes labels and texts to type begin."""

    text: str = ""
    labels: list[tuple[int, str]] = field(default_factory=list)
    texts: list[int] = field(default_factory=list)

    def say(self, form: str, words: str, *, typed: bool = False) -> None:
        """Add a form with words in its place."""
        at = len((self.text + form[: form.index("{}")]).encode())
        self.text += form.replace("{}", words)
        self.labels.append((at, words))
        if typed:
            self.texts.append(at)


@dataclass(frozen=True)
class Wanted:
    """What is asked for on a screen, what was done, and what comes next."""

    sentence: str
    labels: tuple[tuple[int, str], ...]
    """What of it is looked for or typed, and at which of its bytes that begins."""
    done: tuple[Action, ...]
    act: Click | TypeText | Drag
    widget: int | None
    """Which one is clicked or dragged."""
    text_at: int | None = None
    """At which byte of the sentence begins what is typed."""
    ended: int | None = None
    """Which widget a drag ends at."""


Layout = Callable[[Random, Page, bool], tuple[Screen, Wanted] | None]


def form_draw(random: Random, page: Page, kept: bool) -> tuple[Screen, Wanted] | None:
    """One to three fields of which some are filled in, and a button; None where no room was found."""
    count = random.choice((1, 1, 1, 2, 2, 3))
    asked = random.randint(1, min(2, count))
    acts = random.randint(0, 2 * asked)
    texts = [text_draw(random, kept=kept) for _ in range(asked)]
    focus = acts // 2 if acts % 2 else random.choice((acts // 2 - 1, acts // 2 - 1, NOBODY))
    states = [
        State(text=texts[number] if number < acts // 2 else "", secret=random.random() < 0.25, focused=number == focus)
        for number in range(count)
    ]
    screen = drawn_on(random, page, lambda pen: _form(pen, page, states, kept))
    if not screen.widgets:
        return None
    fields, button = screen.widgets[:asked], screen.widgets[count]
    sentence = _filling(random, [one.label for one in fields], texts)
    if acts == 2 * asked or random.random() < 0.6:
        said = button.label.lower() if random.random() < 0.2 else button.label
        sentence.say(random.choice((" and press {}", " and click {}", ' and press "{}"', ", then click {}")), said)
    sentence.text += "." if random.random() < 0.8 else ""
    done = list[Action]()
    for one, text in zip(fields, texts, strict=True):
        done += _click(one), TypeText(text=text)
    which, typing = divmod(acts, 2)
    if typing:
        return screen, _wanted(sentence, done[:acts], TypeText(text=texts[which]), None, sentence.texts[which])
    number = count if which == asked else which
    return screen, _wanted(sentence, done[:acts], _click(screen.widgets[number]), number)


def _form(pen: Pen, page: Page, states: list[State], kept: bool) -> list[Widget]:
    """The fields, a button, and perhaps more; nothing where no room was found."""
    random, widgets = pen.random, list[Widget]()
    few = [random.choice(fonts()) for _ in range(2)]
    for state in states:
        for _ in range(TRIES):
            label = "" if len(states) == 1 and random.random() < 0.5 else label_draw(random, kept=kept)
            if place_find(pen, page, widgets, ("field", label, random.choice(few)), state):
                break
        else:
            return []
    for _ in range(TRIES):
        label = random.choice(ENDS) if not kept and random.random() < 0.6 else label_draw(random, kept=kept)
        if place_find(pen, page, widgets, ("button", label, random.choice(few))):
            return scattered(pen, page, widgets, kept=kept) if random.random() < 0.5 else widgets
    return []


def text_only(random: Random) -> tuple[Wanted, Page]:
    """A step of a form at which something is typed, and the size of its screen: how letters are copied can be learned
    without looking at any."""
    size, count = random.choice(((336, 252), (252, 336))), random.randint(1, 2)
    labels = ["" if count == 1 and random.random() < 0.5 else label_draw(random) for _ in range(count)]
    texts, which = [text_draw(random, kept=False) for _ in range(count)], random.randrange(count)
    sentence, done = _filling(random, labels, texts), list[Action]()
    sentence.text += random.choice((" and press Submit.", " and press login.", "."))
    for text in texts[: which + 1]:
        done += Click(x=random.randrange(size[0]), y=random.randrange(size[1])), TypeText(text=text)
    return _wanted(sentence, done[:-1], TypeText(text=texts[which]), None, sentence.texts[which]), size


def list_draw(random: Random, page: Page, kept: bool) -> tuple[Screen, Wanted] | None:
    """Lines with boxes, of which some are to be ticked and the first of them are, and a button."""
    kind: Kind = random.choice(("checkbox", "checkbox", "radio"))
    labels = list(
        dict.fromkeys(
            list_label(random, kept) if random.random() < STRINGS else label_draw(random, kept=kept)
            for _ in range(random.randint(2, 9))
        )
    )
    wished = 1 if kind == "radio" else random.choice((0, 1, 1, 2, 2, 3, 3, 4))
    wished = min(wished, len(labels))
    chosen = sorted(random.sample(range(len(labels)), wished))
    acts = random.choice((0, random.randint(0, wished), wished))
    blue = random.random() < 0.5

    def draw(pen: Pen) -> list[Widget]:
        font, widgets = random.choice([one for one in fonts() if one.height < 22]), list[Widget]()
        pitch, left, top = max(14, font.height) + random.randint(0, 6), random.randint(2, 30), random.randint(2, 70)
        for number, label in enumerate(labels):
            size = size_of(random, kind, label, font)
            if left + size[0] > page[0] or top + size[1] > page[1] - 2 * pitch:
                return []
            state = State(ticked=number in chosen[:acts], focused=blue)
            widgets.append(widget_draw(pen, (kind, label, font), (left, top), size, state))
            top += pitch
        label = random.choice(ENDS) if not kept and random.random() < 0.8 else label_draw(random, kept=kept)
        size = size_of(random, "button", label, font)
        if left + size[0] > page[0] or top + size[1] > page[1] or label in labels:
            return []
        widgets.append(widget_draw(pen, ("button", label, font), (left, top + random.randint(0, 4)), size, UNTOUCHED))
        return widgets

    screen = drawn_on(random, page, draw)
    if not screen.widgets:
        return None
    names, sentence = [labels[number] for number in chosen], Sentence(random.choice(("Select ", "Check ", "Tick ")))
    random.shuffle(names)
    quoted = '"{}"' if random.random() < 0.3 else "{}"
    for number, name in enumerate(names):
        sentence.say((", " if number else "") + quoted, name)
    sentence.text += "" if names else "nothing"
    sentence.say(random.choice((" and click {}.", " and press {}.")), screen.widgets[-1].label)
    done: list[Action] = [_click(screen.widgets[number]) for number in chosen[:acts]]
    number = len(screen.widgets) - 1 if acts == wished else chosen[acts]
    return screen, _wanted(sentence, done, _click(screen.widgets[number]), number)


def paragraph_draw(random: Random, page: Page, kept: bool) -> tuple[Screen, Wanted] | None:
    """Running text, some words of which are links."""
    share = random.uniform(0.1, 0.4)

    def draw(pen: Pen) -> list[Widget]:
        font, widgets = random.choice([one for one in fonts() if one.height < 22]), list[Widget]()
        left, top = random.randint(2, 14), random.randint(2, 60)
        right, lines, across = page[0] - random.randint(2, 20), random.randint(3, 9), left
        while lines:
            word = label_draw(random, kept=kept).split()[0].lower() + random.choice(("", "", "", "", ",", "."))
            wide, high = size_of(random, "text", word, font)
            if across + wide > right:
                across, top, lines = left, top + high + 1, lines - 1
            if top + high > page[1] - GAP or left + wide > right:
                break
            if lines:
                kind: Kind = "link" if random.random() < share else "text"
                widgets.append(widget_draw(pen, (kind, word, font), (across, top), (wide, high)))
            across += wide + round(font.bounds(" ")[-1])
        return widgets

    screen = drawn_on(random, page, draw)
    words = [widget.label for widget in screen.widgets]
    once = [
        number
        for number, widget in enumerate(screen.widgets)
        if widget.kind == "link" and words.count(widget.label) == 1
    ]
    if not once:
        return None
    number, sentence = random.choice(once), Sentence()
    sentence.say(random.choice(('Click on the link "{}".', 'Click the link "{}".', "Click on {}.")), words[number])
    return screen, _wanted(sentence, [], _click(screen.widgets[number]), number)


LAYOUTS: tuple[Layout, ...] = (form_draw, form_draw, form_draw, list_draw, list_draw, paragraph_draw)
"""One that stands here twice is drawn twice as often."""
NOBODY = -1


def task_draw(random: Random, page: Page, *, kept: bool = False) -> tuple[Screen, Wanted]:
    """A screen of one of these kinds."""
    while (made := random.choice(LAYOUTS)(random, page, kept)) is None:
        pass
    return made


def text_draw(random: Random, *, kept: bool) -> str:
    """What may be asked to be typed."""
    if kept:
        return label_draw(random, kept=True)
    drawn = random.random()
    return (
        list_label(random, kept)
        if drawn < STRINGS
        else joined(random)
        if drawn < STRINGS + JOINED
        else label_draw(random)
    )


def joined(random: Random) -> str:
    """Two or three words with a sign between them: `m.farouk`, `kaya.y@example.org`, `Stone+River5`."""
    text = label_draw(random).split()[0]
    for _ in range(random.choice((1, 1, 2))):
        text += random.choice("..@@-_+!&?") + label_draw(random).split()[0]
    text += str(random.randint(0, 99)) if random.random() < 0.3 else ""
    return text.lower() if random.random() < 0.5 else text


def list_label(random: Random, kept: bool) -> str:
    """Letters and digits at random; where words are kept for measuring, one of those."""
    if kept:
        return label_draw(random, kept=True)
    return "".join(random.choices(string.ascii_letters + string.digits, k=random.randint(1, 7)))


def _filling(random: Random, labels: list[str], texts: list[str]) -> Sentence:
    """`Type "…" into the field "…" and "…" into …`"""
    sentence, verb = Sentence(), random.choice(("Enter", "Enter", "Type", "Write"))
    into = random.choice((" into ", " in ", " into "))
    form = random.choice(FIELDS)
    first = len(texts) > 1 and random.random() < 0.5
    for number, (label, text) in enumerate(zip(labels, texts, strict=True)):
        sentence.text += f"{verb} " if not number else " and "
        if first:
            sentence.say("the {} ", label.lower() if random.random() < 0.5 else label)
        sentence.say('"{}"', text, typed=True)
        if not label:
            sentence.text += into + random.choice(("the text field", "the textbox", "the field"))
        elif not first:
            sentence.say(into + form, label)
    if first:
        sentence.text += random.choice((" into the text fields", "", " into the fields"))
    return sentence


def _wanted(
    sentence: Sentence, done: list[Action], act: Click | TypeText, widget: int | None, text_at: int | None = None
) -> Wanted:
    return Wanted(sentence.text, tuple(sentence.labels), tuple(done), act, widget, text_at)


def _click(widget: Widget) -> Click:
    x, y = map(round, widget.point)
    return Click(x=x, y=y)
