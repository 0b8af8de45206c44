"""Shows a person a session before it leaves the computer, and removes the parts that they choose."""

import math
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from .clocks import SECOND
from .errors import RecorderError
from .sessions import Removal, Session, remove_stretch, word_span
from .uploads import PACKED, require_not_uploaded

PAUSE_NS = SECOND
"""A pause in speech this long starts a new line of the summary."""


@dataclass(frozen=True)
class Gap:
    """A stretch of which nothing is stored: seconds from the start, and the reason."""

    begin: float
    end: float
    reason: str


@dataclass(frozen=True)
class Utterance:
    """Words between two pauses: seconds from the start, as `--cut` takes them."""

    begin: float
    end: float
    text: str


@dataclass(frozen=True)
class Summary:
    """Contents of a session."""

    id: str
    instruction: str
    state: str
    seconds: float
    events: dict[str, int]
    frames: int
    applications: dict[str, int]
    """Number of frames by the frontmost application."""
    gaps: tuple[Gap, ...]
    voice_seconds: float
    said: tuple[Utterance, ...]
    """Utterances of the last transcription."""

    def to_json(self) -> dict[str, Any]:
        """As printed."""
        return asdict(self)


def summarize(session: Session) -> Summary:
    """Count a session's contents."""
    kinds = Counter(one["kind"] for one in session.events)
    frames = [one for one in session.events if one["kind"] == "screen.frame"]
    last = session.events[-1]["t_ns"] if session.events else _start(session)
    return Summary(
        id=session.id,
        instruction=session.manifest["instruction"],
        state=session.manifest["state"],
        seconds=_seconds(session, last),
        events=dict(sorted(kinds.items())),
        frames=len(frames),
        applications=dict(Counter(one["app"] for one in frames).most_common()),
        gaps=_gaps(session),
        voice_seconds=round(
            sum(one.get("duration_ns", 0) for one in session.events if one["kind"] == "audio.chunk") / SECOND, 1
        ),
        said=_utterances(session),
    )


def cut(session: Session, begin: float, end: float) -> None:
    """Remove a stretch from the disk: seconds from the start. Hold the session's lock.

    Raises RecorderError with `bad_range`, `already_uploaded` or `upload_unresolved`; then nothing changes.
    """
    require_not_uploaded(session)
    if not 0 <= begin < end:
        raise RecorderError("bad_range", "A cut begins at 0 s or later, and ends after it begins.")
    start = _start(session)
    (session.folder / PACKED).unlink(missing_ok=True)
    removal = Removal(start + math.floor(begin * SECOND), start + math.ceil(end * SECOND), "cut")
    remove_stretch(session.folder, removal)


def _gaps(session: Session) -> tuple[Gap, ...]:
    gaps: list[Gap] = []
    begun: list[dict[str, Any]] = []
    for event in session.events:
        if event["kind"] == "gap.begin":
            begun.append(event)
        elif event["kind"] == "gap.end" and begun:
            first = begun.pop()
            gaps.append(Gap(_seconds(session, first["t_ns"]), _seconds(session, event["t_ns"]), first["reason"]))
    last = session.events[-1]["t_ns"] if session.events else 0
    gaps += [Gap(_seconds(session, one["t_ns"]), _seconds(session, last), one["reason"]) for one in begun]
    return tuple(sorted(gaps, key=lambda gap: gap.begin))


def _utterances(session: Session) -> tuple[Utterance, ...]:
    """Utterances of the transcript. A cut of an utterance's seconds removes all of its words."""
    found: list[Utterance] = []
    start, ends_ns = _start(session), 0
    for word in (session.speech or {"words": ()})["words"]:
        begin_ns, end_ns = word_span(word)
        end = math.ceil((end_ns - start) * 100 / SECOND) / 100
        if found and begin_ns - ends_ns < PAUSE_NS:
            found[-1] = Utterance(found[-1].begin, max(found[-1].end, end), f"{found[-1].text} {word['text']}")
        else:
            begin = max(0.0, math.floor((begin_ns - start) * 100 / SECOND) / 100)
            found.append(Utterance(begin, end, word["text"]))
        ends_ns = max(ends_ns, end_ns)
    return tuple(found)


def _start(session: Session) -> int:
    return int(session.manifest["clock"]["monotonic_ns"])


def _seconds(session: Session, t_ns: int) -> float:
    return round((t_ns - _start(session)) / SECOND, 2)
