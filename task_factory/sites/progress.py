"""What a run of `sites make` has finished, so that an interrupted one goes on where it was.

A site is finished when its line is written. What a half-made site left in the other files is cut off again.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import JsonValue, TypeAdapter

from protocol.base import FrozenModel
from task_factory.sites.folders import PAGES, REFUSED, TASKS, TRANSCRIPT
from task_factory.sites.records import SiteReport

PROGRESS = "progress.jsonl"
GROWING = (TASKS, REFUSED, PAGES, TRANSCRIPT)
"""Files that every site appends to."""
REPORTS: TypeAdapter[SiteReport] = TypeAdapter(SiteReport)


class FinishedSite(FrozenModel):
    """A line of the file: a site as it was named, what became of it, and how long the files were then (bytes)."""

    site: str
    report: dict[str, JsonValue]
    sizes: dict[str, int]


class Progress:
    """The finished sites of a folder, in order."""

    def __init__(self, out: Path, reports: Mapping[str, SiteReport]) -> None:
        self._out = out
        self.reports = dict(reports)

    @classmethod
    def open(cls, out: Path, options: Mapping[str, JsonValue], *, keeps_transcript: bool) -> Self:
        """Begin a folder, or go on with one. With `keeps_transcript` the replies about a half-made site stay, to be
        used again. Raises ValueError where the folder was begun with other options, or has tasks and no progress."""
        path = out / PROGRESS
        if not path.exists():
            if (out / TASKS).exists():
                raise ValueError(f"{out} has tasks already")
            out.mkdir(parents=True, exist_ok=True)
            _append(path, {"options": dict(options)})
            return cls(out, {})
        _cut_unfinished_line(path)
        first, *lines = path.read_text(encoding="utf-8").splitlines() or ["{}"]
        before = json.loads(first).get("options")
        if before != dict(options):
            raise ValueError(f"{out} was begun with other options: {json.dumps(before)}")
        finished = [FinishedSite.model_validate_json(line) for line in lines]
        for name in GROWING:
            if name == TRANSCRIPT and keeps_transcript:
                if (out / name).exists():
                    _cut_unfinished_line(out / name)
            else:
                _cut(out / name, finished[-1].sizes[name] if finished else 0)
        return cls(out, {one.site: REPORTS.validate_python(one.report) for one in finished})

    def add(self, site: str, report: SiteReport) -> None:
        """Note that a site is finished: all of it is in the other files."""
        sizes = {name: path.stat().st_size if (path := self._out / name).exists() else 0 for name in GROWING}
        line = FinishedSite(site=site, report=REPORTS.dump_python(report, mode="json"), sizes=sizes)
        _append(self._out / PROGRESS, line.model_dump(mode="json"))
        self.reports[site] = report


def _cut_unfinished_line(path: Path) -> None:
    """Cut off a last line without its end, which a program that was ended has left."""
    content = path.read_bytes()
    if content and not content.endswith(b"\n"):
        _cut(path, content.rfind(b"\n") + 1)


def _cut(path: Path, size: int) -> None:
    if path.exists() and path.stat().st_size > size:
        os.truncate(path, size)


def _append(path: Path, row: Mapping[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())
