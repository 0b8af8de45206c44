"""Agreeing to what a pool asks its people to agree to."""

from django.db import transaction

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.errors import Conflict, Forbidden, NotFound
from annotation_app.tasks.models import Consent, Pool
from annotation_app.tasks.selectors import can_annotate, pools_assigned_to


def consent_check(*, user: User, pool: Pool) -> None:
    """Raises Conflict (`consent_needed`) where this person has not agreed to the pool's present terms; `extra` has
    them."""
    if not pool.consent:
        return
    if Consent.objects.filter(pool=pool, annotator=user, version=pool.consent_version).exists():
        return
    raise Conflict(
        f"{pool.name} asks everybody to agree to its terms first. Agree on the platform's page Recorder.",
        code="consent_needed",
        extra={"pool": pool.pk, "name": pool.name, "version": pool.consent_version, "text": pool.consent},
    )


@transaction.atomic(durable=True)
def consent_give(*, user: User, pool_id: int, version: int) -> None:
    """Record, once, that this person agrees to this version of a pool's terms. Raises Forbidden, NotFound, and Conflict
    where the terms are others by now."""
    if not can_annotate(user):
        raise Forbidden("Only annotators agree to a pool's terms.")
    pool = Pool.objects.select_for_update().filter(pk__in=pools_assigned_to(user).values("pk"), pk=pool_id).first()
    if pool is None:
        raise NotFound("There is no such pool.", field="pool_id")
    if pool.consent_version != version:
        extra = {"version": pool.consent_version, "text": pool.consent}
        raise Conflict("The terms have changed; read them again.", code="consent_changed", extra=extra)
    _, new = Consent.objects.get_or_create(pool=pool, annotator=user, version=version, defaults={"text": pool.consent})
    if new:
        audit_record(actor=user, verb="consent.given", subject=f"pool:{pool.pk}", details={"version": version})
