"""Text written by an input method, as programs report it through accessibility.

Keys that an input method takes write nothing themselves: pinyin becomes Chinese, jamo become syllables. The program
reports the inserted text. Pasted, completed or printed text is not typed, and is not stored.
"""

from collections import deque

from .clocks import SECOND
from .events import Event

MAX_CHARACTERS = 64
"""Maximum length of one insertion; input methods write a phrase at most."""
LATEST_NS = SECOND
"""How long after its last key an insertion may be reported."""
COMMANDS = frozenset({"ctrl", "alt", "super"})


class InsertionFilter:
    """Follows the input and decides which insertions were typed. Keys come before the insertions that they produce."""

    def __init__(self) -> None:
        self._recent: deque[tuple[int, str]] = deque(maxlen=MAX_CHARACTERS)
        """Plain keys in a row: press times and the text they write."""

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
        """Whether an insertion was typed. The keys of a typed insertion are consumed.

        It counts as typed if it is what the plain keys just before it write. It also counts if it has a non-ASCII
        character and replaces those keys, as only an input method does.
        """
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
