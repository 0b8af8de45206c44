"""Adding policy revisions."""

from annotation_app.policies.models import PolicyRevision


def policy_ensure(*, name: str, revision: str, **settings: object) -> PolicyRevision:
    """This revision, made with these settings where there is none."""
    found, _made = PolicyRevision.objects.get_or_create(name=name, revision=revision, defaults=settings)
    return found
