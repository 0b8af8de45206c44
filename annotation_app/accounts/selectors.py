"""Reading users."""

from typing import cast

from django.http import HttpRequest

from annotation_app.accounts.models import Role, User

STAFF_ROLES = (Role.REVIEWER, Role.ADMIN, Role.RESEARCHER)
"""Who sees the work of others."""


def sees_everything(user: User) -> bool:
    """Whether they may look at every pool and episode."""
    return user.has_role(*STAFF_ROLES)


def user_of(request: HttpRequest) -> User:
    """The signed-in person of a route that asks for one."""
    return cast(User, request.user)
