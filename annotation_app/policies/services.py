"""Adding policy revisions."""

from annotation_app.policies.models import PolicyRevision


def policy_ensure(*, name: str, revision: str, base_url: str, **settings: object) -> PolicyRevision:
    """This revision, made with these settings where there is none; only where it is served may change."""
    found, _made = PolicyRevision.objects.update_or_create(
        name=name,
        revision=revision,
        defaults={"base_url": base_url},
        create_defaults={"base_url": base_url, **settings},
    )
    return found
