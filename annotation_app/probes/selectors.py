"""Queries on probes."""

from collections.abc import Iterable
from uuid import UUID

from annotation_app.accounts.models import User
from annotation_app.encryption import PROVIDER_KEYS_PURPOSE, decrypt_value
from annotation_app.errors import NotFound
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.selectors import policies_reader_check
from annotation_app.probes.models import PolicyProbe, ProbeState
from annotation_app.probes.schemas import ProbeOut
from annotation_app.tasks.models import Pool
from protocol.evaluation.probes import ProbeReport

ENDPOINT_FIELDS = ("base_url", "model", "dialect")


def probes_latest(*, user: User) -> tuple[ProbeOut, ...]:
    """The newest probe of each model at each address. Raises Forbidden."""
    policies_reader_check(user)
    newest = PolicyProbe.objects.order_by(*ENDPOINT_FIELDS, "-created_at").distinct(*ENDPOINT_FIELDS)
    return tuple(probe_out(probe, with_points=False) for probe in newest)


def probe_get(*, user: User, probe_id: UUID) -> ProbeOut:
    """One probe. Raises Forbidden and NotFound."""
    policies_reader_check(user)
    return probe_out(probe_of(probe_id))


def probe_of(probe_id: UUID) -> PolicyProbe:
    """Raises NotFound."""
    probe = PolicyProbe.objects.filter(pk=probe_id).first()
    if probe is None:
        raise NotFound("There is no such probe.")
    return probe


def probe_out(probe: PolicyProbe, *, with_points: bool = True) -> ProbeOut:
    """A probe as the page shows it."""
    return ProbeOut.model_validate(
        {
            **{name: getattr(probe, name) for name in ProbeOut.model_fields if name != "report"},
            "report": probe.report if with_points else _without_points(probe.report),
        }
    )


def probe_latest(*, base_url: str, model: str, dialect: str) -> ProbeOut | None:
    """The newest probe of a model that was not cancelled."""
    found = PolicyProbe.objects.filter(base_url=base_url, model=model, dialect=dialect)
    newest = found.exclude(status=ProbeState.CANCELLED).first()
    return None if newest is None else probe_out(newest)


def given_key(*, probe_id: UUID) -> str:
    """The API key that was given for a probe; empty if none was, or if its encryption key is gone."""
    sealed = probe_of(probe_id).sealed_key
    try:
        return decrypt_value(sealed, purpose=PROVIDER_KEYS_PURPOSE) if sealed else ""
    except ValueError:
        return ""


def last_report(*, probe_id: UUID) -> ProbeReport | None:
    """The report of the last finished probe of the same model before this one. Raises NotFound."""
    probe = probe_of(probe_id)
    earlier = PolicyProbe.objects.filter(
        base_url=probe.base_url, model=probe.model, dialect=probe.dialect, status=ProbeState.DONE
    ).exclude(pk=probe.pk)
    found = earlier.order_by("-created_at").first()
    return None if found is None else found.report


def active_revisions() -> tuple[PolicyRevision, ...]:
    """The revisions that propose or are on trial in some pool, one for each model at an address. Scripts are left out,
    and so are hosted models, whose probes cost money."""
    found: dict[tuple[str, str, str], PolicyRevision] = {}
    for revision in _proposing():
        if not revision.scripted and revision.provider == "openai_compatible":
            found.setdefault((revision.base_url, revision.model, revision.dialect), revision)
    return tuple(found.values())


def pools_of(probe: PolicyProbe) -> tuple[str, ...]:
    """Names of the pools in which this model proposes."""
    same = Pool.objects.filter(
        policy__base_url=probe.base_url, policy__model=probe.model, policy__dialect=probe.dialect
    )
    return tuple(same.order_by("name").values_list("name", flat=True))


def _proposing() -> Iterable[PolicyRevision]:
    for pool in Pool.objects.select_related("policy", "canary").order_by("pk"):
        yield from (revision for revision in (pool.policy, pool.canary) if revision is not None)


def _without_points(report: ProbeReport | None) -> ProbeReport | None:
    if report is None or report.grounding is None:
        return report
    return report.model_copy(update={"grounding": report.grounding.model_copy(update={"points": ()})})


def screens_before(base_url: str, model: str) -> str:
    """The screens that this model was shown last; those of a desktop if there were none."""
    found = PolicyProbe.objects.filter(base_url=base_url, model=model).order_by("-created_at").first()
    return found.screens if found else "desktop"
