"""Changing passwords, and links that set a forgotten one."""

import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth import update_session_auth_hash
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone

from annotation_app.accounts.models import PasswordLink, Role, SignIn, User
from annotation_app.accounts.selectors import LINK_NOT_FOUND, password_links_open, person_of, role_check
from annotation_app.accounts.services.factors import password_check
from annotation_app.accounts.services.mail import person_mail
from annotation_app.accounts.services.people import validate_new_password
from annotation_app.accounts.services.sign_ins import reauthentication_check, sign_ins_end
from annotation_app.accounts.services.tokens import digest_secret
from annotation_app.accounts.throttle import MAIL_LIMIT
from annotation_app.audit.services import audit_record
from annotation_app.errors import NotFound

ADMIN_LINK_HOURS = 24
"""Lifetime of a link that an admin made (hours)."""
MAIL_LINK_HOURS = 1
"""Lifetime of a link that was requested by mail (hours)."""
MAIL_SUBJECT = "Your Pilothouse password"
MAIL_TEXT = """A link to set a new password was requested for {username}.

It works once, until {until:%Y-%m-%d %H:%M} UTC:
{link}

If you did not ask for it, ignore this message: your password stays as it is.
"""


def password_change(*, request: HttpRequest, user: User, current: str, new: str) -> None:
    """Set a person's password and sign them out in every other browser. A person without a password must reauthenticate
    first.

    Raises:
        Forbidden: The person has no password, and reauthenticated too long ago.
        TooMany: After too many wrong passwords for this account.
        Invalid: The current password is wrong, or the new one is easily guessed.
    """
    if user.has_usable_password():
        password_check(user=user, password=current, field="current")
    else:
        reauthentication_check(request)
    validate_new_password(new, user, field="new")
    before = request.session.session_key
    with transaction.atomic(durable=True):
        _password_set(user, new)
        audit_record(actor=user, verb="password.changed", subject=f"user:{user.pk}")
    update_session_auth_hash(request, user)
    request.session.save()
    SignIn.objects.filter(session_key=before).update(session_key=request.session.session_key)
    sign_ins_end(user=user, keep=request.session.session_key)


@transaction.atomic(durable=True)
def password_link_make(*, request: HttpRequest, actor: User, user_id: int) -> tuple[PasswordLink, str]:
    """A link for a person who cannot sign in, and its secret, which is not stored. Their earlier links become invalid.

    Raises:
        Forbidden: The actor is not an admin, or reauthenticated too long ago.
        NotFound: There is no such person, or they may not sign in.
    """
    role_check(actor, Role.ADMIN)
    reauthentication_check(request)
    user = person_of(user_id=user_id)
    if not user.is_active:
        raise NotFound("They may not sign in; allow it first.", code="person_inactive")
    link, secret = _create_link(user, actor, ADMIN_LINK_HOURS)
    audit_record(actor=actor, verb="password.link_made", subject=f"user:{user.pk}")
    return link, secret


def password_link_mail(*, login: str, base: str) -> bool:
    """Send a link to everybody with this user name or address. Returns whether any was sent.

    Nothing is sent to people who may not sign in, have no address, or sign in without a password. One account gets at
    most `MAIL_LIMIT` messages.
    """
    if not (login and settings.EMAIL_HOST):
        return False
    found = User.objects.filter(Q(username=login) | Q(email__iexact=login), is_active=True).exclude(email="")
    people = [user for user in found if user.has_usable_password() and MAIL_LIMIT.allows(str(user.pk))]
    return any([_mail_link(user, base) for user in people])


def password_link_send(*, link: PasswordLink, address: str) -> bool:
    """Send a link to its person's address. Returns whether a server accepted it."""
    text = MAIL_TEXT.format(username=link.user.username, until=link.expires_at, link=address)
    return person_mail(address=link.user.email, subject=MAIL_SUBJECT, text=text)


@transaction.atomic(durable=True)
def password_reset(*, secret: str, password: str) -> None:
    """Set the password of a link's person and sign them out everywhere. The link is used up; a second factor stays.

    Raises:
        NotFound: The link has expired or was used.
        Invalid: The password is easily guessed.
    """
    link = password_links_open().select_for_update(of=("self",)).filter(sha256=digest_secret(secret)).first()
    if link is None:
        raise NotFound(LINK_NOT_FOUND, code="link_ended")
    user = link.user
    validate_new_password(password, user)
    _password_set(user, password)
    sign_ins_end(user=user)
    audit_record(actor=user, verb="password.reset", subject=f"user:{user.pk}")


def _password_set(user: User, password: str) -> None:
    user.set_password(password)
    user.save(update_fields=["password"])
    user.password_links.all().delete()


def _mail_link(user: User, base: str) -> bool:
    with transaction.atomic(durable=True):
        link, secret = _create_link(user, None, MAIL_LINK_HOURS)
        audit_record(actor=None, part="passwords", verb="password.link_requested", subject=f"user:{user.pk}")
    return password_link_send(link=link, address=f"{base}#{secret}")


def _create_link(user: User, maker: User | None, hours: int) -> tuple[PasswordLink, str]:
    user.password_links.all().delete()
    secret = secrets.token_urlsafe(32)
    expires_at = timezone.now() + timedelta(hours=hours)
    link = PasswordLink.objects.create(user=user, sha256=digest_secret(secret), made_by=maker, expires_at=expires_at)
    return link, secret
