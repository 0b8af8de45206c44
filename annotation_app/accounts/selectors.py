"""Queries on users."""

import json
from collections.abc import Iterable
from datetime import datetime
from functools import reduce
from importlib import import_module
from operator import or_
from typing import Any, cast

from django.conf import settings
from django.contrib.auth import get_user
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from annotation_app.accounts.models import Group, Invitation, PasswordLink, Role, SignIn, Token, User
from annotation_app.accounts.schemas import (
    AuditOut,
    AuditPage,
    AuditSource,
    EnvironmentAccess,
    GroupOut,
    InvitationDetails,
    InvitationOut,
    PasswordLinkDetails,
    PersonName,
    PersonOut,
    PersonPage,
    SecurityOut,
    SignInOut,
    TokenOut,
)
from annotation_app.audit.models import AuditEntry
from annotation_app.audit.selectors import entries_page, subject_of
from annotation_app.audit.verbs import VERBS
from annotation_app.errors import Forbidden, Invalid, NotFound

STAFF_ROLES = (Role.REVIEWER, Role.ADMIN, Role.RESEARCHER)
"""Roles that see the work of others."""


PAGE_SIZE = 50
"""People per page."""
PERSON_NOT_FOUND = "There is no such person."
LINK_NOT_FOUND = "This link has ended, was used, or never was."
INVITATION_NOT_FOUND = "This invitation has ended, was used, or never was."


def can_see_all_work(user: User) -> bool:
    """Whether they may see every pool and episode."""
    return user.has_role(*STAFF_ROLES)


def role_check(user: User, *roles: Role) -> None:
    """Raises Forbidden for a person who has none of these roles."""
    if not user.has_role(*roles):
        raise Forbidden(f"Only these may do that: {', '.join(roles)}.")


def environment_access(user: User) -> EnvironmentAccess:
    """The person who plays on machines through a server of environments. Raises Forbidden."""
    role_check(user, Role.ADMIN, Role.RESEARCHER)
    return EnvironmentAccess(username=user.username)


def user_of(request: HttpRequest) -> User:
    """The signed-in person of a route that requires one."""
    return cast(User, request.user)


def session_user(key: str) -> User | None:
    """The person who is signed in with this session now; None if it has ended or the person may not sign in."""
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    user = get_user(request)
    return user if isinstance(user, User) else None


def pseudonym(user_id: int | None) -> str:
    """The pseudonym of a person in all exported data. It is stable and cannot be reversed without the key."""
    key = settings.ENV.pseudonym_key or settings.SECRET_KEY
    return f"annotator-{salted_hmac('pilothouse.pseudonym', str(user_id), key, algorithm='sha256').hexdigest()[:16]}"


def person_of(*, user_id: int) -> User:
    """One person who was not erased. Raises NotFound."""
    found = User.objects.filter(pk=user_id, erased_at__isnull=True).first()
    if found is None:
        raise NotFound(PERSON_NOT_FOUND)
    return found


def person_by_username(*, username: str) -> User:
    """One active person, by user name. Raises NotFound."""
    found = User.objects.filter(username=username, is_active=True).first()
    if found is None:
        raise NotFound(f"There is no active user {username!r}.")
    return found


def people_page(*, user: User, search: str = "", role: str | None = None, after: str = "") -> PersonPage:
    """A page of people by user name. Raises Forbidden."""
    role_check(user, Role.ADMIN)
    found = User.objects.filter(erased_at__isnull=True, username__gt=after).order_by("username")
    if search:
        found = found.filter(
            Q(username__icontains=search) | Q(first_name__icontains=search) | Q(email__icontains=search)
        )
    if role:
        found = found.filter(roles__contains=[role])
    rows = list(found.prefetch_related("teams", "authenticator_set")[: PAGE_SIZE + 1])
    return PersonPage(
        items=tuple(person_out(row) for row in rows[:PAGE_SIZE]),
        next=rows[PAGE_SIZE - 1].username if len(rows) > PAGE_SIZE else None,
    )


def people_names(*, user: User, search: str = "") -> list[PersonName]:
    """The first people by name whose name or user name contains this text, including erased ones. Raises Forbidden."""
    role_check(user, *STAFF_ROLES)
    found = User.objects.order_by("first_name", "last_name", "username")
    if search:
        matches = (Q(**{f"{field}__icontains": search}) for field in ("username", "first_name", "last_name"))
        found = found.filter(reduce(or_, matches))
    return [PersonName(username=row.username, name=row.name) for row in found[:PAGE_SIZE]]


def person_out(user: User) -> PersonOut:
    """A person as admins see them."""
    return PersonOut(
        id=user.pk,
        username=user.username,
        name=user.name,
        email=user.email,
        roles=tuple(user.roles),
        skills=tuple(user.skills),
        groups=tuple(group.pk for group in user.teams.all()),
        active=user.is_active,
        two_factor=any(each.type == "totp" for each in cast(Any, user).authenticator_set.all()),
        last_login=user.last_login,
        pseudonym=pseudonym(user.pk),
    )


def groups_list(*, user: User) -> list[GroupOut]:
    """All groups. Raises Forbidden."""
    role_check(user, Role.ADMIN)
    return [group_out(group) for group in Group.objects.prefetch_related("members")]


def group_out(group: Group) -> GroupOut:
    """A group with the numbers of its members."""
    return GroupOut(id=group.pk, name=group.name, members=tuple(member.pk for member in group.members.all()))


def invitations_open() -> QuerySet[Invitation]:
    """Invitations that can still be accepted."""
    return Invitation.objects.filter(user__isnull=True, expires_at__gt=timezone.now())


def invitations_list(*, user: User) -> list[InvitationOut]:
    """The open invitations. Raises Forbidden."""
    role_check(user, Role.ADMIN)
    return [invitation_out(each) for each in invitations_open().select_related("invited_by").prefetch_related("groups")]


def invitation_out(invitation: Invitation) -> InvitationOut:
    """An invitation as admins see it."""
    return InvitationOut(
        id=invitation.pk,
        email=invitation.email,
        roles=tuple(invitation.roles),
        groups=tuple(group.pk for group in invitation.groups.all()),
        invited_by=invitation.invited_by.name,
        expires_at=invitation.expires_at,
    )


def invitation_details(*, digest: str) -> InvitationDetails:
    """An invitation as its holder sees it. Raises NotFound."""
    found = invitations_open().select_related("invited_by").filter(sha256=digest).first()
    if found is None:
        raise NotFound(INVITATION_NOT_FOUND, code="invitation_ended")
    return InvitationDetails(email=found.email, roles=tuple(found.roles), invited_by=found.invited_by.name)


def password_links_open() -> QuerySet[PasswordLink]:
    """Password links that are still valid, with their people."""
    return PasswordLink.objects.select_related("user").filter(expires_at__gt=timezone.now(), user__is_active=True)


def password_link_details(*, digest: str) -> PasswordLinkDetails:
    """Whose password a link sets, as its holder sees it. Raises NotFound."""
    found = password_links_open().filter(sha256=digest).first()
    if found is None:
        raise NotFound(LINK_NOT_FOUND, code="link_ended")
    return PasswordLinkDetails(username=found.user.username, name=found.user.name)


def account_security(*, user: User, session_key: str | None) -> SecurityOut:
    """A person's own means of access: second factor, browsers, tokens."""
    kinds = {each.type: each for each in cast(Any, user).authenticator_set.all()}
    codes = kinds["recovery_codes"].wrap().get_unused_codes() if "recovery_codes" in kinds else ()
    return SecurityOut(
        two_factor="totp" in kinds,
        recovery_codes_left=len(codes),
        sign_ins=tuple(_sign_in_out(row, session_key) for row in user.sign_ins.all()),
        tokens=tuple(token_out(token) for token in Token.objects.filter(user=user).order_by("-id")),
        password=user.has_usable_password(),
    )


def token_out(token: Token) -> TokenOut:
    """A token without its secret."""
    return TokenOut(
        id=token.pk,
        name=token.name,
        scopes=tuple(token.scopes),
        created_at=token.created_at,
        expires_at=token.expires_at,
        used_at=token.used_at,
    )


def _sign_in_out(row: SignIn, session_key: str | None) -> SignInOut:
    return SignInOut(
        id=row.pk,
        how=row.how,
        agent=row.agent,
        address=row.address or "",
        created_at=row.created_at,
        seen_at=row.seen_at,
        here=row.session_key == session_key,
    )


def person_by_email(email: str) -> User | None:
    """The one active person with this address; None if no person or more than one has it."""
    found = list(User.objects.filter(email__iexact=email, is_active=True)[:2]) if email else []
    return found[0] if len(found) == 1 else None


def audit_page(
    *,
    user: User,
    words: str = "",
    verb: str | None = None,
    subject: str | None = None,
    actor: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    before: int | None = None,
) -> AuditPage:
    """A page of the audit log. A time without a time zone is in the server's. Raises Forbidden and Invalid."""
    role_check(user, Role.ADMIN)
    since, until = (moment and _with_time_zone(moment) for moment in (since, until))
    if since is not None and until is not None and until <= since:
        raise Invalid("The end is not after the beginning.", field="until")
    person = None if actor is None else User.objects.filter(username=actor).only("pk").first()
    if actor is not None and person is None:
        return AuditPage(items=(), next=None, verbs=VERBS)
    actor_id = None if person is None else person.pk
    rows, next_id = entries_page(
        words=words, verb=verb, subject=subject, actor_id=actor_id, since=since, until=until, before=before
    )
    names = _subject_names(rows)
    items = tuple(_audit_out(row, names.get(subject_of(row), "")) for row in rows)
    return AuditPage(items=items, next=next_id, verbs=VERBS)


def _audit_out(row: AuditEntry, subject_name: str) -> AuditOut:
    kind, _, name = row.source.partition(":")
    return AuditOut(
        id=row.pk,
        at=row.at,
        actor=row.actor.username if row.actor else None,
        source=AuditSource.model_validate({"kind": kind, "name": name}) if kind else None,
        verb=row.verb,
        subject=subject_of(row),
        subject_name=subject_name,
        details=json.dumps(row.details, ensure_ascii=False),
    )


def _subject_names(rows: Iterable[AuditEntry]) -> dict[str, str]:
    """The user names of the people that entries are about, by subject."""
    subjects = [subject for subject in map(subject_of, rows) if subject.startswith("user:")]
    keys = [subject.removeprefix("user:") for subject in subjects]
    people = User.objects.filter(pk__in=[key for key in keys if key.isdecimal()])
    return {f"user:{key}": username for key, username in people.values_list("pk", "username")}


def _with_time_zone(moment: datetime) -> datetime:
    return moment if timezone.is_aware(moment) else timezone.make_aware(moment)
