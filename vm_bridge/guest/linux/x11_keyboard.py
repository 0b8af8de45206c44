"""Types any character: what the keyboard lacks is put on spare keys first."""

import contextlib
import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterator

from Xlib import XK, X, display
from Xlib.ext.xtest import fake_input
from Xlib.protocol import event

FIRST_KEYCODE, LAST_KEYCODE = 8, 255
UNICODE_KEYSYMS = 0x01000000
LATIN_1 = range(0x20, 0x100)
PROCESSED_SECONDS = 2.0
"""Longest wait until the programs have asked what the keys mean that were pressed (seconds): where the machine is busy
they ask late, and would be told the next meaning."""


class X11Keyboard:
    """Presses the key of a character, whatever the character.

    A program learns of a new key before it learns that the key was pressed, in this order, but asks for the key's
    meaning later. So a key's meaning is changed only after every program has come to rest (`rest`).
    """

    def __init__(self, server: display.Display, wait_processed: Callable[[float], None]) -> None:
        self._display = server
        self._wait_processed = wait_processed
        self._mapped: OrderedDict[str, int] = OrderedDict()
        self._read_layout()

    def _read_layout(self) -> None:
        rows = self._display.get_keyboard_mapping(FIRST_KEYCODE, LAST_KEYCODE - FIRST_KEYCODE + 1)
        keys = {code: tuple(keysyms) for code, keysyms in enumerate(rows, FIRST_KEYCODE)}
        mapped = {code: character for character, code in self._mapped.items() if _keysym(character) in keys[code]}
        self._mapped = OrderedDict((character, code) for code, character in mapped.items())
        self._spare = [code for code, keysyms in keys.items() if not any(keysyms) or code in mapped]
        self._shift = self._display.keysym_to_keycode(XK.XK_Shift_L)

    def follow_layout(self) -> bool:
        """Take the keyboard as it is now, be it another layout; whether anybody changed it."""
        changed = False
        while self._display.pending_events():
            notice = self._display.next_event()
            if isinstance(notice, event.MappingNotify):
                self._display.refresh_keyboard_mapping(notice)
                changed = changed or not set(range(notice.first_keycode, notice.first_keycode + notice.count)) <= {
                    *self._spare
                }
        if changed:
            self._read_layout()
        return changed

    @contextlib.contextmanager
    def without_modifiers(self) -> Iterator[None]:
        """Modifiers that somebody holds are up meanwhile, and Caps Lock is off; both are as before after it."""
        held = self._held_modifiers()
        locked = bool(self._display.screen().root.query_pointer().mask & X.LockMask)
        caps_lock = self._display.keysym_to_keycode(XK.XK_Caps_Lock) if locked else 0
        for code in held:
            fake_input(self._display, X.KeyRelease, code)
        self._display.sync()
        self._strike(caps_lock)
        try:
            yield
        finally:
            self._strike(caps_lock)
            for code in held:
                fake_input(self._display, X.KeyPress, code)
            self._display.sync()

    def _held_modifiers(self) -> list[int]:
        down = self._display.query_keymap()
        mapping = self._display.get_modifier_mapping()
        codes = {code for index, row in enumerate(mapping) if index != X.LockMapIndex for code in row if code}
        return sorted(code for code in codes if down[code // 8] >> code % 8 & 1)

    def _strike(self, code: int) -> None:
        """Press and release a key; nothing for 0."""
        if code:
            fake_input(self._display, X.KeyPress, code)
            fake_input(self._display, X.KeyRelease, code)
            self._display.sync()

    def map_keys(self, text: str) -> int:
        """Make keys for the characters of `text`; how many characters from its start can be typed now."""
        wanted: dict[str, None] = {}
        count = 0
        for character in text:
            if self._find_key(character) is None:
                if character not in wanted and len(wanted) == len(self._spare):
                    break
                wanted[character] = None
            count += 1
        self._assign([character for character in wanted if character not in self._mapped], needed=wanted)
        return count

    def press(self, character: str) -> None:
        """Press and release one character's key; `lend` must have covered it."""
        code, shifted = self._find_key(character) or (self._mapped[character], False)
        if shifted:
            fake_input(self._display, X.KeyPress, self._shift)
        fake_input(self._display, X.KeyPress, code)
        fake_input(self._display, X.KeyRelease, code)
        if shifted:
            fake_input(self._display, X.KeyRelease, self._shift)
        self._display.sync()

    def produces(self, code: int, shifted: bool, character: str) -> bool:
        """Whether a key, as the keyboard stands, gives this character."""
        return bool(self._display.keycode_to_keysym(code, int(shifted)) == _keysym(character))

    def _find_key(self, character: str) -> tuple[int, bool] | None:
        """Key and shift of a character the keyboard has by itself."""
        for code, index in self._display.keysym_to_keycodes(_keysym(character)):
            if index in (0, 1) and code not in self._spare:
                return code, bool(index)
        return None

    def _assign(self, characters: list[str], needed: dict[str, None]) -> None:
        free = [code for code in self._spare if code not in self._mapped.values()]
        if len(free) < len(characters):
            self._wait_processed(PROCESSED_SECONDS)
            for old in [mapped for mapped in self._mapped if mapped not in needed][: len(characters) - len(free)]:
                free.append(self._mapped.pop(old))
        mapped = dict(zip(sorted(free), characters, strict=False))
        for first, row in _runs(mapped):
            self._display.change_keyboard_mapping(first, [(_keysym(character),) * 2 for character in row])
        self._mapped.update((character, code) for code, character in mapped.items())
        self._display.sync()


def _runs(mapped: dict[int, str]) -> Iterator[tuple[int, list[str]]]:
    """Neighbouring keys together: every program looks at the whole keyboard again after each change."""
    codes = sorted(mapped)
    for _, run in itertools.groupby(enumerate(codes), lambda place: place[1] - place[0]):
        row = [code for _, code in run]
        yield row[0], [mapped[code] for code in row]


def _keysym(character: str) -> int:
    codepoint = ord(character)
    return codepoint if codepoint in LATIN_1 and not 0x7F <= codepoint < 0xA0 else UNICODE_KEYSYMS | codepoint
