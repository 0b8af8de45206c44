"""What parsing costs and whether it ever raises: replies of every dialect, well formed, cut, mixed and mutated."""

import random
import time
from collections.abc import Callable, Iterator

from benchmarks.parts.figures import percentile
from protocol.actions.types import Action, Click, Drag, Finish, Point, PressKeys, RunCommand, Scroll, TypeText, Wait
from protocol.dialects.dialect import Dialect, ScreenSize
from protocol.dialects.families import get_dialect, list_dialects

OUTPUTS = 10_000
SCREEN = ScreenSize(width=1280, height=720)
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
    rng = random.Random(7)
    dialects = {name: get_dialect(name) for name in list_dialects()}
    spoken = {
        name: [render_reply(dialect, action, rng) for action in sample_actions(rng)]
        for name, dialect in dialects.items()
    }
    exceptions, well_formed = 0, []
    for number in range(OUTPUTS):
        dialect = dialects[rng.choice(sorted(dialects))]
        text = rng.choice(spoken[rng.choice(sorted(spoken)) if number % 5 == 0 else dialect.name])
        whole = number % 4 == 0
        if not whole:
            text = mutate(text, rng)
        began = time.perf_counter()
        try:
            dialect.parse(text, SCREEN)
        except Exception:  # noqa: BLE001 - that none is raised is what is counted
            exceptions += 1
        if whole:
            well_formed.append((time.perf_counter() - began) * 1e6)
    return {"parse_exceptions": exceptions, "parsed_outputs": OUTPUTS, "parser_us": percentile(well_formed, 0.5)}


def sample_actions(rng: random.Random) -> Iterator[Action]:
    """Some of each kind a model says often."""

    def point() -> Point:
        return Point(x=rng.randrange(SCREEN.width), y=rng.randrange(SCREEN.height))

    for _ in range(40):
        yield Click(**point().model_dump())
        yield Drag(start=point(), end=point())
        yield Scroll(point=point(), direction="down", amount=rng.randint(1, 9))
        yield TypeText(text="".join(rng.choices("abc '\"\\\n终({", k=rng.randint(1, 40))))
        yield PressKeys(keys=("ctrl", rng.choice("abcxyz")))
        yield RunCommand(command="grep -rn 'x' . | head")
        yield Wait()
        yield Finish(answer="it's done")


def render_reply(dialect: Dialect, action: Action, rng: random.Random) -> str:
    """A reply that says this action, or another one where the dialect cannot."""
    said = dialect.supported_form(action) or Wait()
    return dialect.write("I look for it" * rng.randint(0, 20), said, SCREEN)


def mutate(text: str, rng: random.Random) -> str:
    """The same with one to four things gone wrong."""
    wrongs: tuple[Callable[[str, int], str], ...] = (
        lambda text, at: text[:at],
        lambda text, at: text[at:],
        lambda text, at: text[:at] + rng.choice(SPLINTERS) + text[at:],
        lambda text, at: text[:at] + text[at + 1 :],
        lambda text, at: text[:at] + text[at : at + 12] * 3 + text[at:],
        lambda text, at: text + text[at:],
    )
    for _ in range(rng.randint(1, 4)):
        text = rng.choice(wrongs)(text, rng.randrange(len(text) + 1))
    return text
