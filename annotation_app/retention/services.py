"""Creating rules, and applying them in small transactions."""

import shutil
from collections.abc import Callable

from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.utils import timezone

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.models import AuditEntry
from annotation_app.audit.services import audit_record
from annotation_app.audit.verbs import Verb
from annotation_app.blobs.services import blob_deletion_try_begin, blobs_delete
from annotation_app.episodes.models import Episode, EpisodeBlob
from annotation_app.errors import Conflict, NotFound
from annotation_app.exports.models import Export, Version
from annotation_app.exports.selectors import export_folder
from annotation_app.recordings.models import Recording, RecordingState
from annotation_app.retention.models import Rule, What
from annotation_app.retention.schemas import Removed, RuleIn
from annotation_app.retention.selectors import (
    PREVIEW_VALID_FOR,
    audit_entries_matching_rule,
    episodes_matching_rule,
    export_under_way,
    exports_matching_rule,
    preview_of,
    recordings_matching_rule,
    rule_of,
)
from annotation_app.tasks.models import Pool
from protocol.trajectory.export_folders import UNFINISHED_SUFFIX

EPISODES, EXPORTS, ENTRIES = 20, 1, 1_000
"""Items deleted in one transaction, by kind."""
BATCHES_PER_RUN = 100
"""Most transactions in one run of a rule. The next run continues."""


@transaction.atomic(durable=True)
def rule_make(*, user: User, wanted: RuleIn) -> Rule:
    """Create a rule, switched off. Raises Forbidden, NotFound, and Conflict if one of this kind exists."""
    role_check(user, Role.ADMIN)
    if wanted.pool is not None and not Pool.objects.filter(pk=wanted.pool).exists():
        raise NotFound("There is no such pool.", field="pool")
    try:
        with transaction.atomic():
            rule = Rule.objects.create(what=wanted.what, pool_id=wanted.pool, days=wanted.days, created_by=user)
    except IntegrityError:
        raise Conflict("There is a rule for this already; delete it first.", code="rule_exists") from None
    _audit(user, "retention.made", rule)
    return rule


@transaction.atomic(durable=True)
def rule_preview(*, user: User, rule_id: int) -> Rule:
    """Count what a rule would delete now. Raises Forbidden and NotFound."""
    rule = rule_of(user=user, rule_id=rule_id)
    preview = preview_of(rule)
    rule.previewed_at, rule.preview = preview.at, preview.model_dump(mode="json")
    rule.save(update_fields=["previewed_at", "preview"])
    return rule


@transaction.atomic(durable=True)
def rule_switch(*, user: User, rule_id: int, active: bool) -> Rule:
    """Switch a rule on or off. Raises Forbidden, NotFound, and Conflict if it has no recent preview."""
    rule = rule_of(user=user, rule_id=rule_id)
    if active and (rule.previewed_at is None or rule.previewed_at < timezone.now() - PREVIEW_VALID_FOR):
        raise Conflict("Look at what it would delete first.", code="not_previewed")
    if rule.active != active:
        rule.active = active
        rule.save(update_fields=["active"])
        _audit(user, "retention.on" if active else "retention.off", rule, preview=rule.preview)
    return rule


@transaction.atomic(durable=True)
def rule_delete(*, user: User, rule_id: int) -> None:
    """Delete a rule. What it deleted stays deleted. Raises Forbidden and NotFound."""
    rule = rule_of(user=user, rule_id=rule_id)
    _audit(user, "retention.deleted", rule)
    rule.delete()


def rule_run(*, rule_id: int) -> Removed:
    """Delete what an active rule selects, up to the limit of one run. Returns what was deleted."""
    rule = Rule.objects.filter(pk=rule_id, active=True).first()
    if rule is None:
        return Removed()
    batch = BATCH[What(rule.what)]
    removed, error = Removed(), ""
    for _ in range(BATCHES_PER_RUN):
        try:
            some = batch(rule)
        except OSError as failed:
            error = f"{type(failed).__name__}: {failed.strerror}"
            break
        if not some.items:
            break
        removed += some
    _run_record(rule, removed, error)
    return removed


@transaction.atomic(durable=True)
def _run_record(rule: Rule, removed: Removed, error: str) -> None:
    Rule.objects.filter(pk=rule.pk).update(
        ran_at=timezone.now(), removed=F("removed") + removed.items, freed=F("freed") + removed.bytes, error=error
    )
    if removed.items or error:
        _audit(None, "retention.ran", rule, **removed.model_dump(), error=error)


@transaction.atomic(durable=True)
def _pictures_batch(rule: Rule) -> Removed:
    """Delete the pictures of some episodes; none while an export, which may read them, is queued or running."""
    if not blob_deletion_try_begin() or export_under_way():
        return Removed()
    chosen = list(
        episodes_matching_rule(rule)
        .order_by()
        .select_for_update(of=("self",), skip_locked=True)
        .values_list("pk", flat=True)[:EPISODES]
    )
    links = EpisodeBlob.objects.filter(episode__in=chosen, blob__media_type__startswith="image/")
    digests = set(links.values_list("blob_id", flat=True))
    links.delete()
    Episode.objects.filter(pk__in=chosen).update(emptied_at=timezone.now())
    files, size = blobs_delete(digests)
    return Removed(items=len(chosen), files=files, bytes=size)


@transaction.atomic(durable=True)
def _recordings_batch(rule: Rule) -> Removed:
    if not blob_deletion_try_begin() or export_under_way():
        return Removed()
    rows = list(recordings_matching_rule(rule).order_by().select_for_update(of=("self",), skip_locked=True)[:EPISODES])
    digests: set[str] = set()
    for row in rows:
        parts = {part.blob.sha256 for part in row.parts}
        EpisodeBlob.objects.filter(episode_id=row.episode_id, blob_id__in=parts).delete()
        digests |= parts
    Recording.objects.filter(pk__in=[row.pk for row in rows]).update(state=RecordingState.DELETED, parts=())
    files, size = blobs_delete(digests)
    return Removed(items=len(rows), files=files, bytes=size)


@transaction.atomic(durable=True)
def _exports_batch(rule: Rule) -> Removed:
    """Delete the folders of some exports. An export that became a dataset version meanwhile stays, because freezing
    also locks its row."""
    rows = list(exports_matching_rule(rule).order_by().select_for_update(of=("self",), skip_locked=True)[:EXPORTS])
    size = 0
    for row in rows:
        if Version.objects.filter(export=row).exists():
            continue
        folder = export_folder(row.pk)
        for path in (folder, folder.with_name(folder.name + UNFINISHED_SUFFIX)):
            if path.exists():
                shutil.rmtree(path)
        size += row.bytes
        Export.objects.filter(pk=row.pk).delete()
    return Removed(items=len(rows), bytes=size)


@transaction.atomic(durable=True)
def _audit_batch(rule: Rule) -> Removed:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('pilothouse.retention', 'audit_auditentry', true)")
    chosen = list(audit_entries_matching_rule(rule).order_by("pk").values_list("pk", flat=True)[:ENTRIES])
    AuditEntry.objects.filter(pk__in=chosen).delete()
    return Removed(items=len(chosen))


BATCH: dict[What, Callable[[Rule], Removed]] = {
    What.PRACTICE: _pictures_batch,
    What.LEFT: _pictures_batch,
    What.UNACCEPTED: _pictures_batch,
    What.RECORDINGS: _recordings_batch,
    What.EXPORTS: _exports_batch,
    What.AUDIT: _audit_batch,
}


def _audit(user: User | None, verb: Verb, rule: Rule, **details: object) -> None:
    told = {"what": rule.what, "pool": rule.pool_id, "days": rule.days, **details}
    audit_record(actor=user, part="retention", verb=verb, subject=f"retention:{rule.pk}", details=told)
