"""Tokens with which programs act as a person."""

import secrets
from datetime import timedelta
from hashlib import sha256

from django.db import transaction
from django.utils import timezone

from annotation_app.accounts.models import Role, Token, User
from annotation_app.accounts.scopes import ALL_SCOPES, scopes_allow
from annotation_app.accounts.selectors import person_by_username, person_of, role_check
from annotation_app.audit.services import audit_record
from annotation_app.audit.sources import source_begin
from annotation_app.errors import Conflict, Forbidden, NotFound

USED_INTERVAL = timedelta(minutes=1)
MAX_TOKENS = 50
"""Most tokens that one person may have."""


@transaction.atomic(durable=True)
def token_make(*, username: str, name: str, days: int, scopes: tuple[str, ...] = ALL_SCOPES) -> str:
    """A token for a program that acts as this person. It is shown once and not stored. Raises NotFound."""
    return _create_token(person_by_username(username=username), None, name, days, scopes)[0]


@transaction.atomic(durable=True)
def token_add(*, user: User, name: str, days: int, scopes: tuple[str, ...]) -> tuple[str, Token]:
    """A token that a person makes for a program of their own, and its row. Raises Conflict."""
    return token_issue(user=user, name=name, days=days, scopes=scopes)


def token_issue(*, user: User, name: str, days: int, scopes: tuple[str, ...]) -> tuple[str, Token]:
    """Like `token_add`, inside the caller's transaction. Raises Conflict."""
    if Token.objects.filter(user=user).count() >= MAX_TOKENS:
        raise Conflict(f"One person may have {MAX_TOKENS} tokens; end some first.", code="too_many_tokens")
    return _create_token(user, user, name, days, scopes)


@transaction.atomic(durable=True)
def token_end(*, user: User, token_id: int) -> None:
    """Revoke a token of one's own. Raises NotFound."""
    ended, _kinds = Token.objects.filter(user=user, pk=token_id).delete()
    if not ended:
        raise NotFound("You have no such token.")
    audit_record(actor=user, verb="token.ended", subject=f"user:{user.pk}", details={"token": token_id})


@transaction.atomic(durable=True)
def person_tokens_end(*, actor: User, user_id: int) -> int:
    """Revoke every token of a person. Returns how many there were. Raises Forbidden and NotFound."""
    role_check(actor, Role.ADMIN)
    user = person_of(user_id=user_id)
    ended, _kinds = Token.objects.filter(user=user).delete()
    if ended:
        audit_record(actor=actor, verb="token.ended", subject=f"user:{user.pk}", details={"tokens": ended})
    return ended


def token_user(token: str, *, scope: str | None = None) -> User | None:
    """The person behind a token now; None if it is unknown or expired, or its person may not sign in. Raises Forbidden
    if it does not allow `scope`. The audit log names this token for later actions of the request."""
    now = timezone.now()
    token_row = (
        Token.objects.select_related("user")
        .filter(sha256=digest_secret(token), expires_at__gt=now, user__is_active=True)
        .first()
    )
    if token_row is None:
        return None
    if scope is not None and not scopes_allow(token_row.scopes, scope):
        raise Forbidden(f"This token does not allow {scope}.", code="scope_missing", extra={"scope": scope})
    if token_row.used_at is None or token_row.used_at < now - USED_INTERVAL:
        Token.objects.filter(pk=token_row.pk).update(used_at=now)
    source_begin("token", token_row.name)
    return token_row.user


def digest_secret(secret: str) -> str:
    """The digest of a secret that is stored in its place."""
    return sha256(secret.encode()).hexdigest()


def _create_token(user: User, actor: User | None, name: str, days: int, scopes: tuple[str, ...]) -> tuple[str, Token]:
    token = secrets.token_urlsafe(32)
    row = Token.objects.create(
        user=user,
        name=name,
        sha256=digest_secret(token),
        scopes=list(scopes),
        expires_at=timezone.now() + timedelta(days=days),
    )
    details = {"name": name, "days": days, "scopes": list(scopes)}
    audit_record(actor=actor, part="command", verb="token.made", subject=f"user:{user.pk}", details=details)
    return token, row
