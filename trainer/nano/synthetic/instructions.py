"""What is asked for on a drawn screen, and what the policy says before it acts."""

from random import Random
from typing import NamedTuple

from protocol.actions.types import Action, Click, DoubleClick, Drag, RightClick
from trainer.nano.synthetic.screens import Kind, Widget

REQUEST_TEMPLATES: dict[Kind, tuple[str, ...]] = {
    "button": (
        'Click the "{}" button.',
        'Click on the "{}" button.',
        'Press the button "{}".',
        "Click {}.",
        'Click "{}".',
        "Choose {}.",
        "Select {} and stop.",
        "Press “{}”.",
        "Click “{}”.",
    ),
    "checkbox": (
        'Check the "{}" checkbox.',
        "Select {}.",
        'Tick the box "{}".',
        'Check "{}".',
        "Choose {}.",
        "Tick “{}”.",
    ),
    "radio": ('Choose "{}".', "Select {}.", 'Take the option "{}".', "Choose “{}”."),
    "link": ('Click the link "{}".', "Click on {}.", 'Open "{}".', 'Follow the link "{}".', "Open “{}”."),
    "field": ('Click into the field "{}".', 'Click the "{}" field.', "Focus the field {}.", 'Go to the field "{}".'),
    "text": ('Click on the text "{}".', 'Click "{}".', "Select “{}”."),
}
ROWS, COLUMNS = ("top", "middle", "bottom"), ("left", "centre", "right")
PLACES = tuple(f"At the {row} {column}." for row in ROWS for column in COLUMNS)
ACTION_THOUGHTS = {
    "type_text": "I type.",
    "press_keys": "I press keys.",
    "scroll": "I scroll.",
    "wait": "I wait.",
    "finish": "It is done.",
}


class ClickRequest(NamedTuple):
    """A sentence, and at which of its bytes the label begins that is asked for."""

    sentence: str
    label_at: int


def request_widget(random: Random, widget: Widget) -> ClickRequest:
    """A sentence that asks for a widget."""
    form = random.choice(REQUEST_TEMPLATES[widget.kind])
    return ClickRequest(form.format(widget.label), len(form[: form.index("{}")].encode()))


def format_thought(action: Action, size: tuple[int, int]) -> str:
    """What is said before an act on a screen of this size: roughly where it is done, or what else is; one token, and
    nothing of others."""
    match action:
        case Click() | DoubleClick() | RightClick():
            return _place(action.x, action.y, size)
        case Drag():
            return _place(action.start.x, action.start.y, size)
        case _:
            return ACTION_THOUGHTS.get(action.kind, "")


def _place(x: int, y: int, size: tuple[int, int]) -> str:
    width, height = size
    return PLACES[3 * min(2, 3 * y // height) + min(2, 3 * x // width)]
