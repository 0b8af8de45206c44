"""Changes to probes. Only these services write to their table."""

from contextlib import AbstractContextManager
from datetime import timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from pydantic import SecretStr

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.encryption import PROVIDER_KEYS_PURPOSE, encrypt_value
from annotation_app.heartbeats import abandoned_jobs, heartbeat
from annotation_app.notifications.services.notices import admins_notify
from annotation_app.policies.selectors import policies_admin_check
from annotation_app.probes.models import UNDER_WAY, PolicyProbe, ProbeState
from annotation_app.probes.schemas import ProbeIn, ProbeOut, ProbeReason
from annotation_app.probes.selectors import pools_of, probe_of, probe_out
from protocol.evaluation.probes import ProbeReport

MAX_ATTEMPTS = 3
"""How many times a probe is started in all if its worker keeps dying."""
PROBES_KEPT = 50
"""Finished probes kept for each model."""


def probe_request(*, user: User | None, endpoint: ProbeIn, reason: ProbeReason) -> tuple[ProbeOut, bool]:
    """Queue a probe. If one of the same model is queued or running, returns that one and False.

    `user` is None for the schedule. Raises Forbidden.
    """
    if user is not None:
        policies_admin_check(user)
    same = {"base_url": endpoint.base_url, "model": endpoint.model, "dialect": endpoint.dialect}
    try:
        with transaction.atomic(durable=True):
            probe = PolicyProbe.objects.create(
                **same,
                **endpoint.model_dump(include={"screens", "provider", "provider_settings"}),
                prompt=endpoint.prompt,
                sealed_key=_seal(endpoint.api_key),
                reason=reason,
                requested_by=user,
            )
            if user is not None:
                audit_record(actor=user, verb="policy.probed", subject=f"probe:{probe.pk}", details=same)
    except IntegrityError:
        under_way = PolicyProbe.objects.filter(**same, status__in=UNDER_WAY).first()
        if under_way is None:
            raise
        return probe_out(under_way), False
    return probe_out(probe), True


@transaction.atomic(durable=True)
def probe_cancel(*, user: User, probe_id: UUID) -> None:
    """Cancel a probe. One that has ended stays unchanged. Raises Forbidden and NotFound."""
    policies_admin_check(user)
    probe = probe_of(probe_id)
    if _close(probe_id, ProbeState.CANCELLED):
        audit_record(actor=user, verb="policy.probe_cancelled", subject=f"probe:{probe.pk}")


def probe_begin(*, probe_id: UUID) -> ProbeOut | None:
    """Start a queued probe; None for any other."""
    started = {"attempts": F("attempts") + 1, "heard_at": timezone.now(), "answered": 0}
    queued = PolicyProbe.objects.filter(pk=probe_id, status=ProbeState.QUEUED)
    if not queued.update(status=ProbeState.RUNNING, **started):
        return None
    return probe_out(PolicyProbe.objects.get(pk=probe_id))


def probe_progress(*, probe_id: UUID, answered: int, questions: int) -> bool:
    """Record a probe's progress. Returns False if it is to stop."""
    running = PolicyProbe.objects.filter(pk=probe_id, status=ProbeState.RUNNING)
    return bool(running.update(answered=answered, questions=questions, heard_at=timezone.now()))


def probe_heartbeat(*, probe_id: UUID) -> AbstractContextManager[None]:
    """Send heartbeats for a probe of this worker while the block runs."""
    return heartbeat(PolicyProbe.objects.filter(pk=probe_id, status=ProbeState.RUNNING))


@transaction.atomic(durable=True)
def probe_finish(*, probe_id: UUID, report: ProbeReport) -> None:
    """Store a report. If it shows a fault in a model that proposes in a pool, admins get a notice."""
    if not _close(probe_id, ProbeState.DONE, report=report):
        return
    probe = probe_of(probe_id)
    _forget_old(probe)
    pools = pools_of(probe)
    errors = [finding for finding in report.findings if finding.severity == "error"]
    if pools and errors:
        details = {
            "policy": probe.model,
            "pools": ", ".join(pools),
            "finding": errors[0].code,
            "reason": errors[0].message,
        }
        admins_notify(kind="policy.degraded", subject=f"policy:{probe.pk}", details=details)


def probe_fail(*, probe_id: UUID, error: str) -> None:
    """Record why a probe could not run."""
    _close(probe_id, ProbeState.FAILED, error=error)


@transaction.atomic(durable=True)
def probes_stale() -> tuple[UUID, ...]:
    """Requeue probes without a worker; one that used all its attempts fails. Returns the probes to run."""
    silent = abandoned_jobs(PolicyProbe.objects.all())
    tired = silent.filter(attempts__gte=MAX_ATTEMPTS)
    ended = {"status": ProbeState.FAILED, "finished_at": timezone.now(), "sealed_key": ""}
    tired.update(**ended, error=f"Its worker ended {MAX_ATTEMPTS} times.")
    again = tuple(silent.select_for_update(skip_locked=True).values_list("pk", flat=True))
    PolicyProbe.objects.filter(pk__in=again).update(status=ProbeState.QUEUED, heard_at=timezone.now())
    return again


def _seal(key: SecretStr | None) -> str:
    value = key.get_secret_value().strip() if key is not None else ""
    return encrypt_value(value, purpose=PROVIDER_KEYS_PURPOSE) if value else ""


def _close(probe_id: UUID, status: ProbeState, **fields: object) -> bool:
    """End a queued or running probe. Returns whether it was one."""
    under_way = PolicyProbe.objects.filter(pk=probe_id, status__in=UNDER_WAY)
    return bool(under_way.update(status=status, finished_at=timezone.now(), sealed_key="", **fields))


def _forget_old(probe: PolicyProbe) -> None:
    same = PolicyProbe.objects.filter(
        base_url=probe.base_url, model=probe.model, dialect=probe.dialect, created_at__lt=timezone.now() - timedelta(1)
    ).exclude(status__in=UNDER_WAY)
    old = same.order_by("-created_at").values_list("pk", flat=True)[PROBES_KEPT:]
    PolicyProbe.objects.filter(pk__in=list(old)).delete()
