"""What the throw-away heads learn of a screen: for each patch its letters, for each cell its label and its widget.

A patch is 14 by 14 pixels, a cell two by two patches: one token of the language model. Both are numbered as the vision
tower orders them, cell after cell.
"""

import hashlib
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from trainer.nano.synthetic.screens import Screen, TextLine, Widget

PATCH, CELL = 14, 28
COLUMNS = 3
"""So many times across a patch one looks which letter is there."""
FIRST, LAST = 33, 126
LETTERS = LAST - FIRST + 3
"""Classes of letters: nothing, those of ASCII, and any other."""
BUCKETS = 512
"""Classes of pairs of letters: a label is known by the pairs in it, whichever word it is."""
NEAR = 3.0
"""Pixels beside a cell where a pair of letters is still seen from it."""
LEAST = 30.0
"""Square pixels of a widget from which on a cell is its."""
NOWHERE = -1

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ScreenTargets:
    """What is to be seen on a screen of P patches and C cells."""

    letters: Ints
    """Shape (P, COLUMNS)."""
    offsets: Floats
    """From a patch to where its widget is clicked, in cells; shape (P, 2)."""
    offered: NDArray[np.bool_]
    """Whether a patch is of a widget; shape (P,)."""
    pairs: Floats
    """Which pairs of letters meet in a cell; shape (C, BUCKETS)."""
    widgets: Ints
    """The widget that has most of a cell, by its number, or NOWHERE; shape (C,)."""
    points: Ints
    """Where that widget is clicked, in pixels; shape (C, 2)."""


def screen_targets(screen: Screen) -> ScreenTargets:
    """The targets of a screen."""
    rows, columns = screen.image.height // CELL, screen.image.width // CELL
    patches, cells = cell_centres(rows, columns)
    count = len(cells)
    letters = np.zeros((len(patches), COLUMNS), np.int64)
    offsets, offered = np.zeros((len(patches), 2), np.float32), np.zeros(len(patches), np.bool_)
    pairs, most = np.zeros((count, BUCKETS), np.float32), np.full(count, LEAST, np.float32)
    widgets, points = np.full(count, NOWHERE, np.int64), np.zeros((count, 2), np.int64)
    for number, widget in enumerate(screen.widgets):
        for writing in (widget.writing, widget.content):
            if writing is not None and writing.text:
                _mark_letters(letters, patches, writing)
                _mark_pairs(pairs, cells, writing)
        inside = _overlaps(patches, PATCH, widget) >= PATCH * PATCH / 4
        offered |= inside
        offsets[inside] = (np.array(widget.point, np.float32) - patches[inside]) / CELL
        share = _overlaps(cells, CELL, widget)
        own = share > most
        most[own], widgets[own], points[own] = share[own], number, np.array(widget.point, np.int64)
    return ScreenTargets(letters, offsets, offered, pairs, widgets, points)


@cache
def cell_centres(rows: int, columns: int) -> tuple[Floats, Floats]:
    """The middles of patches and cells of so many rows and columns of cells; shapes (P, 2) and (C, 2)."""
    cells = np.array([(column, row) for row in range(rows) for column in range(columns)], np.float32) * CELL
    within = np.array([(0, 0), (1, 0), (0, 1), (1, 1)], np.float32) * PATCH + PATCH / 2
    return (cells[:, None] + within[None]).reshape(-1, 2), cells + CELL / 2


def letter_class(letter: str) -> int:
    """The class of a letter; 0 is nothing."""
    if letter.isspace():
        return 0
    return ord(letter) - FIRST + 1 if FIRST <= ord(letter) <= LAST else LETTERS - 1


def letter_pairs(text: str) -> list[tuple[int, int]]:
    """Where two letters meet, by the number of the second, and the class of that pair; words begin and end with one."""
    found = []
    for place in range(len(text) + 1):
        left, right = text[place - 1 : place].strip() or "^", text[place : place + 1].strip() or "$"
        if (left, right) != ("^", "$"):
            found.append((place, _bucket(left + right)))
    return found


@cache
def _bucket(pair: str) -> int:
    return int.from_bytes(hashlib.blake2b(pair.encode(), digest_size=4).digest()) % BUCKETS


def _mark_letters(letters: Ints, patches: Floats, writing: TextLine) -> None:
    """Which letter stands at each place of the patches that the middle of a line goes through."""
    rows = (patches[:, 1] >= writing.top + 1) & (patches[:, 1] < writing.bottom - 1)
    bounds = np.array(writing.bounds)
    classes = np.array([letter_class(letter) for letter in writing.text])
    for column in range(COLUMNS):
        across = patches[:, 0] - PATCH / 2 + PATCH * (column + 0.5) / COLUMNS
        here = rows & (across >= bounds[0]) & (across < bounds[-1])
        place = np.searchsorted(bounds, across[here], "right") - 1
        letters[here, column] = classes[np.clip(place, 0, len(classes) - 1)]


def _mark_pairs(pairs: Floats, cells: Floats, writing: TextLine) -> None:
    """Which pairs of letters meet in the cells that the middle of a line goes through."""
    reach = CELL / 2 + NEAR
    rows = np.abs(cells[:, 1] - (writing.top + writing.bottom) / 2) <= reach
    for place, pair in letter_pairs(writing.text):
        pairs[rows & (np.abs(cells[:, 0] - writing.bounds[place]) <= reach), pair] = 1.0


def _overlaps(middles: Floats, side: int, widget: Widget) -> Floats:
    """Square pixels that a widget has of each square around a middle."""
    left, top, right, bottom = widget.box
    half = side / 2
    wide = np.minimum(middles[:, 0] + half, right) - np.maximum(middles[:, 0] - half, left)
    high = np.minimum(middles[:, 1] + half, bottom) - np.maximum(middles[:, 1] - half, top)
    shared: Floats = np.clip(wide, 0, None) * np.clip(high, 0, None)
    return shared
