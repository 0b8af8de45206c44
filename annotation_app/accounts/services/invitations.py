"""Creating, sending, accepting and revoking invitations."""

import secrets
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation_app.accounts.models import Group, Invitation, Role, User
from annotation_app.accounts.selectors import INVITATION_NOT_FOUND, invitations_open, role_check
from annotation_app.accounts.services.mail import person_mail
from annotation_app.accounts.services.people import validate_new_password
from annotation_app.accounts.services.tokens import digest_secret
from annotation_app.audit.services import audit_record
from annotation_app.errors import Conflict, NotFound

MAIL_SUBJECT = "You are invited to Pilothouse"
MAIL_TEXT = """{who} invites you to Pilothouse as {roles}.

Make your account here; the link works once, until {until:%Y-%m-%d %H:%M} UTC:
{link}
"""


@transaction.atomic(durable=True)
def invitation_make(
    *, actor: User, email: str, roles: tuple[str, ...], groups: tuple[int, ...], days: int
) -> tuple[Invitation, str]:
    """An invitation and its secret, which is not stored. Raises Forbidden and NotFound."""
    role_check(actor, Role.ADMIN)
    named = list(Group.objects.filter(pk__in=groups))
    if len(named) != len(set(groups)):
        raise NotFound("Not all of these groups exist.", field="groups")
    secret = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        sha256=digest_secret(secret),
        email=email,
        roles=sorted(set(roles)),
        invited_by=actor,
        expires_at=timezone.now() + timedelta(days=days),
    )
    invitation.groups.set(named)
    details = {"roles": invitation.roles, "days": days}
    audit_record(actor=actor, verb="invitation.made", subject=f"invitation:{invitation.pk}", details=details)
    return invitation, secret


def invitation_send(*, invitation: Invitation, link: str) -> bool:
    """Send the link to the address. Returns whether a server accepted it. A link that could not be sent can be
    copied."""
    text = MAIL_TEXT.format(
        who=invitation.invited_by.name, roles=", ".join(invitation.roles), until=invitation.expires_at, link=link
    )
    return person_mail(address=invitation.email, subject=MAIL_SUBJECT, text=text)


@transaction.atomic(durable=True)
def invitation_accept(*, secret: str, username: str, name: str, password: str) -> User:
    """Create an account with an invitation, which is then used up. Raises NotFound, Conflict and Invalid."""
    invitation = invitations_open().select_for_update(of=("self",)).filter(sha256=digest_secret(secret)).first()
    if invitation is None:
        raise NotFound(INVITATION_NOT_FOUND, code="invitation_ended")
    user = User(username=username, first_name=name, email=invitation.email)
    user.set_password(validate_new_password(password, user))
    return _create_account(invitation, user)


@transaction.atomic
def invitation_accept_by_email(*, email: str, name: str) -> User | None:
    """The account of a person whose address a sign-in provider verified and who was invited under it; None without such
    an invitation."""
    invitation = invitations_open().select_for_update(of=("self",)).filter(email__iexact=email).first()
    if not email or invitation is None:
        return None
    user = User(username=email.lower()[:150], first_name=name[:150], email=email)
    user.set_unusable_password()
    return _create_account(invitation, user)


@transaction.atomic(durable=True)
def invitation_withdraw(*, actor: User, invitation_id: int) -> None:
    """Revoke an open invitation. Raises Forbidden and NotFound."""
    role_check(actor, Role.ADMIN)
    ended, _kinds = Invitation.objects.filter(pk=invitation_id, user__isnull=True).delete()
    if not ended:
        raise NotFound(INVITATION_NOT_FOUND, code="invitation_ended")
    audit_record(actor=actor, verb="invitation.withdrawn", subject=f"invitation:{invitation_id}")


def _create_account(invitation: Invitation, user: User) -> User:
    user.roles = invitation.roles
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError as error:
        raise Conflict("This user name is taken.", code="name_taken") from error
    user.teams.set(invitation.groups.all())
    invitation.user = user
    invitation.save(update_fields=["user"])
    details = {"invitation": invitation.pk, "roles": user.roles}
    audit_record(actor=user, verb="user.joined", subject=f"user:{user.pk}", details=details)
    return user
