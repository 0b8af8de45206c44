"""Signing in and out, and what a person sets for themselves."""

from typing import Annotated, Any

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest
from django.middleware.csrf import get_token
from ninja import Router
from pydantic import JsonValue, StringConstraints

from annotation_app.accounts import services
from annotation_app.accounts.selectors import user_of
from annotation_app.http_api import ShortText, csrf_required
from protocol.base import FrozenModel

router = Router(tags=["accounts"])


class UserOut(FrozenModel):
    """A person, as they see themselves."""

    id: int
    username: str
    name: str
    roles: tuple[str, ...]
    preferences: dict[str, JsonValue]


class SessionOut(FrozenModel):
    """Who is signed in, and the token that changes must carry as X-CSRFToken."""

    user: UserOut | None
    csrf: str
    sso: str = ""
    """What single sign-on is called here; empty where there is none."""


class SignIn(FrozenModel):
    """A name and a password; where they have a second factor, its code too."""

    username: ShortText
    password: ShortText
    code: Annotated[str, StringConstraints(max_length=20, pattern=r"^[0-9 ]*$")] = ""


class PreferencesIn(FrozenModel):
    """A JSON object the front-end owns."""

    preferences: dict[str, JsonValue]


def _user_out(user: Any) -> UserOut:
    return UserOut(
        id=user.id, username=user.username, name=user.name, roles=tuple(user.roles), preferences=user.preferences
    )


def session_out(request: HttpRequest) -> SessionOut:
    """Who is signed in, for the page."""
    user = _user_out(request.user) if request.user.is_authenticated else None
    return SessionOut(user=user, csrf=get_token(request), sso=settings.ENV.oidc_name if settings.ENV.oidc_url else "")


@router.get("/session", auth=None, response=SessionOut)
def session_get(request: HttpRequest) -> SessionOut:
    """Who is signed in."""
    if request.user.is_authenticated:
        services.sign_in_touch(session_key=request.session.session_key)
    return session_out(request)


@router.post("/session", auth=None, response=SessionOut)
def session_start(request: HttpRequest, body: SignIn) -> SessionOut:
    """Sign in."""
    csrf_required(request)
    user = services.credentials_check(request=request, username=body.username, password=body.password, code=body.code)
    services.sign_in(request=request, user=user, how="password")
    return session_out(request)


@router.delete("/session", response=SessionOut)
def session_end(request: HttpRequest) -> SessionOut:
    """Sign out."""
    services.sign_in_end(session_key=request.session.session_key)
    logout(request)
    return session_out(request)


@router.patch("/me", response=UserOut)
def me_change(request: HttpRequest, body: PreferencesIn) -> UserOut:
    """Keep preferences: theme, language, key map."""
    return _user_out(services.preferences_set(user=user_of(request), preferences=body.preferences))
