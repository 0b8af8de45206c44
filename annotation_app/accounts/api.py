"""Sign-in, sign-out and a person's own preferences."""

from typing import Annotated, Any

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest
from django.middleware.csrf import get_token
from ninja import Router, Status
from pydantic import JsonValue, StringConstraints

from annotation_app.accounts import selectors, services
from annotation_app.accounts.jobs import password_link_mail_job
from annotation_app.accounts.schemas import ForgottenIn, LinkSecret, PasswordLinkDetails, PasswordResetIn
from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.throttle import MAIL_REQUEST_LIMIT
from annotation_app.http_api import ShortText, csrf_required
from protocol.base import FrozenModel

router = Router(tags=["accounts"])

RESET_PATH = "/reset-password"
"""The page of a link that sets a password. The link's secret follows after `#`."""


class UserOut(FrozenModel):
    """A person, as they see themselves."""

    id: int
    username: str
    name: str
    roles: tuple[str, ...]
    preferences: dict[str, JsonValue]


class SessionOut(FrozenModel):
    """The signed-in person, and the token that changes must carry as X-CSRFToken."""

    user: UserOut | None
    csrf: str
    sso: str = ""
    """The display name of single sign-on; empty without it."""
    mail: bool = False
    """Whether this installation sends mail, so that a forgotten password can be reset by a link."""


class SignIn(FrozenModel):
    """A user name and a password, and a code if the person has a second factor."""

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
    """The signed-in person, for the page."""
    user = _user_out(request.user) if request.user.is_authenticated else None
    sso = settings.ENV.oidc_name if settings.ENV.oidc_url else ""
    return SessionOut(user=user, csrf=get_token(request), sso=sso, mail=bool(settings.EMAIL_HOST))


@router.get("/session", auth=None, response=SessionOut)
def session_get(request: HttpRequest) -> SessionOut:
    """The signed-in person."""
    if request.user.is_authenticated:
        services.sign_in_touch(request=request)
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


@router.post("/session/forgotten", auth=None, response={204: None})
def password_forgotten(request: HttpRequest, body: ForgottenIn) -> Status[None]:
    """Send a password link by mail. The answer does not reveal whether the account exists."""
    csrf_required(request)
    MAIL_REQUEST_LIMIT.take(request.META.get("REMOTE_ADDR", ""), code="mail_throttled")
    password_link_mail_job.delay(body.login, request.build_absolute_uri(RESET_PATH))
    return Status(204, None)


@router.post("/session/password-link", auth=None, response=PasswordLinkDetails)
def password_link_get(request: HttpRequest, body: LinkSecret) -> PasswordLinkDetails:
    """Whose password a link sets. The secret is in the body, because paths are logged and kept in histories."""
    csrf_required(request)
    return selectors.password_link_details(digest=services.digest_secret(body.secret))


@router.post("/session/password", auth=None, response={204: None})
def password_reset(request: HttpRequest, body: PasswordResetIn) -> Status[None]:
    """Set a new password by a link. The person then signs in with it."""
    csrf_required(request)
    services.password_reset(secret=body.secret, password=body.password)
    return Status(204, None)


@router.patch("/me", response=UserOut)
def me_change(request: HttpRequest, body: PreferencesIn) -> UserOut:
    """Store preferences: theme, language, key map."""
    return _user_out(services.preferences_set(user=user_of(request), preferences=body.preferences))
