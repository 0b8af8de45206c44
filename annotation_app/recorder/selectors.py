"""Queries on paired computers, pools that accept recordings, and a person's recorded sessions."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.accounts.services import digest_secret
from annotation_app.episodes.models import Episode, Review
from annotation_app.errors import NotFound
from annotation_app.exports.models import VersionMember
from annotation_app.flywheel.selectors.lineage import checkpoints_taught_by
from annotation_app.imports.models import Import, ImportState, Upload
from annotation_app.imports.schemas import ImportOut
from annotation_app.imports.selectors import import_out, recorder_check
from annotation_app.recorder.models import PairedComputer, RecordedSession
from annotation_app.recorder.schemas import (
    Brief,
    ComputerOut,
    LearnedFrom,
    PoolTerms,
    RecordedSessionOut,
    RecordedSessionState,
    RecorderPage,
    RecordingPool,
    TermsToAgree,
)
from annotation_app.tasks.models import Pool, TaskState
from annotation_app.tasks.selectors import pool_order, pools_agreed_to, pools_assigned_to

MAX_BRIEFS = 100
"""Most briefs of a pool that a recorder gets."""
MAX_SHOWN = 200
"""Sessions on a person's page, the newest."""


def recorder_page(*, user: User) -> RecorderPage:
    """The person's computers and recordings. Raises Forbidden for all but annotators."""
    recorder_check(user)
    rows = user.recorded_sessions.select_related("pool", "computer")[:MAX_SHOWN]
    pools, agreed = _recording_pools(user), pools_agreed_to(user)
    return RecorderPage(
        computers=tuple(computer_out(one) for one in computers_of(user)),
        recordings=_sessions_out(user, rows),
        pools=tuple(pool.name for pool in pools),
        terms=tuple(
            TermsToAgree(pool=pool.pk, name=pool.name, version=pool.consent_version, text=pool.consent)
            for pool in pools
            if pool.consent and pool.pk not in agreed
        ),
    )


def computers_of(user: User) -> QuerySet[PairedComputer]:
    """Those that are paired, and those whose code can still be used."""
    waiting = Q(paired_at__isnull=True, code_expires_at__gt=timezone.now())
    paired = Q(token__expires_at__gt=timezone.now())
    return PairedComputer.objects.select_related("token").filter(waiting | paired, user=user)


def computer_out(computer: PairedComputer) -> ComputerOut:
    """A computer as its person sees it."""
    token = computer.token
    return ComputerOut(
        id=computer.pk,
        name=computer.name,
        paired_at=computer.paired_at,
        used_at=token.used_at if token else None,
        expires_at=token.expires_at if token else computer.code_expires_at,
    )


def computer_with_token(secret: str) -> PairedComputer | None:
    """The computer that is paired with this token; None for other tokens."""
    return PairedComputer.objects.filter(token__sha256=digest_secret(secret)).first() if secret else None


def pairing_end(secret: str) -> Literal["recorder_revoked", "recorder_expired"] | None:
    """How the pairing ended whose token this was; None where it was none's."""
    ended = PairedComputer.objects.filter(token_sha256=digest_secret(secret)).first()
    if ended is None:
        return None
    return "recorder_revoked" if ended.token_id is None else "recorder_expired"


def pools_for_recordings(*, user: User) -> list[RecordingPool]:
    """The pools that take this person's recordings, with their briefs. Raises Forbidden."""
    recorder_check(user)
    agreed = pools_agreed_to(user)
    return [
        RecordingPool(
            id=pool.pk,
            name=pool.name,
            description=pool.description,
            instructions=pool.instructions,
            terms=PoolTerms(version=pool.consent_version, text=pool.consent, agreed=pool.pk in agreed)
            if pool.consent
            else None,
            briefs=tuple(
                Brief(key=task.key, instruction=task.definition.instruction)
                for task in pool.tasks.filter(state=TaskState.WAITING, gold__isnull=True)[:MAX_BRIEFS]
            ),
        )
        for pool in _recording_pools(user)
    ]


def recording_pool_of(*, user: User, pool_id: int) -> Pool:
    """One of these pools. Raises NotFound, also for pools that are not the person's or take no recordings."""
    found = pools_assigned_to(user).filter(pk=pool_id, takes_recordings=True, stopped_at__isnull=True).first()
    if found is None:
        raise NotFound("No pool of this id takes your recordings.", code="no_recording_pool", field="pool")
    return found


def session_of(*, user: User, session_id: UUID) -> RecordedSession:
    """One of the person's own sessions. Raises Forbidden and NotFound."""
    recorder_check(user)
    found = user.recorded_sessions.select_related("pool", "computer").filter(session=session_id).first()
    if found is None:
        raise NotFound("You have no such recording.")
    return found


def session_out(row: RecordedSession) -> RecordedSessionOut:
    """One recording as its person sees it."""
    return _sessions_out(row.owner, [row])[0]


def session_import(*, user: User, import_id: UUID) -> ImportOut:
    """How far the import of one of the person's recordings is. Raises Forbidden and NotFound."""
    recorder_check(user)
    job = Import.objects.filter(pk=import_id, requested_by=user, session__isnull=False).first()
    if job is None:
        raise NotFound("There is no such import.")
    return import_out(job)


def recorded_episodes(user: User, sessions: Iterable[UUID]) -> QuerySet[Episode]:
    """What became of these sessions of the person's: episodes that came in with one of their own uploads of that
    session, and not others of the same id."""
    arrivals = Import.objects.filter(requested_by=user, session=OuterRef("pk"), pk=OuterRef("source__arrival"))
    return Episode.objects.filter(Exists(arrivals), pk__in=sessions, annotator=user)


def _recording_pools(user: User) -> list[Pool]:
    pools = pools_assigned_to(user).filter(takes_recordings=True, stopped_at__isnull=True)
    return sorted(pools, key=pool_order)


def _sessions_out(user: User, rows: Iterable[RecordedSession]) -> tuple[RecordedSessionOut, ...]:
    found = list(rows)
    ids = [row.session for row in found]
    uploads = [row.upload for row in found if row.upload is not None]
    episodes = {
        episode.pk: episode
        for episode in recorded_episodes(user, ids)
        .select_related("task", "withdrawal")
        .annotate(step_count=Count("steps"))
    }
    jobs = {job.pk: job for job in Import.objects.filter(pk__in=uploads)}
    arriving = set(Upload.objects.filter(pk__in=uploads, expires_at__gt=timezone.now()).values_list("pk", flat=True))
    known = [row.session for row in found if row.session in episodes or row.deleted_at is not None]
    learned, versions = _learned(known), _versions(known)
    shown = []
    for row in found:
        episode, job = episodes.get(row.session), jobs.get(row.upload) if row.upload else None
        withdrawal = getattr(episode, "withdrawal", None)
        state = _state(row, episode, job, arriving)
        shown.append(
            RecordedSessionOut(
                id=row.session,
                pool=row.pool.name,
                task_key=row.task_key,
                instruction=episode.task.definition.instruction if episode else "",
                computer=row.computer.name if row.computer else "",
                size=row.size,
                state=state,
                error=job.error if job and state == "failed" else "",
                steps=episode.step_count if episode else 0,
                created_at=row.created_at,
                withdrawn_at=withdrawal.created_at if withdrawal else None,
                deleted_at=row.deleted_at,
                review=episode.review if episode else None,
                can_delete=state not in ("deleted", "reviewed", "withdrawn"),
                can_withdraw=episode is not None and withdrawal is None,
                learned=learned.get(row.session, ()),
                in_versions=versions.get(row.session, ()),
            )
        )
    return tuple(shown)


def _state(
    row: RecordedSession, episode: Episode | None, job: Import | None, arriving: set[UUID]
) -> RecordedSessionState:
    if row.deleted_at is not None:
        return "deleted"
    if episode is not None:
        if hasattr(episode, "withdrawal"):
            return "withdrawn"
        return "waiting" if episode.review == Review.PENDING else "reviewed"
    if job is not None:
        return "importing" if job.status in (ImportState.QUEUED, ImportState.RUNNING) else "failed"
    return "uploading" if row.upload in arriving else "stopped"


def _learned(episodes: Sequence[UUID]) -> dict[UUID, tuple[LearnedFrom, ...]]:
    return {
        episode: tuple(
            LearnedFrom(
                flywheel=one.turn.wheel.name,
                cycle=one.turn.number,
                phase=one.phase,
                revision=str(one.revision) if one.revision else "",
            )
            for one in checkpoints
        )
        for episode, checkpoints in checkpoints_taught_by(episodes).items()
    }


def _versions(episodes: Sequence[UUID]) -> dict[UUID, tuple[str, ...]]:
    names = defaultdict[UUID, list[str]](list)
    for member in VersionMember.objects.select_related("version").filter(episode__in=episodes):
        names[member.episode].append(str(member.version))
    return {episode: tuple(sorted(found)) for episode, found in names.items()}
