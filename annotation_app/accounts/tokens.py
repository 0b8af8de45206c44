"""Authentication of programs that call the HTTP API: a token in the Authorization header acts as the person who made
it."""

from typing import Any

from django.http import HttpRequest
from ninja.security import HttpBearer

from annotation_app.accounts import services
from annotation_app.accounts.scopes import required_scope
from annotation_app.http_api import SessionAuth


class TokenBearer(HttpBearer):
    """`Authorization: Bearer …`. It needs no CSRF token, since no browser sends it by itself. The token must have the
    scope of the call's area."""

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        assert request.resolver_match is not None
        scope = required_scope(request.method or "", request.resolver_match.route)
        user = services.token_user(token, scope=scope)
        if user is not None:
            request.user = user
        return user


class AnyToken(HttpBearer):
    """A token of any scope. It identifies a person and grants nothing."""

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        user = services.token_user(token)
        if user is not None:
            request.user = user
        return user


TOKEN_OR_SESSION_AUTH = (TokenBearer(), SessionAuth())
"""For routes that programs also call: a token, or else the session."""
