"""Tokens with which programs act as a person."""

import secrets
from datetime import timedelta
from hashlib import sha256

from django.db import transaction
from django.utils import timezone

from annotation_app.accounts.models import Token, User
from annotation_app.accounts.scopes import EVERYTHING, allows
from annotation_app.audit.services import audit_record
from annotation_app.errors import Conflict, Forbidden, NotFound

SEEN_EVERY = timedelta(minutes=1)
MOST = 50
"""Tokens one person may have."""


@transaction.atomic(durable=True)
def token_make(*, username: str, name: str, days: int, scopes: tuple[str, ...] = EVERYTHING) -> str:
    """A token for a program that acts as this person; it is shown once and kept nowhere. Raises NotFound."""
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise NotFound(f"There is nobody named {username!r}.")
    return _made(user, None, name, days, scopes)[0]


@transaction.atomic(durable=True)
def token_add(*, user: User, name: str, days: int, scopes: tuple[str, ...]) -> tuple[str, Token]:
    """A token a person makes for a program of their own, and its row. Raises Conflict."""
    if Token.objects.filter(user=user).count() >= MOST:
        raise Conflict(f"One person may have {MOST} tokens; end some first.", code="too_many_tokens")
    return _made(user, user, name, days, scopes)


@transaction.atomic(durable=True)
def token_end(*, user: User, token_id: int) -> None:
    """End a token of one's own. Raises NotFound."""
    ended, _kinds = Token.objects.filter(user=user, pk=token_id).delete()
    if not ended:
        raise NotFound("You have no such token.")
    audit_record(actor=user, verb="token.ended", subject=f"user:{user.pk}", details={"token": token_id})


def token_user(token: str, *, scope: str | None = None) -> User | None:
    """Whom a token stands for at this moment; None where it is none, has ended, or its person may not sign in. Raises
    Forbidden where it does not allow `scope`."""
    now = timezone.now()
    held = (
        Token.objects.select_related("user")
        .filter(sha256=digest(token), expires_at__gt=now, user__is_active=True)
        .first()
    )
    if held is None:
        return None
    if scope is not None and not allows(held.scopes, scope):
        raise Forbidden(f"This token does not allow {scope}.", code="scope_missing", extra={"scope": scope})
    if held.used_at is None or held.used_at < now - SEEN_EVERY:
        Token.objects.filter(pk=held.pk).update(used_at=now)
    return held.user


def digest(secret: str) -> str:
    """What is kept of a secret."""
    return sha256(secret.encode()).hexdigest()


def _made(user: User, actor: User | None, name: str, days: int, scopes: tuple[str, ...]) -> tuple[str, Token]:
    token = secrets.token_urlsafe(32)
    row = Token.objects.create(
        user=user,
        name=name,
        sha256=digest(token),
        scopes=list(scopes),
        expires_at=timezone.now() + timedelta(days=days),
    )
    details = {"name": name, "days": days, "scopes": list(scopes)}
    audit_record(actor=actor, verb="token.made", subject=f"user:{user.pk}", details=details)
    return token, row
