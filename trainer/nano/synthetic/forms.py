"""Drawn tasks of several acts, at any of their steps: forms to fill in, lists to tick, links in running text.

How far an attempt has come is drawn first; what stands on the screen, what was done and what comes next follow from it.
"""

import string
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from protocol.actions.types import Action, Click, Drag, TypeText
from trainer.nano.synthetic.fonts import fonts
from trainer.nano.synthetic.labels import sample_label
from trainer.nano.synthetic.screens import (
    GAP,
    UNTOUCHED,
    DrawingContext,
    Kind,
    Page,
    Screen,
    Widget,
    WidgetState,
    draw_on_background,
    draw_widget,
    place_widget,
    scatter_widgets,
    widget_size,
)

ENDS = ("Submit", "Submit", "Login", "OK", "Search", "Send", "Done", "Save", "Enter")
"""What buttons that end a form are mostly called."""
STRINGS = 0.5
"""The share of typed texts and of lists that are letters at random."""
JOINED = 0.2
"""The share of typed texts that are like names of users, addresses and passwords."""
FIELDS = ('the "{}" field', 'the field "{}"', "{}", "the {} field", '"{}"')
TRIES = 12


@dataclass
class InstructionBuilder:
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
class NextAction:
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


Layout = Callable[[Random, Page, bool], tuple[Screen, NextAction] | None]


def draw_form(random: Random, page: Page, held_out: bool) -> tuple[Screen, NextAction] | None:
    """One to three fields of which some are filled in, and a button; None where no room was found."""
    count = random.choice((1, 1, 1, 2, 2, 3))
    field_count = random.randint(1, min(2, count))
    acts = random.randint(0, 2 * field_count)
    texts = [sample_text(random, held_out=held_out) for _ in range(field_count)]
    focus = acts // 2 if acts % 2 else random.choice((acts // 2 - 1, acts // 2 - 1, NO_WIDGET))
    states = [
        WidgetState(
            text=texts[number] if number < acts // 2 else "", secret=random.random() < 0.25, focused=number == focus
        )
        for number in range(count)
    ]
    screen = draw_on_background(random, page, lambda pen: _form(pen, page, states, held_out))
    if not screen.widgets:
        return None
    fields, button = screen.widgets[:field_count], screen.widgets[count]
    sentence = _fill_in_instruction(random, [one.label for one in fields], texts)
    if acts == 2 * field_count or random.random() < 0.6:
        button_name = button.label.lower() if random.random() < 0.2 else button.label
        sentence.say(
            random.choice((" and press {}", " and click {}", ' and press "{}"', ", then click {}")), button_name
        )
    sentence.text += "." if random.random() < 0.8 else ""
    done = list[Action]()
    for one, text in zip(fields, texts, strict=True):
        done += click_widget(one), TypeText(text=text)
    which, typing = divmod(acts, 2)
    if typing:
        return screen, _next_action(sentence, done[:acts], TypeText(text=texts[which]), None, sentence.texts[which])
    number = count if which == field_count else which
    return screen, _next_action(sentence, done[:acts], click_widget(screen.widgets[number]), number)


def _form(pen: DrawingContext, page: Page, states: list[WidgetState], held_out: bool) -> list[Widget]:
    """The fields, a button, and perhaps more; nothing where no room was found."""
    random, widgets = pen.random, list[Widget]()
    few = [random.choice(fonts()) for _ in range(2)]
    for state in states:
        for _ in range(TRIES):
            label = "" if len(states) == 1 and random.random() < 0.5 else sample_label(random, held_out=held_out)
            if place_widget(pen, page, widgets, ("field", label, random.choice(few)), state):
                break
        else:
            return []
    for _ in range(TRIES):
        label = (
            random.choice(ENDS) if not held_out and random.random() < 0.6 else sample_label(random, held_out=held_out)
        )
        if place_widget(pen, page, widgets, ("button", label, random.choice(few))):
            return scatter_widgets(pen, page, widgets, held_out=held_out) if random.random() < 0.5 else widgets
    return []


def draw_text_step(random: Random) -> tuple[NextAction, Page]:
    """A step of a form at which something is typed, and the size of its screen: how letters are copied can be learned
    without looking at any."""
    size, count = random.choice(((336, 252), (252, 336))), random.randint(1, 2)
    labels = ["" if count == 1 and random.random() < 0.5 else sample_label(random) for _ in range(count)]
    texts, which = [sample_text(random, held_out=False) for _ in range(count)], random.randrange(count)
    sentence, done = _fill_in_instruction(random, labels, texts), list[Action]()
    sentence.text += random.choice((" and press Submit.", " and press login.", "."))
    for text in texts[: which + 1]:
        done += Click(x=random.randrange(size[0]), y=random.randrange(size[1])), TypeText(text=text)
    return _next_action(sentence, done[:-1], TypeText(text=texts[which]), None, sentence.texts[which]), size


def draw_list(random: Random, page: Page, held_out: bool) -> tuple[Screen, NextAction] | None:
    """Lines with boxes, of which some are to be ticked and the first of them are, and a button."""
    kind: Kind = random.choice(("checkbox", "checkbox", "radio"))
    labels = list(
        dict.fromkeys(
            list_label(random, held_out) if random.random() < STRINGS else sample_label(random, held_out=held_out)
            for _ in range(random.randint(2, 9))
        )
    )
    wished = 1 if kind == "radio" else random.choice((0, 1, 1, 2, 2, 3, 3, 4))
    wished = min(wished, len(labels))
    chosen = sorted(random.sample(range(len(labels)), wished))
    acts = random.choice((0, random.randint(0, wished), wished))
    blue = random.random() < 0.5

    def draw(pen: DrawingContext) -> list[Widget]:
        font, widgets = random.choice([one for one in fonts() if one.height < 22]), list[Widget]()
        pitch, left, top = max(14, font.height) + random.randint(0, 6), random.randint(2, 30), random.randint(2, 70)
        for number, label in enumerate(labels):
            size = widget_size(random, kind, label, font)
            if left + size[0] > page[0] or top + size[1] > page[1] - 2 * pitch:
                return []
            state = WidgetState(ticked=number in chosen[:acts], focused=blue)
            widgets.append(draw_widget(pen, (kind, label, font), (left, top), size, state))
            top += pitch
        label = (
            random.choice(ENDS) if not held_out and random.random() < 0.8 else sample_label(random, held_out=held_out)
        )
        size = widget_size(random, "button", label, font)
        if left + size[0] > page[0] or top + size[1] > page[1] or label in labels:
            return []
        widgets.append(draw_widget(pen, ("button", label, font), (left, top + random.randint(0, 4)), size, UNTOUCHED))
        return widgets

    screen = draw_on_background(random, page, draw)
    if not screen.widgets:
        return None
    names, sentence = (
        [labels[number] for number in chosen],
        InstructionBuilder(random.choice(("Select ", "Check ", "Tick "))),
    )
    random.shuffle(names)
    quoted = '"{}"' if random.random() < 0.3 else "{}"
    for number, name in enumerate(names):
        sentence.say((", " if number else "") + quoted, name)
    sentence.text += "" if names else "nothing"
    sentence.say(random.choice((" and click {}.", " and press {}.")), screen.widgets[-1].label)
    done: list[Action] = [click_widget(screen.widgets[number]) for number in chosen[:acts]]
    number = len(screen.widgets) - 1 if acts == wished else chosen[acts]
    return screen, _next_action(sentence, done, click_widget(screen.widgets[number]), number)


def draw_paragraph(random: Random, page: Page, held_out: bool) -> tuple[Screen, NextAction] | None:
    """Running text, some words of which are links."""
    share = random.uniform(0.1, 0.4)

    def draw(pen: DrawingContext) -> list[Widget]:
        font, widgets = random.choice([one for one in fonts() if one.height < 22]), list[Widget]()
        left, top = random.randint(2, 14), random.randint(2, 60)
        right, lines, across = page[0] - random.randint(2, 20), random.randint(3, 9), left
        while lines:
            word = sample_label(random, held_out=held_out).split()[0].lower() + random.choice(
                ("", "", "", "", ",", ".")
            )
            wide, high = widget_size(random, "text", word, font)
            if across + wide > right:
                across, top, lines = left, top + high + 1, lines - 1
            if top + high > page[1] - GAP or left + wide > right:
                break
            if lines:
                kind: Kind = "link" if random.random() < share else "text"
                widgets.append(draw_widget(pen, (kind, word, font), (across, top), (wide, high)))
            across += wide + round(font.bounds(" ")[-1])
        return widgets

    screen = draw_on_background(random, page, draw)
    words = [widget.label for widget in screen.widgets]
    once = [
        number
        for number, widget in enumerate(screen.widgets)
        if widget.kind == "link" and words.count(widget.label) == 1
    ]
    if not once:
        return None
    number, sentence = random.choice(once), InstructionBuilder()
    sentence.say(random.choice(('Click on the link "{}".', 'Click the link "{}".', "Click on {}.")), words[number])
    return screen, _next_action(sentence, [], click_widget(screen.widgets[number]), number)


LAYOUTS: tuple[Layout, ...] = (draw_form, draw_form, draw_form, draw_list, draw_list, draw_paragraph)
"""An entry that is listed twice is drawn twice as often."""
NO_WIDGET = -1


def draw_task(random: Random, page: Page, *, held_out: bool = False) -> tuple[Screen, NextAction]:
    """A screen of one of these kinds."""
    while (made := random.choice(LAYOUTS)(random, page, held_out)) is None:
        pass
    return made


def sample_text(random: Random, *, held_out: bool) -> str:
    """What may be asked to be typed."""
    if held_out:
        return sample_label(random, held_out=True)
    chance = random.random()
    return (
        list_label(random, held_out)
        if chance < STRINGS
        else joined_words(random)
        if chance < STRINGS + JOINED
        else sample_label(random)
    )


def joined_words(random: Random) -> str:
    """Two or three words with a sign between them: `m.farouk`, `kaya.y@example.org`, `Stone+River5`."""
    text = sample_label(random).split()[0]
    for _ in range(random.choice((1, 1, 2))):
        text += random.choice("..@@-_+!&?") + sample_label(random).split()[0]
    text += str(random.randint(0, 99)) if random.random() < 0.3 else ""
    return text.lower() if random.random() < 0.5 else text


def list_label(random: Random, held_out: bool) -> str:
    """Letters and digits at random; where words are kept for measuring, one of those."""
    if held_out:
        return sample_label(random, held_out=True)
    return "".join(random.choices(string.ascii_letters + string.digits, k=random.randint(1, 7)))


def _fill_in_instruction(random: Random, labels: list[str], texts: list[str]) -> InstructionBuilder:
    """`Type "…" into the field "…" and "…" into …`"""
    sentence, verb = InstructionBuilder(), random.choice(("Enter", "Enter", "Type", "Write"))
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


def _next_action(
    sentence: InstructionBuilder,
    done: list[Action],
    act: Click | TypeText,
    widget: int | None,
    text_at: int | None = None,
) -> NextAction:
    return NextAction(sentence.text, tuple(sentence.labels), tuple(done), act, widget, text_at)


def click_widget(widget: Widget) -> Click:
    """A click on the widget's point, in whole pixels."""
    x, y = map(round, widget.point)
    return Click(x=x, y=y)
