"""Changing users and signing them in."""

import json
import secrets
from datetime import timedelta
from hashlib import sha256
from typing import Any

from django.contrib.auth import authenticate
from django.core.cache import cache
from django.db import DataError, transaction
from django.http import HttpRequest
from django.utils import timezone

from annotation_app.accounts.models import Token, User
from annotation_app.audit.services import audit_record
from annotation_app.errors import Invalid, NotFound, TooLarge, TooMany

PREFERENCES_LIMIT = 16 * 1024
"""Most bytes of preferences a user may keep."""
ATTEMPTS = 10
ATTEMPT_WINDOW = 300
"""So many failed sign-ins in so many seconds, for one name from one address, and they must wait."""

WRONG_PASSWORD = "The name or the password is wrong."
NOT_KEPT = "Preferences cannot hold NUL, half a character, NaN or Infinity."
WAIT_BEFORE_SIGN_IN = "Too many failed sign-ins; wait five minutes."


def credentials_check(*, request: HttpRequest, username: str, password: str) -> User:
    """The user with this name and password. Raises TooMany and Invalid."""
    address = request.META.get("REMOTE_ADDR", "")
    key = f"sign-in:{address}:{username.casefold()}".encode().hex()
    cache.add(key, 0, ATTEMPT_WINDOW)
    if cache.incr(key) > ATTEMPTS:
        raise TooMany(WAIT_BEFORE_SIGN_IN, code="sign_in_throttled")
    user = authenticate(request, username=username, password=password)
    if not isinstance(user, User):
        raise Invalid(WRONG_PASSWORD, code="wrong_credentials")
    cache.delete(key)
    return user


@transaction.atomic(durable=True)
def preferences_set(*, user: User, preferences: dict[str, Any]) -> User:
    """Replace what the front-end keeps for this user. Raises TooLarge and Invalid."""
    if len(json.dumps(preferences).encode()) > PREFERENCES_LIMIT:
        raise TooLarge(f"Preferences may hold {PREFERENCES_LIMIT} bytes.")
    user.preferences = preferences
    try:
        user.save(update_fields=["preferences"])
    except DataError as error:
        raise Invalid(NOT_KEPT) from error
    return user


def user_ensure(*, username: str, password: str, name: str, roles: list[str], staff: bool = False) -> User:
    """The user of this name, made where there is none; an existing one is left as it is."""
    found = User.objects.filter(username=username).first()
    if found is not None:
        return found
    user = User(username=username, first_name=name, roles=roles, is_staff=staff, is_superuser=staff)
    user.set_password(password)
    user.save()
    audit_record(actor=None, verb="user.created", subject=f"user:{username}", details={"roles": roles})
    return user


def password_ensure(*, user: User, password: str) -> None:
    """Let this be the user's password; where it is already, nobody is signed out."""
    if not user.check_password(password):
        user.set_password(password)
        user.save(update_fields=["password"])
        audit_record(actor=None, verb="user.password_set", subject=f"user:{user.username}")


@transaction.atomic(durable=True)
def token_make(*, username: str, name: str, days: int) -> str:
    """A token for a program that acts as this person; it is shown once and kept nowhere. Raises NotFound."""
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise NotFound(f"There is nobody named {username!r}.")
    token = secrets.token_urlsafe(32)
    Token.objects.create(user=user, name=name, sha256=_digest(token), expires_at=timezone.now() + timedelta(days=days))
    audit_record(actor=None, verb="token.made", subject=f"user:{username}", details={"name": name, "days": days})
    return token


def token_user(token: str) -> User | None:
    """Whom a token stands for at this moment; None where it is none, has ended, or its person may not sign in."""
    found = Token.objects.select_related("user").filter(
        sha256=_digest(token), expires_at__gt=timezone.now(), user__is_active=True
    )
    held = found.first()
    return held.user if held else None


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()
