"""Recorded sessions: announced, withdrawn, deleted."""

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import ProtectedError, Sum
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.blobs.services import blob_deletion_try_begin, blobs_delete
from annotation_app.episodes.models import (
    Episode,
    EpisodeBlob,
    LateThought,
    Proposal,
    Source,
    Step,
    Undoing,
    Withdrawal,
)
from annotation_app.errors import Conflict, NotFound, TooLarge, TooMany
from annotation_app.exports.models import VersionMember
from annotation_app.flywheel.models import Use
from annotation_app.imports.models import Import, ImportState, Upload
from annotation_app.imports.selectors import recorder_check
from annotation_app.imports.services import upload_admit
from annotation_app.judges.models import Judgement
from annotation_app.recorder.models import PairedComputer, RecordedSession
from annotation_app.recorder.schemas import SessionUploadIn
from annotation_app.recorder.selectors import recorded_episodes, recording_pool_of, session_of
from annotation_app.retention.selectors import export_under_way
from annotation_app.reviews.models import Duplicate, Job, ThoughtVariant
from annotation_app.tasks.models import Assignment, Task
from annotation_app.tasks.services import consent_check

DELETION_SETTING = "pilothouse.deleted_recording"
"""Names the episode whose steps the database lets go in this transaction; see this app's migrations."""
ACTIVE_IMPORTS = (ImportState.QUEUED, ImportState.RUNNING)


@transaction.atomic(durable=True)
def session_upload_create(
    *, user: User, size: int, wish: SessionUploadIn, computer: PairedComputer | None = None
) -> Upload:
    """Admit a session that is to arrive in parts. One that was announced before takes the place of its earlier upload.
    One that its owner deleted comes in again only where they say so (`again`).

    Raises:
        NotFound: `no_recording_pool`, `no_brief`
        TooLarge: `recording_too_large`, `recordings_quota`, `upload_quota`
        TooMany: `recordings_per_day`
        Conflict: `recording_importing`, `recording_deleted`, `consent_needed`
        Forbidden, DiskFull
    """
    recorder_check(user)
    pool = recording_pool_of(user=user, pool_id=wish.pool)
    if wish.task and not pool.tasks.filter(key=wish.task).exists():
        raise NotFound("The pool has no such task.", code="no_brief", field="task")
    User.objects.select_for_update().get(pk=user.pk)
    _check_bounds(user, size, wish.session)
    row = RecordedSession.objects.filter(owner=user, session=wish.session).first() or RecordedSession(
        owner=user, session=wish.session
    )
    if row.deleted_at is not None and not wish.again:
        raise Conflict(
            "You deleted this recording on the platform. To cut it and send it again, run `reopen` first.",
            code="recording_deleted",
        )
    consent_check(user=user, pool=pool)
    if row.upload is not None:
        if Import.objects.filter(pk=row.upload, status__in=ACTIVE_IMPORTS).exists():
            raise Conflict("This recording is being imported.", code="recording_importing")
        Upload.objects.filter(pk=row.upload, owner=user).update(expires_at=timezone.now())
    upload = upload_admit(
        Upload(
            owner=user,
            name=f"{wish.session}.zip",
            size=size,
            sha256=wish.sha256,
            pool_name=pool.name,
            pool=pool,
            session=wish.session,
            format="recording",
        )
    )
    row.pool, row.task_key, row.computer, row.size = pool, wish.task, computer, size
    row.upload, row.deleted_at = upload.pk, None
    row.save()
    return upload


@transaction.atomic(durable=True)
def session_withdraw(*, user: User, session_id: UUID) -> RecordedSession:
    """Take back the consent to one recording: no export, dataset or training has it from now on. Repeated, it changes
    nothing. Raises Forbidden, NotFound, and Conflict for one that has not come in."""
    row = session_of(user=user, session_id=session_id)
    episode = recorded_episodes(user, [row.session]).first()
    if episode is None:
        raise Conflict("This recording has not come in. Delete it.", code="recording_not_in")
    _withdrawal, created = Withdrawal.objects.get_or_create(episode=episode)
    if created:
        audit_record(actor=user, verb="recording.withdrawn", subject=f"episode:{episode.pk}")
    return row


@transaction.atomic(durable=True)
def session_delete(*, user: User, session_id: UUID) -> RecordedSession:
    """Delete a recording from the platform, with its pictures, words and steps. Repeated, it changes nothing.

    Raises:
        Conflict: `recording_reviewed` once somebody has reviewed it, `recording_used` once a model has learned from it
            or a dataset version has it, `pictures_in_use` while an export or an import runs.
        Forbidden, NotFound
    """
    row = session_of(user=user, session_id=session_id)
    if row.deleted_at is not None:
        return row
    row = RecordedSession.objects.select_for_update(of=("self",)).select_related("pool", "computer").get(pk=row.pk)
    _stop_arrival(user, row)
    episode = recorded_episodes(user, [row.session]).select_for_update(of=("self",)).first()
    if episode is not None:
        _delete_episode(episode)
    row.deleted_at = timezone.now()
    row.save(update_fields=["deleted_at"])
    audit_record(actor=user, verb="recording.deleted", subject=f"user:{user.pk}", details={"session": str(row.session)})
    return row


def _check_bounds(user: User, size: int, session: UUID) -> None:
    env = settings.ENV
    if size > env.recording_limit_bytes:
        raise TooLarge(f"A recording may have {env.recording_limit_bytes} bytes.", code="recording_too_large")
    others = RecordedSession.objects.filter(owner=user).exclude(session=session)
    if others.filter(created_at__gt=timezone.now() - timedelta(days=1)).count() >= env.recordings_per_day:
        raise TooMany(f"You may upload {env.recordings_per_day} recordings in 24 hours.", code="recordings_per_day")
    used = others.filter(deleted_at__isnull=True).aggregate(sum=Sum("size"))["sum"] or 0
    if used + size > env.recordings_per_person_bytes:
        raise TooLarge(
            f"Your recordings may have {env.recordings_per_person_bytes} bytes together. Delete one first.",
            code="recordings_quota",
            extra={"used": used, "most": env.recordings_per_person_bytes},
        )


def _stop_arrival(user: User, row: RecordedSession) -> None:
    """End the upload or import that is under way."""
    if row.upload is None:
        return
    Import.objects.filter(pk=row.upload, status__in=ACTIVE_IMPORTS).update(
        status=ImportState.CANCELLED, finished_at=timezone.now()
    )
    Upload.objects.filter(pk=row.upload, owner=user).update(expires_at=timezone.now())


def _delete_episode(episode: Episode) -> None:
    if Use.objects.filter(sample__episode=episode.pk).exists() or VersionMember.objects.filter(episode=episode.pk):
        raise Conflict(
            "It was learned from, or a dataset version has it. Withdraw your consent instead.", code="recording_used"
        )
    if not blob_deletion_try_begin() or export_under_way():
        raise Conflict("An export or import reads pictures now. Try again later.", code="pictures_in_use")
    assignment, task = episode.assignment, episode.task
    links = EpisodeBlob.objects.filter(episode=episode)
    digests = set(links.values_list("blob_id", flat=True))
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config(%s, %s, true)", [DELETION_SETTING, str(episode.pk)])
    for rows in (
        Undoing.objects.filter(step__episode=episode),
        LateThought.objects.filter(step__episode=episode),
        Step.objects.filter(episode=episode),
        Proposal.objects.filter(episode=episode),
        links,
        Source.objects.filter(episode=episode),
        Judgement.objects.filter(episode=episode),
        Job.objects.filter(episode=episode),
        ThoughtVariant.objects.filter(episode=episode),
        Duplicate.objects.filter(one=episode),
        Duplicate.objects.filter(other=episode),
        Withdrawal.objects.filter(episode=episode),
    ):
        rows.delete()
    try:
        episode.delete()
    except ProtectedError:
        raise Conflict(
            "A reviewer has looked at it. Withdraw your consent instead.", code="recording_reviewed"
        ) from None
    Assignment.objects.filter(pk=assignment.pk).delete()
    if not task.assignments.exists() and not task.episodes.exists():
        Task.objects.filter(pk=task.pk).delete()
    blobs_delete(digests)
