"""Adding policy revisions, and reports on them. Neither is ever changed."""

from hashlib import sha256

from django.db import IntegrityError, transaction

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.errors import Conflict, Invalid
from annotation_app.policies.models import Evaluation, PolicyRevision
from annotation_app.policies.schemas import RevisionIn
from annotation_app.policies.selectors import policies_admin_check, policy_of
from protocol.evaluation.reports import Evaluation as Report
from protocol.evaluation.reports import serialize_evaluation
from protocol.trajectory.tasks import format_task_kind


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
def revision_add(*, user: User, revision: RevisionIn) -> tuple[PolicyRevision, bool]:
    """Register a revision; False where the very same one was there. Raises Forbidden, and Conflict where its name is
    that of another one."""
    policies_admin_check(user)
    fields = revision.model_dump()
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
