"""Reading policy revisions."""

from annotation_app.policies.models import PolicyRevision
from vocabulary.proposals import PolicyRef


def policy_ref(revision: PolicyRevision | None) -> PolicyRef | None:
    """A revision as proposals and the desk name it."""
    if revision is None:
        return None
    return PolicyRef(
        name=revision.name, revision=revision.revision, dialect=revision.dialect, scripted=revision.scripted
    )
