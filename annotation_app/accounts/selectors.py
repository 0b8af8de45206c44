"""Reading users."""

from importlib import import_module
from typing import cast

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest

from annotation_app.accounts.models import Role, User
from annotation_app.errors import Forbidden

STAFF_ROLES = (Role.REVIEWER, Role.ADMIN, Role.RESEARCHER)
"""Who sees the work of others."""


def sees_everything(user: User) -> bool:
    """Whether they may look at every pool and episode."""
    return user.has_role(*STAFF_ROLES)


def role_check(user: User, *roles: Role) -> None:
    """Raises Forbidden for who has none of these roles."""
    if not user.has_role(*roles):
        raise Forbidden(f"Only these may do that: {', '.join(roles)}.")


def user_of(request: HttpRequest) -> User:
    """The signed-in person of a route that asks for one."""
    return cast(User, request.user)


def session_user(key: str) -> User | None:
    """Who is signed in under this session at this moment; None where nobody is any more."""
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    user = get_user(request)
    return user if isinstance(user, User) else None
