"""Signing people in, listing their browsers, and storing their preferences."""

import json
from datetime import datetime, timedelta
from importlib import import_module
from typing import Any, Literal

from django.conf import settings
from django.contrib.auth import authenticate, login
from django.contrib.sessions.models import Session
from django.db import DataError, transaction
from django.http import HttpRequest
from django.utils import timezone

from annotation_app.accounts.models import PasswordLink, SignIn, User
from annotation_app.accounts.services.factors import code_check, has_second_factor, password_check
from annotation_app.accounts.throttle import ADDRESS_SIGN_IN_LIMIT, SIGN_IN_LIMIT
from annotation_app.audit.services import audit_record
from annotation_app.errors import Forbidden, Invalid, NotFound, TooLarge

REAUTHENTICATED_KEY = "reauthenticated_at"
"""Session key of the time when its person last proved their identity (seconds since 1970)."""
REAUTHENTICATION_SECONDS = 600
"""How long after a proof of identity a person may make tokens and change their second factor."""
PREFERENCES_LIMIT_BYTES = 16 * 1024
"""Largest size of a user's preferences (bytes)."""
SEEN_INTERVAL = timedelta(minutes=5)

WRONG_CREDENTIALS_MESSAGE = "The name or the password is wrong."
UNSTORABLE_MESSAGE = "Preferences cannot hold NUL, half a character, NaN or Infinity."
CODE_REQUIRED_MESSAGE = "Enter the code of your authenticator."
THROTTLED_CODE = "sign_in_throttled"


def credentials_check(*, request: HttpRequest, username: str, password: str, code: str = "") -> User:
    """The user with this name, password and, if they have a second factor, code.

    Raises:
        TooMany: After too many failures for this name, address or account; also while too many people sign in.
        Invalid: The name, the password or the code is wrong, or a code is missing.
    """
    address = request.META.get("REMOTE_ADDR", "")
    name = f"{address}:{username.casefold()}"
    ADDRESS_SIGN_IN_LIMIT.take(address, code=THROTTLED_CODE)
    SIGN_IN_LIMIT.take(name, code=THROTTLED_CODE)
    user = authenticate(request, username=username, password=password)
    if not isinstance(user, User):
        raise Invalid(WRONG_CREDENTIALS_MESSAGE, code="wrong_credentials")
    if has_second_factor(user):
        if not code:
            ADDRESS_SIGN_IN_LIMIT.refund(address)
            raise Invalid(CODE_REQUIRED_MESSAGE, code="code_required")
        code_check(user=user, code=code)
    SIGN_IN_LIMIT.clear(name)
    ADDRESS_SIGN_IN_LIMIT.refund(address)
    return user


def sign_in(*, request: HttpRequest, user: User, how: Literal["password", "sso", "invite"]) -> None:
    """Sign this person in with this browser, and record it."""
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    sign_in_record(request=request, user=user, how=how)


def sign_in_record(*, request: HttpRequest, user: User, how: Literal["password", "sso", "invite"]) -> None:
    """Record a browser that has signed in."""
    now = timezone.now()
    request.session[REAUTHENTICATED_KEY] = int(now.timestamp())
    _session_extend(request, began=now)
    request.session.save()
    SignIn.objects.update_or_create(
        session_key=request.session.session_key,
        defaults={
            "user": user,
            "how": how,
            "agent": request.headers.get("User-Agent", "")[:200].replace("\0", ""),
            "address": request.META.get("REMOTE_ADDR") or None,
        },
    )


def sign_in_touch(*, request: HttpRequest) -> None:
    """Record that a browser is still in use, and extend its session. Writes are limited to a useful rate."""
    now = timezone.now()
    old = SignIn.objects.filter(session_key=request.session.session_key, seen_at__lt=now - SEEN_INTERVAL).first()
    if old is not None:
        old.seen_at = now
        old.save(update_fields=["seen_at"])
        _session_extend(request, began=old.created_at)


def _session_extend(request: HttpRequest, *, began: datetime) -> None:
    """Extend the session by the idle limit from now, but not past the absolute limit from its beginning."""
    idle_end = timezone.now() + timedelta(hours=settings.ENV.session_idle_hours)
    request.session.set_expiry(min(idle_end, began + timedelta(hours=settings.ENV.session_limit_hours)))


def reauthenticate(*, request: HttpRequest, user: User, password: str, code: str) -> None:
    """Allow this session actions that need a recent proof of identity, for `REAUTHENTICATION_SECONDS`. A person without
    a password gives a code of their second factor.

    Raises:
        TooMany: After too many wrong answers for this account.
        Invalid: The password or the code is wrong.
        Forbidden: The person has neither. They have to sign in again.
    """
    if user.has_usable_password():
        password_check(user=user, password=password)
    elif has_second_factor(user):
        code_check(user=user, code=code)
    else:
        raise Forbidden("Sign in again to do this.", code="sign_in_again")
    request.session[REAUTHENTICATED_KEY] = int(timezone.now().timestamp())


def reauthentication_check(request: HttpRequest) -> None:
    """Raises Forbidden if the last proof of identity in this session is too old or missing."""
    proved = int(request.session.get(REAUTHENTICATED_KEY, 0))
    if timezone.now().timestamp() - proved > REAUTHENTICATION_SECONDS:
        raise Forbidden("Confirm that it is you first.", code="reauthentication_required")


def sign_in_end(*, session_key: str | None) -> None:
    """Delete the record of a browser that signed out."""
    SignIn.objects.filter(session_key=session_key).delete()


def sign_ins_end(
    *, user: User, keep: str | None = None, sign_in_id: int | None = None, actor: User | None = None
) -> int:
    """Sign one browser of this person out, or all but `keep`. Returns how many. Open annotation pages there end at
    their next heartbeat. `actor` is the person who does it, if it is not this one. Raises NotFound."""
    found = user.sign_ins.exclude(session_key=keep)
    if sign_in_id is not None:
        found = user.sign_ins.filter(pk=sign_in_id)
        if not found.exists():
            raise NotFound("You are not signed in there.")
    ended = list(found)
    store = import_module(settings.SESSION_ENGINE).SessionStore
    for row in ended:
        store(row.session_key).delete()
        row.delete()
    if ended:
        audit_record(
            actor=actor or user, verb="sign_in.ended", subject=f"user:{user.pk}", details={"browsers": len(ended)}
        )
    return len(ended)


def sessions_clear() -> int:
    """Delete expired sessions, the browsers listed for them, and expired password links. Returns the number of
    sessions."""
    ended, _kinds = Session.objects.filter(expire_date__lt=timezone.now()).delete()
    SignIn.objects.exclude(session_key__in=Session.objects.values("session_key")).delete()
    PasswordLink.objects.filter(expires_at__lt=timezone.now()).delete()
    return ended


@transaction.atomic(durable=True)
def preferences_set(*, user: User, preferences: dict[str, Any]) -> User:
    """Replace this user's front-end preferences. Raises TooLarge and Invalid."""
    if len(json.dumps(preferences).encode()) > PREFERENCES_LIMIT_BYTES:
        raise TooLarge(f"Preferences may hold {PREFERENCES_LIMIT_BYTES} bytes.")
    user.preferences = preferences
    try:
        user.save(update_fields=["preferences"])
    except DataError as error:
        raise Invalid(UNSTORABLE_MESSAGE) from error
    return user


def user_ensure(*, username: str, password: str, name: str, roles: list[str], staff: bool = False) -> User:
    """The user with this name, created if missing. An existing one is left unchanged."""
    found = User.objects.filter(username=username).first()
    if found is not None:
        return found
    user = User(username=username, first_name=name, roles=roles, is_staff=staff, is_superuser=staff)
    user.set_password(password)
    user.save()
    audit_record(actor=None, part="command", verb="user.created", subject=f"user:{user.pk}", details={"roles": roles})
    return user


def password_ensure(*, user: User, password: str) -> None:
    """Set the user's password. If it is already set to this one, no browser is signed out."""
    if not user.check_password(password):
        user.set_password(password)
        user.save(update_fields=["password"])
        audit_record(actor=None, part="command", verb="user.password_set", subject=f"user:{user.pk}")
