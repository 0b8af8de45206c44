"""Adding policy revisions, and reports on them; changing where a revision is served, and retiring it."""

from hashlib import sha256

from django.db import IntegrityError, transaction
from django.utils import timezone
from pydantic import SecretStr

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.audit.verbs import Verb
from annotation_app.encryption import PROVIDER_KEYS_PURPOSE, encrypt_value
from annotation_app.errors import Conflict, Invalid, NotFound
from annotation_app.policies.api_keys import origin_of
from annotation_app.policies.models import Evaluation, PolicyRevision, ProviderKey
from annotation_app.policies.schemas import RevisionChange, RevisionIn
from annotation_app.policies.selectors import policies_admin_check, policy_of
from protocol.evaluation.reports import Evaluation as Report
from protocol.evaluation.reports import serialize_evaluation
from protocol.trajectory.tasks import format_task_kind

HINT_CHARACTERS = 4
"""Last characters of an API key that are shown."""


def policy_ensure(*, name: str, revision: str, base_url: str, **settings: object) -> PolicyRevision:
    """This revision, made with these settings where there is none; only where it is served may change."""
    found, _made = PolicyRevision.objects.update_or_create(
        name=name,
        revision=revision,
        defaults={"base_url": base_url},
        create_defaults={"base_url": base_url, **settings},
    )
    return found


@transaction.atomic(durable=True)
def revision_add(*, user: User, revision: RevisionIn, api_key: SecretStr | None = None) -> tuple[PolicyRevision, bool]:
    """Register a revision, and store the API key of its server where one is given; False where the very same revision
    was there. Raises Forbidden, and Conflict where its name is that of another one."""
    policies_admin_check(user)
    fields = {**revision.model_dump(include=set(RevisionIn.model_fields)), "prompt": revision.prompt}
    if api_key is not None and api_key.get_secret_value().strip():
        provider_key_store(user, revision.base_url, api_key.get_secret_value().strip())
    try:
        with transaction.atomic():
            made = PolicyRevision.objects.create(**fields)
    except IntegrityError as error:
        found = PolicyRevision.objects.get(name=revision.name, revision=revision.revision)
        if all(getattr(found, name) == value for name, value in fields.items()):
            return found, False
        raise Conflict("There is another revision of this name; it never changes.", code="revision_exists") from error
    audit_record(actor=user, verb="policy.registered", subject=f"policy:{made.pk}", details={"revision": str(made)})
    return made, True


@transaction.atomic(durable=True)
def revision_change(*, user: User, revision_id: int, change: RevisionChange) -> PolicyRevision:
    """Change where a revision is served, store its server's API key, retire it or bring it back.

    Raises:
        Forbidden: The person is no admin.
        NotFound: There is no such revision.
        Conflict: It proposes in a pool, or is on trial in one, and is to be retired (`revision_proposes`).
    """
    policies_admin_check(user)
    revision = PolicyRevision.objects.select_for_update().filter(pk=revision_id).first()
    if revision is None:
        raise NotFound("There is no such revision.", field="revision_id")
    fields = change.model_dump(exclude={"api_key", "retired"}, exclude_none=True)
    changed = {name: value for name, value in fields.items() if getattr(revision, name) != value}
    details = {name: {"before": getattr(revision, name), "after": value} for name, value in changed.items()}
    for name, value in changed.items():
        setattr(revision, name, value)
    if change.retired is not None and change.retired != (revision.retired_at is not None):
        if change.retired:
            _retirement_check(revision)
        revision.retired_at = changed["retired_at"] = timezone.now() if change.retired else None
        verb: Verb = "policy.retired" if change.retired else "policy.brought_back"
        audit_record(actor=user, verb=verb, subject=f"policy:{revision.pk}", details={"revision": str(revision)})
    if changed:
        revision.save(update_fields=list(changed))
    if details:
        audit_record(actor=user, verb="policy.changed", subject=f"policy:{revision.pk}", details=details)
    if change.api_key is not None and (key := change.api_key.get_secret_value().strip()):
        provider_key_store(user, revision.base_url, key)
    return revision


def _retirement_check(revision: PolicyRevision) -> None:
    """Raises Conflict for a revision that proposes somewhere."""
    pools = sorted({pool.name for pool in (*revision.pools.all(), *revision.tried_in.all())})
    if pools:
        message = f"It proposes in {', '.join(pools)}. Let another revision propose there first."
        raise Conflict(message, code="revision_proposes", extra={"pools": pools})


def provider_key_store(user: User, base_url: str, api_key: str) -> None:
    """Store the API key for a server's origin, in place of an earlier one."""
    origin = origin_of(base_url)
    hint = api_key[-HINT_CHARACTERS:] if len(api_key) >= 4 * HINT_CHARACTERS else ""
    sealed = encrypt_value(api_key, purpose=PROVIDER_KEYS_PURPOSE)
    ProviderKey.objects.update_or_create(origin=origin, defaults={"sealed": sealed, "hint": hint})
    audit_record(actor=user, verb="policy.key_set", subject=f"origin:{origin}", details={"hint": hint})


def evaluation_store(*, revision: PolicyRevision, report: Report) -> tuple[Evaluation, bool]:
    """Keep a report on a revision; False where it was there. Runs inside the caller's transaction. Raises Invalid
    where it is about somebody else, or about nothing."""
    if report.policies != (policy_of(revision),):
        named = ", ".join(f"{each.name} {each.revision} ({each.dialect})" for each in report.policies) or "nobody"
        raise Invalid(f"The report is about {named}, not about {revision}.", code="other_policy")
    return Evaluation.objects.get_or_create(
        revision=revision,
        sha256=sha256(serialize_evaluation(report)).hexdigest(),
        defaults={
            "document": report,
            "kinds": {
                format_task_kind(task.suite, task.name, task.level): (task.successes.successes, task.successes.attempts)
                for task in report.tasks
            },
        },
    )
