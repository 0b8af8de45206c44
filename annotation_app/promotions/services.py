"""Setting the policy of a pool, by a person or by the pool's gate."""

from collections.abc import Sequence
from typing import Literal

from django.db import transaction

from annotation_app.accounts.models import User
from annotation_app.accounts.selectors import person_by_username
from annotation_app.audit.services import audit_record
from annotation_app.audit.verbs import Verb
from annotation_app.errors import Conflict, Invalid, NotFound
from annotation_app.notifications.services.webhooks import event_emit
from annotation_app.notifications.webhook_events import PolicyPromoted
from annotation_app.policies.gate import Gate, decide
from annotation_app.policies.models import Evaluation, PolicyRevision
from annotation_app.policies.selectors import evaluation_latest, policies_admin_check, policy_ref
from annotation_app.policies.services import evaluation_store
from annotation_app.promotions.models import GateDecision
from annotation_app.tasks.models import Pool
from protocol.evaluation.reports import Evaluation as Report


@transaction.atomic(durable=True)
def policy_activate(*, user: User, pool_id: int, revision_id: int | None) -> Pool:
    """Make a revision the active one of a pool (None: no policy). This ends a trial of it. Episodes use it from their
    next decision point. Raises Forbidden, NotFound, and Conflict for a retired revision."""
    policies_admin_check(user)
    pool = _pool_locked(pool_id)
    return _activate(pool, None if revision_id is None else _proposable(revision_id), actor=user)


@transaction.atomic(durable=True)
def policy_activate_everywhere(*, user: User, pool_ids: Sequence[int], revision_id: int) -> None:
    """Make a revision the active one of several pools, in all of them or in none. Raises as `policy_activate` does."""
    policies_admin_check(user)
    pools = [_pool_locked(pool_id) for pool_id in sorted(pool_ids)]
    revision = _proposable(revision_id)
    for pool in pools:
        _activate(pool, revision, actor=user)


def policy_activate_named(*, username: str, pool: str, policy: str, revision: str) -> str:
    """Like `policy_activate`, by names. Returns the previous revision's label. Raises Forbidden, NotFound and
    Conflict."""
    user = person_by_username(username=username)
    found = Pool.objects.select_related("policy").filter(name=pool).first()
    chosen = PolicyRevision.objects.filter(name=policy, revision=revision).first()
    if found is None:
        raise NotFound(f"There is no pool {pool!r}.")
    if chosen is None:
        raise NotFound(f"{policy} {revision} is not registered.")
    before = str(found.policy or "no revision")
    policy_activate(user=user, pool_id=found.pk, revision_id=chosen.pk)
    return before


@transaction.atomic(durable=True)
def policy_try(*, user: User, pool_id: int, revision_id: int | None, share: int) -> Pool:
    """Try a revision in a share (percent) of a pool's episodes; None or 0 ends the trial. Raises Forbidden, NotFound,
    Invalid, and Conflict for a retired revision."""
    policies_admin_check(user)
    pool = _pool_locked(pool_id)
    if not 0 <= share <= 100:
        raise Invalid("A share is 0 to 100 percent.", field="share")
    pool.canary = _proposable(revision_id) if share and revision_id is not None else None
    pool.canary_share = share if pool.canary else 0
    pool.save(update_fields=["canary", "canary_share"])
    details = {"canary": str(pool.canary or ""), "share": pool.canary_share}
    audit_record(actor=user, verb="policy.tried", subject=f"pool:{pool.pk}", details=details)
    return pool


@transaction.atomic(durable=True)
def gate_set(*, user: User, pool_id: int, gate: Gate | None) -> None:
    """Set what a report must show for a revision to be promoted in a pool; None removes the gate. Earlier reports are
    not judged again. Raises Forbidden and NotFound."""
    policies_admin_check(user)
    pool = _pool_locked(pool_id)
    pool.gate = gate
    pool.save(update_fields=["gate"])
    details = {"gate": gate.model_dump(mode="json") if gate else None}
    audit_record(actor=user, verb="policy.gate_set", subject=f"pool:{pool.pk}", details=details)


@transaction.atomic(durable=True)
def sampling_set(*, user: User, pool_id: int, sampling: Literal["in_order", "by_need"]) -> None:
    """Set how the next task of a pool is chosen. Raises Forbidden and NotFound."""
    sampling_change(user=user, pool_id=pool_id, sampling=sampling)


def sampling_change(*, user: User, pool_id: int, sampling: Literal["in_order", "by_need"]) -> None:
    """Like `sampling_set`, inside the caller's transaction. Raises Forbidden and NotFound."""
    policies_admin_check(user)
    pool = _pool_locked(pool_id)
    before, pool.sampling = pool.sampling, sampling
    pool.save(update_fields=["sampling"])
    details = {"before": before, "after": sampling}
    audit_record(actor=user, verb="pool.sampling_set", subject=f"pool:{pool.pk}", details=details)


@transaction.atomic(durable=True)
def evaluation_add(*, user: User, revision_id: int, report: Report, automatic: bool = True) -> tuple[Evaluation, bool]:
    """Register a report on a revision. The gates of pools where an older revision of the same policy proposes judge it.
    Gates that promote automatically do so at once, unless `automatic` is False. Registering the same report again
    changes nothing. Raises Forbidden, NotFound and Invalid."""
    policies_admin_check(user)
    revision = _revision(revision_id)
    evaluation, new = evaluation_store(revision=revision, report=report)
    if new:
        details = {"revision": str(revision), "sha256": evaluation.sha256}
        audit_record(actor=user, verb="policy.evaluated", subject=f"policy:{revision.pk}", details=details)
        older = Pool.objects.filter(gate__isnull=False, policy__name=revision.name, policy_id__lt=revision.pk)
        for pool_id in older.order_by("pk").values_list("pk", flat=True):
            _judge(_pool_locked(pool_id), evaluation, automatic=automatic)
    return evaluation, new


def evaluation_register(*, username: str, report: Report) -> tuple[Evaluation, bool]:
    """Like `evaluation_add`, by a person's name, on the revision that the report is about. Raises Forbidden, NotFound,
    Invalid."""
    user = person_by_username(username=username)
    if len(report.policies) != 1:
        raise Invalid("The report is not about one revision.", code="other_policy")
    (policy,) = report.policies
    revision = PolicyRevision.objects.filter(name=policy.name, revision=policy.revision).first()
    if revision is None:
        raise NotFound(f"{policy.name} {policy.revision} is not registered.")
    return evaluation_add(user=user, revision_id=revision.pk, report=report)


def _judge(pool: Pool, evaluation: Evaluation, *, automatic: bool) -> None:
    """Let a locked pool's gate judge a report. The state that it depends on is read under the lock, so two reports are
    judged in turn. With `automatic`, a gate that promotes automatically does so."""
    gate, active, candidate = pool.gate, pool.policy, evaluation.revision
    if gate is None or active is None or active.name != candidate.name or active.pk >= candidate.pk:
        return
    before = evaluation_latest(active)
    decision = decide(gate, evaluation.document, policy_ref(active), before.document if before else None)
    promotes = automatic and gate.promote == "automatically" and candidate.retired_at is None
    promoted = decision.passed and promotes
    reasons = [reason.model_dump(mode="json") for reason in decision.reasons]
    GateDecision.objects.create(
        pool=pool, evaluation=evaluation, active=active, passed=decision.passed, promoted=promoted, reasons=reasons
    )
    details = {"revision": str(candidate), "evaluation": evaluation.sha256, "reasons": reasons}
    verb: Verb = "policy.gate_passed" if decision.passed else "policy.gate_shut"
    audit_record(actor=None, part="gate", verb=verb, subject=f"pool:{pool.pk}", details=details)
    if promoted:
        _activate(pool, candidate, actor=None, evaluation=evaluation.sha256, gate=gate.model_dump(mode="json"))


def _activate(pool: Pool, revision: PolicyRevision | None, *, actor: User | None, **why: object) -> Pool:
    """Runs inside the caller's transaction, on a locked pool."""
    before, pool.policy = pool.policy, revision
    if pool.canary_id == pool.policy_id:
        pool.canary, pool.canary_share = None, 0
    pool.save(update_fields=["policy", "canary", "canary_share"])
    details = {"before": str(before or ""), "after": str(revision or ""), **why}
    audit_record(actor=actor, part="gate", verb="policy.activated", subject=f"pool:{pool.pk}", details=details)
    if revision is not None and revision != before:
        by: Literal["person", "gate"] = "person" if actor else "gate"
        event_emit(PolicyPromoted(pool=pool.name, policy=revision.name, revision=revision.revision, by=by))
    return pool


def _pool_locked(pool_id: int) -> Pool:
    pool = Pool.objects.select_for_update(of=("self",)).select_related("policy", "canary").filter(pk=pool_id).first()
    if pool is None:
        raise NotFound("There is no such pool.", field="pool_id")
    return pool


def _proposable(revision_id: int) -> PolicyRevision:
    """A revision that may propose, locked against retirement. Raises NotFound and Conflict."""
    found = PolicyRevision.objects.select_for_update().filter(pk=revision_id).first()
    if found is None:
        raise NotFound("There is no such revision.", field="revision")
    if found.retired_at is not None:
        raise Conflict(f"{found} is retired. Bring it back first.", code="revision_retired")
    return found


def _revision(revision_id: int) -> PolicyRevision:
    found = PolicyRevision.objects.filter(pk=revision_id).first()
    if found is None:
        raise NotFound("There is no such revision.", field="revision")
    return found
