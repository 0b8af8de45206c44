"""Runs of equal lines in product code: the same ten lines or more in two places."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from benchmarks.parts.house.structure import PRODUCT, python_files, typescript_files

SHORTEST = 10
"""Lines of a run, without blank lines, comments and imports."""


@dataclass(frozen=True, order=True, slots=True)
class Run:
    """Equal lines: the two places where they begin, and how many they are."""

    first: str
    second: str
    lines: int

    def __str__(self) -> str:
        return f"{self.lines} lines: {self.first} = {self.second}"


def duplicate_runs(root: Path) -> list[Run]:
    """Each run once, sorted by place."""
    files = [*python_files(root, PRODUCT), *(f for f in typescript_files(root) if ".test." not in f.name)]
    texts = [(file.relative_to(root).as_posix(), _significant(file.read_text())) for file in files]
    places: dict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
    for number, (_, lines) in enumerate(texts):
        for start in range(len(lines) - SHORTEST + 1):
            places[tuple(text for _, text in lines[start : start + SHORTEST])].append((number, start))
    pairs = {(a, b) for found in places.values() for i, a in enumerate(found) for b in found[i + 1 :]}
    runs = []
    for (first, start), (second, begin) in sorted(pairs):
        if ((first, start - 1), (second, begin - 1)) in pairs:
            continue  # the middle of a longer run
        length = SHORTEST
        while ((first, start + length - SHORTEST + 1), (second, begin + length - SHORTEST + 1)) in pairs:
            length += 1
        one = f"{texts[first][0]}:{texts[first][1][start][0]}"
        other = f"{texts[second][0]}:{texts[second][1][begin][0]}"
        runs.append(Run(one, other, length))
    return sorted(runs)


def _significant(source: str) -> list[tuple[int, str]]:
    """Line numbers and stripped text of the lines that say something: no blanks, comments, imports, lone brackets."""
    kept, in_import = [], False
    for number, line in enumerate(source.splitlines(), start=1):
        text = line.strip()
        if in_import or text.startswith(("import ", "from ")):
            in_import = text.endswith("(") or (in_import and not text.startswith(")"))
        elif len(text) > 1 and not text.startswith(("#", "//", "@", "*", "/*")):
            kept.append((number, text))
    return kept
