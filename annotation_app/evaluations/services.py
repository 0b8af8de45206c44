"""Registration of benchmark runs: the revision and the report."""

from django.db import transaction

from annotation_app.accounts.models import User
from annotation_app.accounts.selectors import person_by_username
from annotation_app.audit.services import audit_record
from annotation_app.benchmark_runs.services import run_delete
from annotation_app.errors import Conflict, Invalid, NotFound
from annotation_app.evaluations.schemas import RegisteredRun, RunRegistration
from annotation_app.evaluations.selectors import RUN_PREFIX, reasons_against_deletion, run_result
from annotation_app.policies.models import Evaluation, PolicyRevision
from annotation_app.policies.schemas import RevisionIn
from annotation_app.policies.selectors import policies_admin_check
from annotation_app.policies.services import revision_add
from annotation_app.promotions.selectors import evaluation_summary
from annotation_app.promotions.services import evaluation_add
from protocol.base import JsonObject
from protocol.dialects.prompt_template import PromptTemplate
from protocol.evaluation.benchmarks import BenchmarkManifest
from protocol.sampling import SamplingParams
from protocol.trajectory.memory import HistoryBudget
from protocol.trajectory.proposals import PolicyRef


def run_register(*, user: User, registration: RunRegistration) -> RegisteredRun:
    """Register the revision of a run, if there is none with this name, and the run's report on it. Gates judge the
    report without promoting: only a person promotes.

    Raises:
        Forbidden: The person is not an admin.
        NotFound: There is no such run, or it has not finished.
        Invalid: Its attempts are not of exactly one policy (`other_policy`), it had no model (`not_a_model`), its
            policy had a harness that a revision alone does not have (`with_harness`), or the revision is new and its
            server is missing (`server_missing`).
    """
    policies_admin_check(user)
    result = run_result(user=user, run=registration.run)
    policy = PolicyRef.model_validate(result.manifest.plan.get("policy"))
    if result.evaluation.policies != (policy,):
        raise Invalid("The attempts of this run are not of one revision.", code="other_policy")
    if result.manifest.harness:
        raise Invalid(
            "This run used the harness of games: its report is not of the revision alone.", code="with_harness"
        )
    revision = PolicyRevision.objects.filter(name=policy.name, revision=policy.revision).first()
    new = revision is None
    if revision is None:
        revision, new = revision_add(user=user, revision=_revision_in(policy, result.manifest, registration))
    stored, new_report = evaluation_add(user=user, revision_id=revision.pk, report=result.evaluation, automatic=False)
    return RegisteredRun(
        revision=revision.pk, new_revision=new, evaluation=evaluation_summary(stored.pk), new=new_report
    )


@transaction.atomic(durable=True)
def report_delete(*, user: User, evaluation_id: int) -> None:
    """Delete a registered report. Its benchmark run, if any, stays and is listed as not registered.

    Raises:
        Forbidden: The person is not an admin.
        NotFound: There is no such report.
        Conflict: Something depends on it: a gate's decision (`gate_decided`), a flywheel's cycle (`cycle_gate`), or a
            gate that compares new revisions with it (`gate_baseline`).
    """
    policies_admin_check(user)
    stored = Evaluation.objects.select_for_update(of=("self",)).select_related("revision").filter(pk=evaluation_id)
    evaluation = stored.first()
    if evaluation is None:
        raise NotFound("There is no such evaluation.")
    if reasons := reasons_against_deletion(evaluation):
        raise Conflict(" ".join(message for _, message in reasons), code=reasons[0][0])
    details = {"revision": str(evaluation.revision), "sha256": evaluation.sha256}
    evaluation.delete()
    audit_record(
        actor=user, verb="policy.evaluation_deleted", subject=f"policy:{evaluation.revision_id}", details=details
    )


def evaluation_delete(*, user: User, evaluation_id: str) -> None:
    """Delete a registered report, or a benchmark run by `run:` and its name. Raises as `report_delete` and `run_delete`
    do."""
    if evaluation_id.startswith(RUN_PREFIX):
        run_delete(user=user, name=evaluation_id.removeprefix(RUN_PREFIX))
    else:
        report_delete(user=user, evaluation_id=int(evaluation_id))


def run_register_by(*, username: str, registration: RunRegistration) -> RegisteredRun:
    """Like `run_register`, by user name. Also raises NotFound if no active user has this name."""
    return run_register(user=person_by_username(username=username), registration=registration)


def _revision_in(policy: PolicyRef, manifest: BenchmarkManifest, registration: RunRegistration) -> RevisionIn:
    """The revision with the dialect, sampling, memory and prompt of the run's attempts."""
    sampling, memory, prompt = (manifest.plan.get(name) for name in ("sampling", "memory", "prompt"))
    if sampling is None:
        raise Invalid("Scripted experts attempted this run: there is no model to register.", code="not_a_model")
    fields = {"base_url": registration.base_url, "model": registration.model or ""}
    missing = [
        {"field": name, "message": "where the revision is served is needed"} for name in fields if not fields[name]
    ]
    if missing:
        named = " and ".join(str(each["field"]) for each in missing)
        message = f"{policy.name} {policy.revision} is not registered yet: {named} missing."
        raise Invalid(message, code="server_missing", extra={"fields": missing})
    return RevisionIn(
        name=policy.name,
        revision=policy.revision,
        dialect=policy.dialect,
        scripted=policy.scripted,
        teacher=policy.teacher,
        **fields,
        checkpoint=registration.checkpoint,
        weight_version=registration.weight_version,
        sampling=_non_default_sampling(SamplingParams.model_validate(sampling)),
        memory=HistoryBudget.model_validate(memory or {}).model_dump(mode="json", exclude_defaults=True),
        prompt=None if prompt is None else PromptTemplate.model_validate(prompt),
    )


def _non_default_sampling(sampling: SamplingParams) -> JsonObject:
    """The parameters that differ from their defaults, without `n`, because the number of candidates is a pool
    setting."""
    return sampling.model_dump(mode="json", exclude_defaults=True, exclude={"n"})
