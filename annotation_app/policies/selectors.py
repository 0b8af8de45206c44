"""Reading policy revisions."""

import json

from annotation_app.policies.models import PolicyRevision
from vocabulary.base import Frozen
from vocabulary.proposals import PolicyRef


class PolicyServer(Frozen):
    """All a policy client needs to ask for `candidates` proposals."""

    ref: PolicyRef
    base_url: str
    model: str
    sampling: str
    """Sampling settings as JSON text: a value that can be compared and hashed."""
    memory: str
    """What it is reminded of, in the same way."""
    candidates: int


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
