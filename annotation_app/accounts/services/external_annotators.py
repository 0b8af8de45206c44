"""People of other platforms, who have no account here."""

from collections.abc import Iterable, Mapping

from django.contrib.auth.hashers import make_password

from annotation_app.accounts.models import User

USERNAME_PREFIX = "imported"


def external_annotators_ensure(pseudonyms: Iterable[str | None]) -> Mapping[str | None, User]:
    """The account for each pseudonym of another platform, created if missing.

    Such an account cannot sign in. Its work can be kept out of exports like any other person's.
    """
    names = {pseudonym: _username(pseudonym) for pseudonym in pseudonyms}
    missing = set(names.values()) - set(_find_users(names.values()))
    User.objects.bulk_create(
        (
            User(
                username=name,
                first_name=name.removeprefix(USERNAME_PREFIX).removeprefix(":"),
                is_active=False,
                password=make_password(None),
            )
            for name in sorted(missing)
        ),
        ignore_conflicts=True,  # another process may create them meanwhile
    )
    found = _find_users(names.values())
    return {pseudonym: found[name] for pseudonym, name in names.items()}


def _username(pseudonym: str | None) -> str:
    return f"{USERNAME_PREFIX}:{pseudonym}"[:150] if pseudonym else USERNAME_PREFIX


def _find_users(names: Iterable[str]) -> dict[str, User]:
    return {user.username: user for user in User.objects.filter(username__in=set(names))}
