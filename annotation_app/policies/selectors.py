"""Reading policy revisions."""

import json
from urllib.parse import urlsplit

from annotation_app.accounts.models import Role, User
from annotation_app.errors import Forbidden
from annotation_app.policies.models import Evaluation, PolicyRevision
from protocol.base import FrozenModel
from protocol.trajectory.proposals import PolicyRef


class PolicyServer(FrozenModel):
    """All a policy client needs to ask for `candidates` proposals."""

    ref: PolicyRef
    base_url: str
    model: str
    sampling: str
    """Sampling settings as JSON text: a value that can be compared and hashed."""
    memory: str
    """What it is reminded of, in the same way."""
    candidates: int


class Proposer(FrozenModel):
    """Which server answers, and with which model and weights (empty: not known)."""

    server: str
    model: str
    weight_version: str


def policy_of(revision: PolicyRevision) -> PolicyRef:
    """A revision as proposals and the desk name it."""
    return PolicyRef(
        name=revision.name, revision=revision.revision, dialect=revision.dialect, scripted=revision.scripted
    )


def policy_ref(revision: PolicyRevision | None) -> PolicyRef | None:
    """The same; None where nobody proposes."""
    return None if revision is None else policy_of(revision)


def policy_server(revision: PolicyRevision | None, *, candidates: int) -> PolicyServer | None:
    """Where a revision is served."""
    ref = policy_ref(revision)
    if revision is None or ref is None:
        return None
    return PolicyServer(
        ref=ref,
        base_url=revision.base_url,
        model=revision.model,
        sampling=json.dumps(revision.sampling, sort_keys=True),
        memory=json.dumps(revision.memory, sort_keys=True),
        candidates=candidates,
    )


def proposer_of(ref: PolicyRef | None) -> Proposer | None:
    """Where a policy answers, as the desk shows it; None where nobody proposes."""
    found = None if ref is None else PolicyRevision.objects.filter(name=ref.name, revision=ref.revision).first()
    if found is None:
        return None
    return Proposer(server=urlsplit(found.base_url).netloc, model=found.model, weight_version=found.weight_version)


def policies_admin_check(user: User) -> None:
    """Raises Forbidden for anybody but admins."""
    if not user.has_role(Role.ADMIN):
        raise Forbidden("Only admins decide who proposes.")


def evaluation_latest(revision: PolicyRevision | None) -> Evaluation | None:
    """The last report on a revision."""
    return None if revision is None else Evaluation.objects.filter(revision=revision).first()


def evaluated_kinds(revision: PolicyRevision | None) -> dict[str, tuple[int, int]]:
    """Successes and attempts of a revision's last report, by kind of task."""
    if revision is None:
        return {}
    found = Evaluation.objects.filter(revision=revision).values_list("kinds", flat=True).first()
    return {kind: (successes, attempts) for kind, (successes, attempts) in (found or {}).items()}
