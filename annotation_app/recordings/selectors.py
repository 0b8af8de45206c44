"""Queries on recordings, and the position of an episode's steps in them."""

from datetime import datetime, timedelta
from itertools import zip_longest
from uuid import UUID

from django.utils import timezone

from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors import ENDED_STATUSES
from annotation_app.recordings.models import Recording, RecordingState
from annotation_app.recordings.schemas import RecordingOut, RecordingPart, StepMark, StoredPart
from protocol.base import FrozenModel
from protocol.trajectory.steps import Step


class PendingRecording(FrozenModel):
    """A recording of an ended episode that is still at its bridge."""

    key: str
    host_url: str
    overdue: bool
    """Whether it has waited too long and counts as lost."""


MAX_WAIT = timedelta(days=7)


def recordings_pending() -> tuple[PendingRecording, ...]:
    """Recordings that can be fetched now, oldest first."""
    rows = Recording.objects.filter(state=RecordingState.AT_BRIDGE, episode__status__in=ENDED_STATUSES)
    overdue = timezone.now() - MAX_WAIT
    return tuple(PendingRecording(key=row.key, host_url=row.host_url, overdue=row.created_at < overdue) for row in rows)


def recording_of(*, episode_id: UUID) -> RecordingOut:
    """Every stored part of an episode's video, in order, with its steps."""
    rows = list(Recording.objects.filter(episode_id=episode_id))
    steps = [step.document for step in Episode.objects.get(pk=episode_id).steps.all()]
    stored = sorted((part for row in rows for part in row.parts), key=lambda part: part.started_at)
    next_begins = [part.started_at for part in stored[1:]]
    parts = tuple(
        _part(number, part, steps, until) for number, (part, until) in enumerate(zip_longest(stored, next_begins))
    )
    pending = any(row.state == RecordingState.AT_BRIDGE for row in rows)
    return RecordingOut(pending=pending, parts=parts)


def _part(number: int, part: StoredPart, steps: list[Step], until: datetime | None) -> RecordingPart:
    """A part with the steps that began while it ran: before the next part began, or before it ended."""
    end = part.ended_at or until
    marks = tuple(
        StepMark(index=step.index, begins=_seconds(part, step.started_at), ends=_seconds(part, step.ended_at))
        for step in steps
        if part.started_at <= step.started_at and (end is None or step.started_at < end)
    )
    seconds = None if part.ended_at is None else _seconds(part, part.ended_at)
    return RecordingPart(
        number=number, sha256=part.blob.sha256, started_at=part.started_at, seconds=seconds, steps=marks
    )


def _seconds(part: StoredPart, at: datetime) -> float:
    return round((at - part.started_at).total_seconds(), 3)
