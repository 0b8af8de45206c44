"""A thousand clicks and keys at known times, and which recorded events are theirs."""

import time
from collections.abc import Sequence
from typing import Any

from benchmarks.parts.recorder.desktop import Desktop, SentInput

INPUT_KINDS = ("pointer.move", "pointer.down", "pointer.up", "scroll", "key.down", "key.up")
ROUNDS = 1_000
"""Of a click and a key: five events and two acts each."""
PACE_SECONDS = 0.02
TIMED_NS = 2_000_000
"""An input's true time is known where the X server took it within this time; on a busy machine it may take longer."""
NEAR_NS = 15_000_000
"""An event this far from its input's time is another one."""
LEVELS, LEVEL_STEP = 16, 17
"""Counts are shown as a color: 16 levels of each channel, which JPEG does not mix up."""
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
PLACE = (200, 100, 640, 480)
SEARCHED_EVENTS = 50
"""How many events are looked through for the one of an input."""


def send_inputs(desktop: Desktop, window: Any) -> None:
    """A thousand clicks and keys, which `desktop.sent` lists; the window shows how many acts were done."""
    desktop.sent.clear()
    for place in range(ROUNDS):
        desktop.click(20 + 40 * (place % 2), 20 + place % 600)
        desktop.paint(window, counted_color(2 * place + 1))
        time.sleep(PACE_SECONDS)
        desktop.press(ord(ALPHABET[place % len(ALPHABET)]))
        desktop.paint(window, counted_color(2 * place + 2))
        time.sleep(PACE_SECONDS)


def counted_color(count: int) -> int:
    """The color that stands for a count of acts: 24 bits of red, green and blue."""
    channels = (count // LEVELS**2 % LEVELS, count // LEVELS % LEVELS, count % LEVELS)
    return int.from_bytes(bytes(LEVEL_STEP * channel for channel in channels), "big")


def match_inputs(
    sent: Sequence[SentInput], stored: Sequence[dict[str, Any]], *, near_ns: int = NEAR_NS
) -> list[tuple[SentInput, dict[str, Any]]]:
    """Pairs of an input and its event (`kind`, `t_ns`) in order; an event that is missing is skipped."""
    matched: list[tuple[SentInput, dict[str, Any]]] = []
    place = 0
    for one in sent:
        near = range(place, min(place + SEARCHED_EVENTS, len(stored)))
        found = next((at for at in near if stored[at]["kind"] == one.kind), None)
        if found is not None and one.before_ns - near_ns <= stored[found]["t_ns"] <= one.after_ns + near_ns:
            matched.append((one, stored[found]))
            place = found + 1
    return matched


def time_errors_ms(matched: Sequence[tuple[SentInput, dict[str, Any]]]) -> list[float]:
    """The larger distance of each event's time from both ends of the interval in which the X server took its input;
    of inputs that it took at once."""
    return [
        max(abs(one["t_ns"] - was.before_ns), abs(one["t_ns"] - was.after_ns)) / 1e6
        for was, one in matched
        if was.after_ns - was.before_ns <= TIMED_NS
    ]
