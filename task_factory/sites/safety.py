"""Which tasks must not be made: what they do cannot be taken back, costs money, or reaches other people.

Decided by words, in English and Chinese, of the task and of every element that its script uses, with the dialog and the
form around it: a paraphrased instruction still presses a button that says what it does.
"""

import json
import re
from pathlib import Path
from typing import Any

from vm_bridge.suites.site_tasks.pages import PageElement

_WORDS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "destructive_words.json").read_text(encoding="utf-8")
)
_SENTENCES: dict[str, re.Pattern[str]] = {
    reason: re.compile(rf"(?<![a-z-])(?:{'|'.join(words['en'])})(?![a-z-])|{'|'.join(words['zh'])}", re.IGNORECASE)
    for reason, words in _WORDS["sentences"].items()
}
_BUTTONS: dict[str, re.Pattern[str]] = {
    reason: re.compile(rf"(?:{'|'.join(words)})", re.IGNORECASE) for reason, words in _WORDS["buttons"].items()
}
"""What a button alone may say that does it, though the word in a sentence means nothing."""


HARMLESS_ROLES = ("draggable",)
"""Things whose names are content: a card *Buy stamps* buys nothing."""
_QUOTED = re.compile(r"[“\"「『][^”\"」』]*[”\"」』]")


def instruction_reason(text: str) -> str:
    """As `destructive_reason`, of a sentence whose quotes are names of things and texts to type: what is pressed is
    judged by itself."""
    return destructive_reason(_QUOTED.sub(" … ", text))


def destructive_reason(*texts: str) -> str:
    """What a task of these words would do that none may: delete, pay, send, account, publish, cancel. Empty where
    nothing."""
    for text in texts:
        for reason, pattern in _SENTENCES.items():
            if pattern.search(text):
                return reason
        for reason, pattern in _BUTTONS.items():
            if pattern.fullmatch(text.strip()):
                return reason
    return ""


def element_reason(element: PageElement) -> str:
    """What using an element would do that no task may: by its name, and for a button by the dialog and form around it.
    Empty where nothing. A button *Cancel* of a dialog only closes it."""
    if element.role in HARMLESS_ROLES:
        return ""
    if element.in_dialog and _BUTTONS["cancel"].fullmatch(element.name.strip()):
        return ""
    if reason := destructive_reason(element.name):
        return reason
    if element.role not in ("button", "link", "menuitem"):
        return ""
    around = [element.dialog] if element.in_dialog else []
    around += [element.form, element.submit] if element.submits else []
    return destructive_reason(*around)
