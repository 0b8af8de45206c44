"""Sessions of the recorder read (`pilothouse-session-1`): each act on the last screenshot before it.

The recorder writes this format and shares no code with it; docs/architecture/recorder.md describes it.
"""

from base64 import b64encode
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Base64Bytes, BaseModel, ConfigDict, Field, StringConstraints

from protocol.actions.inputs import PressKeys, find_off_screen_point
from protocol.formats.recorded_acts import (
    MarkEvent,
    NoteEvent,
    RecordedAct,
    RecordedEvent,
    ScreenshotEvent,
    find_acts,
    split_at_gaps,
)
from protocol.formats.records import RowError
from protocol.formats.row_readers import RowReader, SourceRow, imported_observation, validate_as, validate_trajectory
from protocol.formats.spoken_thoughts import Speech, align_thoughts, describe_speech
from protocol.trajectory.elements import ELEMENTS, StepElement
from protocol.trajectory.observations import Observation
from protocol.trajectory.speech import LoudnessRun, step_thoughts
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory

SESSION_FORMAT: Literal["pilothouse-session-1"] = "pilothouse-session-1"
MAX_TASK_STEPS = 1_000
OWN_HOTKEY_MODIFIERS = {"ctrl", "shift", "super"}
OWN_HOTKEYS = {"f", "p", "m", "h"}
MAX_LEVELS = 36_000
"""Loudness values of a session: half an hour at full rate. Longer ones are kept at a lower rate."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _Clock(BaseModel):
    """One moment on both clocks."""

    model_config = ConfigDict(extra="ignore")

    monotonic_ns: int = Field(ge=0)
    realtime_ns: int = Field(ge=0, lt=2**62)


class _Consent(BaseModel):
    """Which text the person agreed to, and when."""

    model_config = ConfigDict(extra="ignore")

    version: Annotated[str, StringConstraints(min_length=1, max_length=40)]
    accepted_at: datetime


class _Knowledge(BaseModel):
    """What the person knew of the task before: a rating from 1 (nothing) to 5, and their own words."""

    model_config = ConfigDict(extra="ignore")

    rating: Annotated[int, Field(ge=1, le=5)] | None = None
    text: Annotated[str, StringConstraints(max_length=2_000)] = ""


class _Brief(BaseModel):
    """The task whose brief was recorded: its pool's id and its key."""

    model_config = ConfigDict(extra="ignore")

    pool: int
    task: Annotated[str, StringConstraints(max_length=200)] = ""


class _LevelRun(BaseModel):
    model_config = ConfigDict(extra="ignore")

    t_ns: int = Field(ge=0)
    values: Base64Bytes


class _Levels(BaseModel):
    """How loud it was, `rate` values a second."""

    model_config = ConfigDict(extra="ignore")

    rate: int = Field(ge=1, le=20)
    runs: tuple[_LevelRun, ...] = ()


class _Session(BaseModel):
    model_config = ConfigDict(extra="ignore")

    format: Literal["pilothouse-session-1"]
    id: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    annotator: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    instruction: str
    track: Literal["expert", "novice"]
    state: Literal["finished", "crashed"]
    outcome: Literal["success", "failure"] | None = None
    clock: _Clock
    consent: _Consent | None = None
    knowledge: _Knowledge = _Knowledge()
    brief: _Brief | None = None
    events: tuple[RecordedEvent, ...]
    speech: Speech | None = None
    levels: _Levels | None = None


@dataclass(frozen=True)
class PlacedAct:
    """An act with the screenshot before it, and the screenshot that it led to."""

    act: RecordedAct
    before: ScreenshotEvent
    before_settled: bool
    """Whether the screen had not changed any more when the act began."""
    after: ScreenshotEvent
    after_settled: bool


def place_acts(events: Sequence[RecordedEvent]) -> tuple[list[PlacedAct], int]:
    """The acts of a session, each on the last screenshot that was taken before it; how many had none."""
    placed: list[PlacedAct] = []
    without_screenshot = 0
    for stretch in split_at_gaps(events):
        screenshots = [one for one in stretch if isinstance(one, ScreenshotEvent)]
        acts = [act for act in find_acts(stretch) if not _is_own_hotkey(act.action)]
        ends = [_begin(act) for act in acts[1:]] + [stretch[-1].t_ns if stretch else 0]
        for act, end in zip(acts, ends, strict=False):
            before, after = _last_screenshot(screenshots, _begin(act)), _last_screenshot(screenshots, end)
            if before is None or after is None:
                without_screenshot += 1
                continue
            placed.append(
                PlacedAct(
                    act,
                    screenshots[before],
                    _is_settled(screenshots, before, _begin(act)),
                    screenshots[after],
                    _is_settled(screenshots, after, end),
                )
            )
    return placed, without_screenshot


def read(source_row: SourceRow) -> Trajectory:
    """Raises RowError."""
    session = validate_as(_Session, dict(source_row.row))
    placed, without_screenshot = place_acts(session.events)
    speech = None
    if session.speech is not None:
        thoughts = align_thoughts(session.speech.words, [one.act for one in placed])
        speech = describe_speech(session.speech, thoughts, session.clock.monotonic_ns)
    texts = step_thoughts(speech.words, speech.thoughts, len(placed)) if speech else ("",) * len(placed)
    steps = tuple(
        _step(session, source_row, place, one, text)
        for place, (one, text) in enumerate(zip(placed, texts, strict=True))
    )
    marks = [event for event in session.events if isinstance(event, MarkEvent)]
    details: dict[str, Any] = {
        "track": session.track,
        "events": len(session.events),
        "gaps": sum(mark.kind == "gap.begin" for mark in marks),
        "acts_without_screenshot": without_screenshot,
        "time_error_ms": max((one.act.error_ns for one in placed), default=0) / 1e6,
    }
    if session.consent is not None:
        details["consent"] = session.consent.model_dump(mode="json")
    if session.knowledge != _Knowledge():
        details["knowledge"] = session.knowledge.model_dump()
    if session.brief is not None:
        details["brief"] = session.brief.model_dump()
    for name, kind in (("marks", "mark"), ("help", "help")):
        if notes := [_note(session, one) for one in session.events if isinstance(one, NoteEvent) and one.kind == kind]:
            details[name] = notes
    if elements := _elements(placed):
        details[ELEMENTS] = elements
    if speech is not None:
        details["speech"] = speech.model_dump(mode="json")
    if session.levels is not None:
        details["levels"] = _levels(session, session.levels)
    last_ns = session.events[-1].t_ns if session.events else session.clock.monotonic_ns
    return validate_trajectory(
        Trajectory(
            id=session.id,
            task=validate_as(
                Task,
                {
                    "id": session.id,
                    "instruction": session.instruction,
                    "max_steps": min(max(len(steps), 1), MAX_TASK_STEPS),
                    "parameters": {"recording": details},
                },
            ),
            origin="recording",
            annotator=session.annotator,
            steps=steps,
            outcome=session.outcome,
            terminated=session.state == "finished",
            truncated=session.state == "crashed",
            created_at=_moment(session, session.clock.monotonic_ns),
            finished_at=_moment(session, last_ns),
        )
    )


def _is_own_hotkey(action: Any) -> bool:
    """Whether an act commands the recorder: Ctrl, Shift and Super with a letter of its own."""
    keys = set(action.keys) if isinstance(action, PressKeys) else set()
    return keys > OWN_HOTKEY_MODIFIERS and keys - OWN_HOTKEY_MODIFIERS <= OWN_HOTKEYS


def _elements(placed: Sequence[PlacedAct]) -> list[dict[str, Any]]:
    return [
        StepElement(step=place, **one.act.element.model_dump(exclude={"late_ns"})).model_dump(mode="json")
        for place, one in enumerate(placed)
        if one.act.element is not None
    ]


def _note(session: _Session, event: NoteEvent) -> dict[str, Any]:
    return {"seconds": round((event.t_ns - session.clock.monotonic_ns) / 1e9, 2), "note": event.note}


def _step(session: _Session, source_row: SourceRow, index: int, one: PlacedAct, thought: str) -> Step:
    before = _observation(session, source_row, one.before, settled=one.before_settled)
    if (point := find_off_screen_point(one.act.action, before.width, before.height)) is not None:
        raise RowError("bad_row", f"An act at {point.x}, {point.y} is outside of its screenshot.")
    return Step(
        index=index,
        command_id=f"{session.id}/{index}",
        actor="human",
        decision="override",
        thought=thought,
        action=one.act.action,
        before=before,
        after=_observation(session, source_row, one.after, settled=one.after_settled),
        started_at=_moment(session, one.act.started_ns),
        ended_at=_moment(session, one.act.ended_ns),
    )


def _levels(session: _Session, levels: _Levels) -> list[dict[str, Any]]:
    """The loudness in seconds from the begin of the session, at a lower rate where it is long."""
    count = sum(len(run.values) for run in levels.runs)
    each = max(1, -(-count // MAX_LEVELS))
    return [
        LoudnessRun(
            begin=round((run.t_ns - session.clock.monotonic_ns) / 1e9, 3),
            rate=levels.rate / each,
            values=b64encode(
                bytes(max(run.values[place : place + each]) for place in range(0, len(run.values), each))
            ).decode(),
        ).model_dump()
        for run in levels.runs
    ]


def _observation(
    session: _Session, source_row: SourceRow, screenshot: ScreenshotEvent, *, settled: bool
) -> Observation:
    look = imported_observation(source_row.find(screenshot.sha256), _moment(session, screenshot.t_ns))
    changes: dict[str, Any] = {"application": screenshot.app or None}
    if not settled:
        changes |= {"settled": False, "rest": "skipped"}
    return look.model_copy(update=changes)


def _begin(act: RecordedAct) -> int:
    """The earliest time at which an act may have begun."""
    return act.started_ns - act.error_ns


def _last_screenshot(screenshots: Sequence[ScreenshotEvent], t_ns: int) -> int | None:
    place = bisect_right(screenshots, t_ns, key=lambda screenshot: screenshot.t_ns) - 1
    return place if place >= 0 else None


def _is_settled(screenshots: Sequence[ScreenshotEvent], place: int, t_ns: int) -> bool:
    """Whether the screen still showed a screenshot at this time."""
    return place + 1 >= len(screenshots) or screenshots[place + 1].damaged_ns >= t_ns


def _moment(session: _Session, t_ns: int) -> datetime:
    """A monotonic time as a date; a clock that was set during the session changes nothing."""
    since_epoch = session.clock.realtime_ns + t_ns - session.clock.monotonic_ns
    return EPOCH + timedelta(microseconds=since_epoch // 1_000)


READER = RowReader("recording", lambda row: row.get("format") == SESSION_FORMAT, read)
