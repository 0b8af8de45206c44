"""What requests to models have in common: a worker takes one up, beats, and one that it dropped is done again."""

from contextlib import AbstractContextManager
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from annotation_app.design.models import UNDER_WAY, DraftRequest, Writer, Writing, WritingState
from annotation_app.design.schemas import WriterServer
from annotation_app.heartbeats import abandoned_jobs, heartbeat

ATTEMPTS = 3


def request_begin(queued: QuerySet[Writing] | QuerySet[DraftRequest]) -> bool:
    """Take up a request where it is queued."""
    started = {"attempts": F("attempts") + 1, "heard_at": timezone.now(), "error": ""}
    return bool(queued.filter(status=WritingState.QUEUED).update(status=WritingState.RUNNING, **started))


def request_cancel(rows: QuerySet[Writing] | QuerySet[DraftRequest]) -> bool:
    """Cancel a request where it is under way."""
    return bool(rows.filter(status__in=UNDER_WAY).update(status=WritingState.CANCELLED))


def request_end(rows: QuerySet[Writing] | QuerySet[DraftRequest], *, error: str) -> bool:
    """End a request that is running; False for one that was cancelled."""
    status = WritingState.FAILED if error else WritingState.DONE
    return bool(rows.filter(status=WritingState.RUNNING).update(status=status, error=error[:2_000]))


def request_heartbeat(rows: QuerySet[Writing] | QuerySet[DraftRequest]) -> AbstractContextManager[None]:
    """Heartbeats of a request that this worker has, while the block runs."""
    return heartbeat(rows.filter(status=WritingState.RUNNING))


def writings_stale() -> tuple[UUID, ...]:
    """Queue again the requests for wordings whose worker died; one that broke off too often fails. Returns the
    queued ones."""
    return _requeue(Writing)


def draft_requests_stale() -> tuple[UUID, ...]:
    """The same of requests for drafts."""
    return _requeue(DraftRequest)


@transaction.atomic(durable=True)
def _requeue(model: type[Writing] | type[DraftRequest]) -> tuple[UUID, ...]:
    silent = abandoned_jobs(model.objects.all())
    tired = silent.filter(attempts__gte=ATTEMPTS)
    tired.update(status=WritingState.FAILED, error=f"It broke off {ATTEMPTS} times.")
    again = tuple(silent.select_for_update(skip_locked=True).values_list("pk", flat=True))
    model.objects.filter(pk__in=again).update(status=WritingState.QUEUED, heard_at=timezone.now())
    return again


def server_of(writer: Writer) -> WriterServer:
    """All that is needed to ask a model."""
    return WriterServer(
        base_url=writer.base_url, model=writer.model, temperature=writer.temperature, max_tokens=writer.max_tokens
    )
