"""Replies as models write and spoil them, from a seed, with what each may be read as.

A case is whole (what it says must be read), spoiled (read exactly, or refused) or several turns (refused). No case may
be read as another action than the one it was made of.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from protocol.actions.inputs import AnyButton
from protocol.actions.types import (
    Action,
    CallUser,
    Click,
    DoubleClick,
    Drag,
    DragPath,
    Finish,
    Infeasible,
    MouseClick,
    Navigate,
    Point,
    Press,
    PressKeys,
    RightClick,
    RunCode,
    RunCommand,
    Scroll,
    ScrollBy,
    TypeText,
    Wait,
    WriteFile,
)
from protocol.dialects.dialect import Dialect, ParsedReply, ScreenSize, UnparsedReply
from protocol.dialects.families import get_dialect, list_dialects

AllowedReading = Literal["read", "read or refused", "refused"]
Verdict = Literal["exact", "refused", "another"]

SCREENS = (ScreenSize(width=1920, height=1080), ScreenSize(width=1280, height=720), ScreenSize(width=1080, height=2400))
THOUGHT_ACTION = ("ui_tars_1_0", "ui_tars_1_5", "doubao_1_5_ui_tars", "doubao_1_5_ui_tars_15b")
TEXTS = (
    *("hello", "it's fine", "say 'hi', then (go)", 'a "quoted" word', "f('x') and g('y')", "echo $(date +'%s')"),
    *(
        "line one\nline two\n",
        r"C:\Users\me",
        "终端 — ünïcode 😀",
        "a;b,c=d",
        "{'a': 1}",
        '{"a": [1, 2]}',
        "# no comment",
    ),
    *(
        "if (x == 'a')\n  print('b')",
        "grep -rn 'x' . | head",
        "(",
        ":)",
        "100%",
        "<b>bold</b>",
        "```",
        "Action: wait()",
    ),
    *("Dear Bob,\nThought: none\nBye", "a, content='b'", "')", "'", '"', "\\", "\\n", "wait()", "x" * 300, ""),
)
THOUGHTS = (
    *(
        "",
        "I see the page.",
        "The menu (File) is open.",
        "It's there: click on 'OK'.",
        "First.\nThen this.",
        "看到了按钮。",
    ),
    *("The Action: menu is open.", "I need {id} of 5.", 'It says "wait".', "At (512, 300) there is a button."),
)
PROSE = (
    *(
        "\nThat's the menu.",
        "\n\nThis opens the file (see above).",
        "\n# It opens the menu",
        "\n\nNow I wait for the page.",
    ),
)
TURNS = (
    *("\nObservation: the menu opened\n", "\n\nThought: next\n", "<|im_end|>\n<|im_start|>user\nok<|im_end|>\n"),
    *("\nObservation: ok\nThought: now the next\nAction: finished()", "\nThought: and then\nAction: wait()"),
    *(
        "\n\nwait()",
        "\nAction: hotkey(key='enter')",
        "\nhotkey(key='enter')",
        "; wait()",
        "\n\nAction: type(content='x')\n",
    ),
    *("\n```python\npyautogui.write(message='x')\n```", '\n{"action": "wait"}', "\n<function=wait></function>"),
    *(
        "\nThought 2: then I wait",
        "\n  Thought: x",
        "\nobservation: ok",
        "\n[Observation] ok",
        "\nStep 4:",
        "\n思考：好的",
    ),
    *(
        "\nUser: ok",
        "\nuser\nok",
        "\nFinal Answer: done",
        "\nhotkey key='enter'",
        "\n2. wait()",
        " then wait()",
        "\n`wait()`",
    ),
    *("\n## Thought:\nok\n\n## Code:\n```python\ncomputer.wait()\n```", "\n<think>next</think>\nAction: wait()"),
)

POINTS = (
    *("'({},{})'", "'({}, {})'", "'[{}, {}]'", "'{} {}'", '"({},{})"', "({},{})", "<point>{} {}</point>"),
    *("'<point>{} {}</point>'", "'<point>{},{}</point>'", "'<point>{} {}</point>’"),
    *("'<|box_start|>({},{})<|box_end|>'", "<|box_start|>({},{})<|box_end|>", "'<bbox>{0} {1} {0} {1}</bbox>'"),
    "'<point>{} {}</point>",
)
KEYS = {
    "ctrl": ("ctrl", "Ctrl", "control", "CTRL", "ctrlleft"),
    "shift": ("shift", "Shift", "SHIFT"),
    "alt": ("alt", "option", "Alt"),
    "pagedown": ("pagedown", "Page_Down", "page down", "PgDn", "pgdown"),
    "plus": ("plus",),
    "-": ("-", "minus"),
}
AMOUNTS = ("100", "'200'", "500", "'1000'", "5000")


@dataclass(frozen=True)
class Case:
    """One reply, what it was made of, and what may become of it."""

    dialect: str
    screen: ScreenSize
    kind: str
    """How it was made."""
    reply: str
    action: Action
    fate: AllowedReading


def classify_reading(case: Case, read: ParsedReply | UnparsedReply) -> Verdict:
    """What became of a reply."""
    if isinstance(read, UnparsedReply):
        return "refused"
    return "exact" if read.action == case.action and case.fate != "refused" else "another"


def cases(seed: int) -> Iterator[Case]:
    """Cases without end, the dialects in turn; the same for the same seed."""
    rng = random.Random(seed)
    names = list_dialects()
    while True:
        for name in names:
            yield _case(name, rng)


def measure(count: int, seed: int = 0) -> dict[str, object]:
    """How many of so many replies were read exactly, refused, or read as another action, and how many whole ones were
    refused."""
    found: Counter[str] = Counter()
    whole = refused = 0
    wrong: list[Case] = []
    for _, case in zip(range(count), cases(seed), strict=False):
        said = classify_reading(case, get_dialect(case.dialect).parse(case.reply, case.screen))
        found[said] += 1
        whole += case.fate == "read"
        refused += case.fate == "read" and said == "refused"
        if said == "another" and len(wrong) < 5:
            wrong.append(case)
    return {
        "replies": count,
        **{name: found[name] for name in ("exact", "refused", "another")},
        "whole_refused_share": round(refused / max(whole, 1), 5),
        "examples": [f"{case.dialect} {case.kind}: {case.reply[:200]}" for case in wrong],
    }


BUTTONS: tuple[AnyButton, ...] = ("left", "middle", "right", "back", "forward")


def _case(name: str, rng: random.Random) -> Case:
    dialect, screen = get_dialect(name), rng.choice(SCREENS)
    action = _action(dialect, screen, rng)
    written = dialect.write(rng.choice(THOUGHTS), action, screen)
    read = dialect.parse(written, screen)
    action = read.action if isinstance(read, ParsedReply) else action
    kind, make, fate = rng.choice(_MAKERS)
    reply = make(written, dialect, screen, rng)
    if kind == "respelled" and isinstance(action, Scroll) and reply != written:
        action = action.model_copy(update={"amount": 100})
    if kind == "cut" and reply == written:
        fate = "read"
    if kind == "unescaped" and name not in THOUGHT_ACTION:
        reply, fate = written, "read"
    return Case(name, screen, kind, reply, action, fate)


def _action(dialect: Dialect, screen: ScreenSize, rng: random.Random) -> Action:
    """An action this dialect can say."""

    def point() -> Point:
        return Point(x=rng.randrange(screen.width), y=rng.randrange(screen.height))

    text, held = rng.choice(TEXTS), rng.choice(((), ("ctrl",), ("shift", "alt")))
    choices: tuple[Callable[[], Action], ...] = (
        lambda: Click(**point().model_dump()),
        lambda: DoubleClick(**point().model_dump()),
        lambda: RightClick(**point().model_dump()),
        lambda: Drag(start=point(), end=point()),
        lambda: Scroll(
            point=point(), direction=rng.choice(("up", "down", "left", "right")), amount=rng.randint(1, 100)
        ),
        lambda: MouseClick(
            point=rng.choice((None, point())), button=rng.choice(BUTTONS), clicks=rng.randint(1, 3), keys=held
        ),
        lambda: DragPath(points=tuple(point() for _ in range(rng.randint(1, 4))), keys=held),
        lambda: ScrollBy(point=point(), dx=rng.randint(-2_000, 2_000), dy=rng.randint(1, 2_000), keys=held),
        lambda: Press(key="shift"),
        lambda: TypeText(text=text),
        lambda: PressKeys(
            keys=tuple(rng.sample(("ctrl", "shift", "alt", "c", "-", "+", "pagedown", "f5"), rng.randint(1, 3)))
        ),
        lambda: Wait(seconds=rng.randint(1, 60)),
        lambda: RunCommand(command=text),
        lambda: RunCode(code=text),
        lambda: WriteFile(path="a.txt", text=text),
        lambda: Navigate(url="https://example.org/?q=a&b='c'"),
        lambda: Finish(answer=text),
        lambda: CallUser(message=text),
        lambda: Infeasible(reason=text),
    )
    while (action := rng.choice(choices)()).kind not in dialect.kinds:
        continue
    return action


_Maker = Callable[[str, Dialect, ScreenSize, random.Random], str]


def _wrap(written: str, dialect: Dialect, screen: ScreenSize, rng: random.Random) -> str:
    """In one of the wrappers that servers and models put around a reply."""
    wrappers: list[Callable[[str], str]] = [
        lambda text: f"<think>I look (again): 'OK'.</think>\n{text}",
        lambda text: f"I look again, at 'it'.\n</think>\n\n{text}",
        lambda text: f"<thinking>\nHm.\n</thinking>\n{text}",
        lambda text: f"\n  {text}\n\n",
        lambda text: f"{text}<|im_end|>",
        lambda text: f"{text}<|im_end|>\n<|endoftext|>",
        lambda text: f"<answer>{text}</answer>",
    ]
    if dialect.name != "opencua":
        wrappers += [
            lambda text: f"```\n{text}\n```",
            lambda text: f"<|begin_of_box|>{text}<|end_of_box|>",
            lambda text: f"<think>Hm.</think>\n<|begin_of_box|>{text}<|end_of_box|>",
        ]
    if dialect.name != "ui_tars_2":  # there a line break belongs to a value
        wrappers.append(lambda text: text.replace("\n", "\r\n"))
    if dialect.name in THOUGHT_ACTION:
        wrappers += [
            lambda text: re.sub(r"(?m)^(Thought|Action): ", r"**\1:** ", text),
            lambda text: f"# Step 3:\n{text}",
            lambda text: "Action:\n```\n" + _call(text) + "\n```",
            lambda text: f"Action：{_call(text)}",
            lambda text: f"Thought: a\nAction: <|begin_of_box|>{_call(text)}<|end_of_box|>",
            lambda text: f"Thought: a\nAction: `{_call(text)}`",
        ]
    if dialect.name == "opencua":
        wrappers.append(lambda text: f"# Step 3:\n{text}")
    return rng.choice(wrappers)(written)


def _call(written: str) -> str:
    """The call of a written reply of a text dialect."""
    return written[written.rindex("\nAction: ") + 9 :] if "\nAction: " in written else written.removeprefix("Action: ")


def _with_prose(written: str, dialect: Dialect, screen: ScreenSize, rng: random.Random) -> str:
    return written + rng.choice(PROSE)


def _add_comment(written: str, dialect: Dialect, screen: ScreenSize, rng: random.Random) -> str:
    """With a comment as our prompts have them."""
    if dialect.name not in THOUGHT_ACTION:
        return written
    return f"{written} # Run a command line; give timeout='seconds' if 30 are too few."


def _with_another(written: str, dialect: Dialect, screen: ScreenSize, rng: random.Random) -> str:
    """With another turn or call behind it."""
    following = dialect.write(rng.choice(THOUGHTS), _action(dialect, screen, rng), screen)
    return written + rng.choice((*TURNS, "\n" + following, "\n\n" + following))


def _with_another_unescaped(written: str, dialect: Dialect, screen: ScreenSize, rng: random.Random) -> str:
    return _with_another(_unescape(written, dialect, screen, rng), dialect, screen, rng)


def _after_another(written: str, dialect: Dialect, screen: ScreenSize, rng: random.Random) -> str:
    """Behind a turn of its own kind, with its observation or without."""
    earlier = dialect.write(rng.choice(THOUGHTS), _action(dialect, screen, rng), screen)
    return earlier + rng.choice(("\n", "\n\n", "\nObservation: ok\n", "<|im_end|>\n<|im_start|>assistant\n")) + written


def _truncate(written: str, dialect: Dialect, screen: ScreenSize, rng: random.Random) -> str:
    return written[: rng.randrange(len(written) + 1)]


def _wrap_and_truncate(written: str, dialect: Dialect, screen: ScreenSize, rng: random.Random) -> str:
    return _truncate(_wrap(written, dialect, screen, rng), dialect, screen, rng)


def _unescape(written: str, dialect: Dialect, screen: ScreenSize, rng: random.Random) -> str:
    """With quotes in the text that nobody escaped."""
    if dialect.name not in THOUGHT_ACTION or "'\\')'" in written:  # that text would be the grammar's own end
        return written
    return written.replace("\\'", "'").replace('\\"', '"')


def _unescape_and_truncate(written: str, dialect: Dialect, screen: ScreenSize, rng: random.Random) -> str:
    return _truncate(_unescape(written, dialect, screen, rng), dialect, screen, rng)


def _respell(written: str, dialect: Dialect, screen: ScreenSize, rng: random.Random) -> str:
    """With points, keys and amounts in the ways of other families."""

    def point(found: re.Match[str]) -> str:
        x, y = re.findall(r"\d+", found[2])[:2]
        given = rng.choice(POINTS).format(x, y)
        return f"{rng.choice(('point', 'start_box')) if found[1] == 'point' else found[1]}={given}"

    def keys(found: re.Match[str]) -> str:
        names = [rng.choice(KEYS.get(name, (name, name.upper()))) for name in found[1].split()]
        return f"key='{rng.choice((' ', '+', ' + ')).join(names)}'"

    if dialect.name not in THOUGHT_ACTION:
        return re.sub(r"(?<=amount\": )\d+", lambda _: str(rng.randint(100, 5_000)), written)
    written = re.sub(r"\b(point|start_box)='([^'a-zA-Z]*|<point>[^']*|<.box_start[^']*)'", point, written, count=1)
    written = re.sub(r"key='([^']*)'", keys, written)
    if "scroll(" in written and "direction" in written:
        written = re.sub(r", amount='\d+'|(?=\)$)", f", amount={rng.choice(AMOUNTS)}", written, count=1)
    return written


def _unchanged(written: str, dialect: Dialect, screen: ScreenSize, rng: random.Random) -> str:
    return written


_MAKERS: tuple[tuple[str, _Maker, AllowedReading], ...] = (
    ("as it is", _unchanged, "read"),
    ("respelled", _respell, "read"),
    ("wrapped", _wrap, "read"),
    ("with prose", _with_prose, "read"),
    ("commented", _add_comment, "read"),
    ("with another", _with_another, "refused"),
    ("unescaped with another", _with_another_unescaped, "refused"),
    ("after another", _after_another, "refused"),
    ("cut", _truncate, "read or refused"),
    ("wrapped and cut", _wrap_and_truncate, "read or refused"),
    ("unescaped", _unescape, "read or refused"),
    ("unescaped and cut", _unescape_and_truncate, "read or refused"),
)
