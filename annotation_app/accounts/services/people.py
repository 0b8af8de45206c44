"""Administration of people: roles, groups and erasure."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation_app.accounts.models import Group, Invitation, Role, User
from annotation_app.accounts.selectors import person_of, role_check
from annotation_app.accounts.services.factors import factor_remove
from annotation_app.accounts.services.sign_ins import sign_ins_end
from annotation_app.audit.services import audit_record
from annotation_app.errors import Conflict, Invalid, NotFound


@transaction.atomic(durable=True)
def person_change(
    *,
    actor: User,
    user_id: int,
    roles: tuple[str, ...] | None = None,
    skills: tuple[str, ...] | None = None,
    groups: tuple[int, ...] | None = None,
    active: bool | None = None,
    name: str | None = None,
    email: str | None = None,
) -> User:
    """Set the given fields of a person. A person who may no longer sign in is signed out everywhere. Raises Forbidden,
    NotFound and Conflict."""
    role_check(actor, Role.ADMIN)
    user = _lock_person(user_id)
    changes = {"roles": roles, "skills": skills, "active": active, "groups": groups}
    _set_name(user, name, email)
    if roles is not None:
        user.roles = sorted(set(roles))
    if skills is not None:
        user.skills = sorted(set(skills))
    if active is not None:
        user.is_active = active
    user.save(update_fields=["roles", "skills", "is_active", "first_name", "last_name", "email"])
    _check_admin_remains()
    if groups is not None:
        user.teams.set(_find_groups(groups))
    if active is False:
        sign_ins_end(user=user)
    details = {field: value for field, value in changes.items() if value is not None}
    details |= {"named": True} if name is not None or email is not None else {}
    audit_record(actor=actor, verb="user.changed", subject=f"user:{user.pk}", details=details)
    return user


@transaction.atomic(durable=True)
def person_erase(*, actor: User, user_id: int, username: str, remove_work: bool) -> User:
    """Erase a person's name, address and means of access at their request. Their work stays under a pseudonym, or is
    kept out of all exports from now on. This cannot be undone. Raises Forbidden, NotFound, Conflict."""
    role_check(actor, Role.ADMIN)
    user = _lock_person(user_id)
    if user.username != username:
        raise Conflict("That is another user name than theirs.", code="name_differs", field="username")
    if user == actor:
        raise Conflict("You cannot erase your own account; ask another admin.", code="own_account")
    sign_ins_end(user=user)
    Invitation.objects.filter(user=user).update(email="")
    if user.email:
        Invitation.objects.filter(email__iexact=user.email, user__isnull=True).delete()
    Authenticator.objects.filter(user=user).delete()
    user.tokens.all().delete()
    user.password_links.all().delete()
    user.paired_computers.all().delete()
    for owned in ("socialaccount_set", "emailaddress_set"):
        getattr(user, owned).all().delete()
    user.teams.clear()
    user.username, user.first_name, user.last_name, user.email = f"erased-{user.pk}", "", "", ""
    user.roles, user.skills, user.preferences = [], [], {}
    user.is_active = user.is_staff = user.is_superuser = False
    user.set_unusable_password()
    user.erased_at, user.work_removed = timezone.now(), remove_work
    user.save()
    _check_admin_remains()
    audit_record(actor=actor, verb="user.erased", subject=f"user:{user.pk}", details={"work_removed": remove_work})
    return user


def person_factor_remove(*, actor: User, user_id: int) -> None:
    """Remove the second factor of a person who lost their authenticator. Raises Forbidden and NotFound."""
    role_check(actor, Role.ADMIN)
    factor_remove(actor=actor, user=person_of(user_id=user_id))


@transaction.atomic(durable=True)
def person_sign_ins_end(*, actor: User, user_id: int) -> int:
    """Sign a person out in every browser. Returns how many there were. Raises Forbidden and NotFound."""
    role_check(actor, Role.ADMIN)
    return sign_ins_end(user=person_of(user_id=user_id), actor=actor)


@transaction.atomic(durable=True)
def group_save(*, actor: User, group_id: int | None, name: str, members: tuple[int, ...]) -> Group:
    """Create a group, or change the name and members of an existing one. Raises Forbidden, NotFound and Conflict."""
    role_check(actor, Role.ADMIN)
    group = Group() if group_id is None else _lock_group(group_id)
    group.name = name
    try:
        with transaction.atomic():
            group.save()
    except IntegrityError as error:
        raise Conflict("There is a group of this name.", code="group_exists", field="name") from error
    people = User.objects.filter(pk__in=members, erased_at__isnull=True)
    if people.count() != len(set(members)):
        raise NotFound("Not all of these people exist.", field="members")
    group.members.set(people)
    details: dict[str, Any] = {"name": name, "members": sorted(set(members))}
    audit_record(actor=actor, verb="group.saved", subject=f"group:{group.pk}", details=details)
    return group


@transaction.atomic(durable=True)
def group_remove(*, actor: User, group_id: int) -> None:
    """Delete a group; its people stay. Raises Forbidden and NotFound."""
    role_check(actor, Role.ADMIN)
    group = _lock_group(group_id)
    audit_record(actor=actor, verb="group.removed", subject=f"group:{group.pk}", details={"name": group.name})
    group.delete()


def validate_new_password(password: str, user: User, *, field: str = "password") -> str:
    """Return the password if it is strong enough. Raises Invalid with the reasons, for the `field` of the request."""
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise Invalid(" ".join(error.messages), code="weak_password", field=field) from error
    return password


def _set_name(user: User, name: str | None, email: str | None) -> None:
    if name is not None and name != user.name:
        user.first_name, user.last_name = name, ""
    if email is not None:
        user.email = email


def _lock_person(user_id: int) -> User:
    person_of(user_id=user_id)
    return User.objects.select_for_update().get(pk=user_id)


def _lock_group(group_id: int) -> Group:
    group = Group.objects.select_for_update().filter(pk=group_id).first()
    if group is None:
        raise NotFound("There is no such group.", field="group_id")
    return group


def _find_groups(groups: tuple[int, ...]) -> list[Group]:
    found = list(Group.objects.filter(pk__in=groups))
    if len(found) != len(set(groups)):
        raise NotFound("Not all of these groups exist.", field="groups")
    return found


def _check_admin_remains() -> None:
    """Raises Conflict if no admin would remain."""
    active = User.objects.filter(is_active=True)
    if not (active.filter(roles__contains=[Role.ADMIN]).exists() or active.filter(is_superuser=True).exists()):
        raise Conflict("At least one admin must remain.", code="last_admin")
