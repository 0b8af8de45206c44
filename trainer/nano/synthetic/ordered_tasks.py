"""Several parts of one screen asked for in an order: which of them comes next is told by what was done before."""

from collections import Counter
from collections.abc import Sequence
from random import Random

from trainer.nano.synthetic.forms import InstructionBuilder, NextAction, click_widget
from trainer.nano.synthetic.screens import Widget

MOST = 3
"""How many are asked for at most."""
VERBS = ("Click", "Press", "Select", "Tick", "Take", "Open", "Touch", "First")
QUOTES = ("“{}”", "“{}”", "“{}”", '"{}"', "{}")
BETWEEN = (", then ", ", then ", " and then ", " and ", " and ", ", ", "; next ")
LAST = (" and ", ", then ", " and finally ")
ENDS = (".", ".", ", in this order.", ", one after another.", " and stop.")
BACKWARDS = (("Take ", " from "), ("Click ", " in "), ("Press ", " below "), ("Find ", " under "))
"""What is said first is done last."""


def uniquely_named(widgets: Sequence[Widget]) -> list[int]:
    """The numbers of those whose name no other has."""
    names = Counter(widget.label for widget in widgets)
    return [number for number, widget in enumerate(widgets) if names[widget.label] == 1]


def sample_ordered_task(random: Random, widgets: Sequence[Widget], able: Sequence[int]) -> NextAction:
    """Two or three of those that are able to be asked for by their names, by their numbers, of which the first were
    clicked. There must be two."""
    count = min(len(able), random.randint(2, MOST))
    chosen = random.sample(able, count)
    clicks = [click_widget(widgets[number]) for number in chosen]
    names = [widgets[number].label for number in chosen]
    sentence = _backwards(random, names) if count == 2 and random.random() < 0.2 else _forwards(random, names)
    done = random.randrange(count)
    return NextAction(sentence.text, tuple(sentence.labels), tuple(clicks[:done]), clicks[done], chosen[done])


def _forwards(random: Random, names: Sequence[str]) -> InstructionBuilder:
    sentence, quoted, between = (
        InstructionBuilder(f"{random.choice(VERBS)} "),
        random.choice(QUOTES),
        random.choice(BETWEEN),
    )
    for number, name in enumerate(names):
        last = number == len(names) - 1 and len(names) > 2
        sentence.text += (random.choice(LAST) if last and between == ", " else between) if number else ""
        sentence.say(quoted, name)
    sentence.text += random.choice(ENDS)
    return sentence


def _backwards(random: Random, names: Sequence[str]) -> InstructionBuilder:
    before, between = random.choice(BACKWARDS)
    sentence, quoted = InstructionBuilder(before), random.choice(QUOTES)
    sentence.say(quoted, names[-1])
    sentence.text += between
    sentence.say(quoted, names[0])
    sentence.text += "."
    return sentence
