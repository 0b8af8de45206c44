"""People of other platforms, who have no account here."""

from django.contrib.auth.hashers import make_password

from annotation_app.accounts.models import User

PREFIX = "imported"


def stranger_ensure(*, pseudonym: str | None) -> User:
    """Who stands for a person that another platform calls so: nobody can sign in as them, and their work can be kept
    out of exports as anybody's."""
    username = f"{PREFIX}:{pseudonym}"[:150] if pseudonym else PREFIX
    found, _ = User.objects.get_or_create(
        username=username,
        defaults={"first_name": (pseudonym or "")[:150], "is_active": False, "password": make_password(None)},
    )
    return found
