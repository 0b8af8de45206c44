"""Reading users."""

from annotation_app.accounts.models import Role, User

STAFF_ROLES = (Role.REVIEWER, Role.ADMIN, Role.RESEARCHER)
"""Who sees the work of others."""


def sees_everything(user: User) -> bool:
    """Whether they may look at every pool and episode."""
    return user.has_role(*STAFF_ROLES)
