"""Text that an input method wrote, as programs tell of it by accessibility.

Keys that an input method takes write nothing themselves: pinyin becomes Chinese, jamo become syllables. The program
says what was inserted. What is pasted, completed or printed is not typed, and is not stored.
"""

from collections import deque

from .clocks import SECOND
from .events import Event

MAX_CHARACTERS = 64
"""Of one insertion; input methods write a phrase at most."""
LATEST_NS = SECOND
"""How long after its last key an insertion may be told."""
COMMANDS = frozenset({"ctrl", "alt", "super"})


class InsertionFilter:
    """Follows the input, and says which insertions were typed. Keys come before the insertions that they made."""

    def __init__(self) -> None:
        self._recent: deque[tuple[int, str]] = deque(maxlen=MAX_CHARACTERS)
        """Plain keys in a row: when they were pressed, and what they write."""

    def note(self, event: Event) -> None:
        """Remember a plain key; a command or a press of the pointer ends the row."""
        if event.kind == "key.down":
            if COMMANDS & set(event.data["modifiers"]):
                self._recent.clear()
            else:
                self._recent.append((event.t_ns, str(event.data.get("text", ""))))
        elif event.kind in ("pointer.down", "scroll"):
            self._recent.clear()

    def take(self, event: Event) -> bool:
        """Whether an insertion was typed: it is what plain keys just before it write, or it has a character that is not
        ASCII and stands for them, as only an input method writes. Its keys are done with."""
        text = str(event.data["text"])
        while self._recent and event.t_ns - self._recent[0][0] > LATEST_NS:
            self._recent.popleft()
        keys = "".join(written for _, written in self._recent)
        if text in keys:
            end = keys.index(text) + len(text)
            while end > 0:
                end -= len(self._recent.popleft()[1])
            return True
        if not keys or text.isascii() or not text.isprintable() or len(text) > MAX_CHARACTERS:
            return False
        self._recent.clear()
        return True
