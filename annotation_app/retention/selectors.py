"""What rules select: episodes, recordings, exports and audit entries."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.models import AuditEntry
from annotation_app.blobs.models import Blob
from annotation_app.episodes.models import Branch, Episode, EpisodeBlob, Review
from annotation_app.episodes.selectors import ENDED_STATUSES
from annotation_app.errors import NotFound
from annotation_app.exports.models import Export, ExportState, VersionMember
from annotation_app.judges.schemas import PoolName
from annotation_app.natural_order import natural_key
from annotation_app.recordings.models import Recording, RecordingState
from annotation_app.retention.models import Rule, What
from annotation_app.retention.schemas import Preview, RetentionPage, RuleOut
from annotation_app.reviews.models import Adjudication
from annotation_app.tasks.models import Pool, Task

PICTURE_RULES = (What.PRACTICE, What.LEFT, What.UNACCEPTED)
ENDED_EXPORTS = (ExportState.DONE, ExportState.FAILED, ExportState.CANCELLED)
PREVIEW_VALID_FOR = timedelta(days=1)
"""How long a preview permits switching its rule on."""


def retention_page(*, user: User) -> RetentionPage:
    """Every rule. Raises Forbidden."""
    role_check(user, Role.ADMIN)
    return RetentionPage(
        rules=tuple(map(rule_out, Rule.objects.select_related("pool", "created_by"))),
        pools=tuple(
            PoolName(id=pool.pk, name=pool.name)
            for pool in sorted(Pool.objects.all(), key=lambda pool: natural_key(pool.name))
        ),
    )


def rule_of(*, user: User, rule_id: int) -> Rule:
    """One rule. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN)
    found = Rule.objects.select_related("pool", "created_by").filter(pk=rule_id).first()
    if found is None:
        raise NotFound("There is no such rule.", field="rule_id")
    return found


def rule_out(rule: Rule) -> RuleOut:
    """A rule as admins see it."""
    return RuleOut(
        id=rule.pk,
        what=rule.what,
        pool_id=rule.pool_id,
        pool=rule.pool.name if rule.pool else None,
        days=rule.days,
        active=rule.active,
        preview=Preview.model_validate(rule.preview) if rule.preview else None,
        ran_at=rule.ran_at,
        removed=rule.removed,
        freed=rule.freed,
        error=rule.error,
        created_by=rule.created_by.username,
    )


def rule_cutoff(rule: Rule) -> datetime:
    """The cutoff: what ended before it is old enough."""
    return timezone.now() - timedelta(days=rule.days)


def episodes_matching_rule(rule: Rule, *, spared: bool = False) -> QuerySet[Episode]:
    """The episodes whose pictures a rule deletes. With `spared`, those that are old enough but stay."""
    protected_filter = _protected_episodes()
    rule_filter = {
        What.PRACTICE: Q(task__pool__practice=True),
        What.LEFT: Q(task__pool__practice=False, status="left"),
        What.UNACCEPTED: Q(task__pool__practice=False, status="finished") & ~Q(review=Review.ACCEPTED),
    }[What(rule.what)]
    found = _past_cutoff(rule, Episode.objects.filter(rule_filter, status__in=ENDED_STATUSES, emptied_at__isnull=True))
    return found.filter(protected_filter if spared else ~protected_filter)


def recordings_matching_rule(rule: Rule, *, spared: bool = False) -> QuerySet[Recording]:
    """The videos that a rule deletes. Those that a dataset version has, or that are needed, stay."""
    episodes = _past_cutoff(rule, Episode.objects.filter(status__in=ENDED_STATUSES))
    protected_filter = _protected_episodes()
    return Recording.objects.filter(
        state=RecordingState.STORED,
        episode__in=episodes.filter(protected_filter if spared else ~protected_filter).values("pk"),
    )


def exports_matching_rule(rule: Rule, *, spared: bool = False) -> QuerySet[Export]:
    """The exports whose folders a rule deletes. A dataset version stays."""
    found = Export.objects.filter(
        status__in=ENDED_EXPORTS, finished_at__lt=rule_cutoff(rule), version__isnull=not spared
    )
    return found if rule.pool_id is None else found.filter(pool_id=rule.pool_id)


def audit_entries_matching_rule(rule: Rule) -> QuerySet[AuditEntry]:
    """The entries of the audit log that a rule deletes."""
    return AuditEntry.objects.filter(at__lt=rule_cutoff(rule))


def preview_of(rule: Rule) -> Preview:
    """What a rule would delete now."""
    now = timezone.now()
    if rule.what == What.EXPORTS:
        total = exports_matching_rule(rule).aggregate(items=Count("pk"), bytes=Sum("bytes"))
        spared = exports_matching_rule(rule, spared=True).count()
        return Preview(at=now, items=total["items"], files=0, bytes=total["bytes"] or 0, spared=spared)
    if rule.what == What.AUDIT:
        return Preview(at=now, items=audit_entries_matching_rule(rule).count(), files=0, bytes=0, spared=0)
    if rule.what == What.RECORDINGS:
        found = list(recordings_matching_rule(rule))
        parts = {part.blob.sha256: part.blob.size for each in found for part in each.parts}
        spared = recordings_matching_rule(rule, spared=True).count()
        return Preview(at=now, items=len(found), files=len(parts), bytes=sum(parts.values()), spared=spared)
    episodes = episodes_matching_rule(rule)
    links = EpisodeBlob.objects.filter(blob=OuterRef("pk"))
    alone = Blob.objects.filter(
        Exists(links.filter(episode__in=episodes.values("pk"))),
        ~Exists(links.exclude(episode__in=episodes.values("pk"))),
        media_type__startswith="image/",
    )
    total = alone.aggregate(files=Count("pk"), bytes=Sum("size"))
    return Preview(
        at=now,
        items=episodes.count(),
        files=total["files"],
        bytes=total["bytes"] or 0,
        spared=episodes_matching_rule(rule, spared=True).count(),
    )


def rules_active() -> tuple[int, ...]:
    """Active rules."""
    return tuple(Rule.objects.filter(active=True).values_list("pk", flat=True))


def export_under_way() -> bool:
    """Whether an export is being written or queued."""
    return Export.objects.filter(status__in=(ExportState.QUEUED, ExportState.RUNNING)).exists()


def _past_cutoff(rule: Rule, found: QuerySet[Episode]) -> QuerySet[Episode]:
    ended = Greatest(Coalesce("finished_at", "created_at"), "reviewed_at")  # PostgreSQL ignores nulls here
    aged = found.annotate(ended=ended).filter(ended__lt=rule_cutoff(rule))
    return aged if rule.pool_id is None else aged.filter(task__pool_id=rule.pool_id)


def _protected_episodes() -> Q:
    """Episodes that no rule touches: those of a dataset version, answers of gold tasks, those chosen by adjudication,
    and those from which other attempts branch."""

    def named(rows: QuerySet[Any], column: str) -> Exists:
        return Exists(rows.filter(**{column: OuterRef("pk")}))

    return (
        Q(named(VersionMember.objects.all(), "episode"))
        | Q(named(Task.objects.all(), "gold_id"))
        | Q(named(Adjudication.objects.all(), "chosen_id"))
        | Q(named(Branch.objects.all(), "episode_id"))
    )
