"""What parsing costs and whether it ever raises: replies of every dialect, well formed, cut, mixed and mutated."""

import random
import time
from collections.abc import Callable, Iterator

from benchmarks.parts.figures import percentile
from vocabulary.actions import Action, Click, Drag, Finish, Point, PressKeys, RunCommand, Scroll, TypeText, Wait
from vocabulary.dialect import Dialect, Screen
from vocabulary.dialects import dialect_named, dialect_names

OUTPUTS = 10_000
SCREEN = Screen(width=1280, height=720)
SPLINTERS = (
    "Action:",
    "'",
    '"',
    ")",
    "(",
    "<point>",
    "</think>",
    "```",
    "\x00",
    "\\",
    "{",
    "}}",
    "=",
    "终",
    "\n",
    "9" * 40,
)


def measure() -> dict[str, object]:
    """Exceptions over all outputs, and the median microseconds of a well-formed one."""
    luck = random.Random(7)
    dialects = {name: dialect_named(name) for name in dialect_names()}
    spoken = {name: [text_of(dialect, action, luck) for action in actions(luck)] for name, dialect in dialects.items()}
    exceptions, well_formed = 0, []
    for number in range(OUTPUTS):
        dialect = dialects[luck.choice(sorted(dialects))]
        text = luck.choice(spoken[luck.choice(sorted(spoken)) if number % 5 == 0 else dialect.name])
        whole = number % 4 == 0
        if not whole:
            text = mutated(text, luck)
        began = time.perf_counter()
        try:
            dialect.parse(text, SCREEN)
        except Exception:  # noqa: BLE001 - that none is raised is what is counted
            exceptions += 1
        if whole:
            well_formed.append((time.perf_counter() - began) * 1e6)
    return {"parse_exceptions": exceptions, "parsed_outputs": OUTPUTS, "parser_us": percentile(well_formed, 0.5)}


def actions(luck: random.Random) -> Iterator[Action]:
    """Some of each kind a model says often."""

    def point() -> Point:
        return Point(x=luck.randrange(SCREEN.width), y=luck.randrange(SCREEN.height))

    for _ in range(40):
        yield Click(**point().model_dump())
        yield Drag(start=point(), end=point())
        yield Scroll(point=point(), direction="down", amount=luck.randint(1, 9))
        yield TypeText(text="".join(luck.choices("abc '\"\\\n终({", k=luck.randint(1, 40))))
        yield PressKeys(keys=("ctrl", luck.choice("abcxyz")))
        yield RunCommand(command="grep -rn 'x' . | head")
        yield Wait()
        yield Finish(answer="it's done")


def text_of(dialect: Dialect, action: Action, luck: random.Random) -> str:
    """A reply that says this action, or another one where the dialect cannot."""
    said = dialect.sayable(action) or Wait()
    return dialect.write("I look for it" * luck.randint(0, 20), said, SCREEN)


def mutated(text: str, luck: random.Random) -> str:
    """The same with one to four things gone wrong."""
    wrongs: tuple[Callable[[str, int], str], ...] = (
        lambda text, at: text[:at],
        lambda text, at: text[at:],
        lambda text, at: text[:at] + luck.choice(SPLINTERS) + text[at:],
        lambda text, at: text[:at] + text[at + 1 :],
        lambda text, at: text[:at] + text[at : at + 12] * 3 + text[at:],
        lambda text, at: text + text[at:],
    )
    for _ in range(luck.randint(1, 4)):
        text = luck.choice(wrongs)(text, luck.randrange(len(text) + 1))
    return text
