"""What is asked for on a drawn screen, and what the policy says of where it is."""

from random import Random

from trainer.nano.screens import Kind, Screen, Widget

ASKED: dict[Kind, tuple[str, ...]] = {
    "button": (
        'Click the "{}" button.',
        'Click on the "{}" button.',
        'Press the button "{}".',
        "Click {}.",
        'Click "{}".',
        "Choose {}.",
        "Select {} and stop.",
    ),
    "checkbox": ('Check the "{}" checkbox.', "Select {}.", 'Tick the box "{}".', 'Check "{}".', "Choose {}."),
    "link": ('Click the link "{}".', "Click on {}.", 'Open "{}".', 'Follow the link "{}".'),
    "field": ('Click into the field "{}".', 'Click the "{}" field.', "Focus the field {}.", 'Go to the field "{}".'),
    "text": ('Click on the text "{}".', 'Click "{}".'),
}
ROWS, COLUMNS = ("top", "middle", "bottom"), ("left", "centre", "right")
PLACES = tuple(f'" is at the {row} {column}.' for row in ROWS for column in COLUMNS)


def asked(random: Random, widget: Widget) -> str:
    """A sentence that asks for a widget."""
    return random.choice(ASKED[widget.kind]).format(widget.label)


def thought(screen: Screen, widget: Widget) -> str:
    """Which widget is meant, and roughly where it is."""
    x, y = widget.point
    row = min(2, int(3 * y / screen.image.height))
    column = min(2, int(3 * x / screen.image.width))
    return f'"{widget.label}{PLACES[3 * row + column]}'
