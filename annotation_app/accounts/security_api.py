"""HTTP routes for a person's own means of access: second factor, browsers, tokens."""

from typing import Annotated

from django.http import HttpRequest
from ninja import Path, Router, Status
from pydantic import Field

from annotation_app.accounts import selectors, services
from annotation_app.accounts.schemas import (
    CodeIn,
    EnvironmentAccess,
    FactorSetup,
    PasswordChangeIn,
    ReauthenticationIn,
    RecoveryCodes,
    SecurityOut,
    TokenCreated,
    TokenIn,
)
from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH, AnyToken
from annotation_app.http_api import SessionAuth

router = Router(tags=["security"])
RowId = Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]


@router.get("/me/signed-in", auth=(AnyToken(), SessionAuth()), response={204: None})
def signed_in(request: HttpRequest) -> Status[None]:
    """Whether the caller is signed in, or has a token of any scope. The proxy asks before it reads a large body."""
    return Status(204, None)


@router.post("/environments/access", auth=TOKEN_OR_SESSION_AUTH, response=EnvironmentAccess)
def environment_access(request: HttpRequest) -> EnvironmentAccess:
    """Who may play on machines through a server of environments: researchers and admins with a token of scope
    `environments:write`."""
    return selectors.environment_access(user_of(request))


@router.get("/me/security", response=SecurityOut)
def security_get(request: HttpRequest) -> SecurityOut:
    """The caller's second factor, browsers and tokens."""
    return selectors.account_security(user=user_of(request), session_key=request.session.session_key)


@router.post("/me/reauthenticate", response={204: None})
def reauthenticate(request: HttpRequest, body: ReauthenticationIn) -> Status[None]:
    """Prove your identity again. Making tokens and changing the second factor require it."""
    services.reauthenticate(request=request, user=user_of(request), password=body.password, code=body.code)
    return Status(204, None)


@router.post("/me/password", response={204: None})
def password_change(request: HttpRequest, body: PasswordChangeIn) -> Status[None]:
    """Change the password. Every other browser is signed out."""
    services.password_change(request=request, user=user_of(request), current=body.current, new=body.new)
    return Status(204, None)


@router.post("/me/factor", response=FactorSetup)
def factor_begin(request: HttpRequest) -> FactorSetup:
    """A key for an authenticator app."""
    services.reauthentication_check(request)
    return services.factor_setup_start(user=user_of(request))


@router.post("/me/factor/confirm", response=RecoveryCodes)
def factor_confirm(request: HttpRequest, body: CodeIn) -> RecoveryCodes:
    """Confirm that the app has the key. From now on sign-in requires its code."""
    return RecoveryCodes(codes=services.factor_confirm(user=user_of(request), code=body.code))


@router.post("/me/factor/remove", response={204: None})
def factor_remove(request: HttpRequest) -> Status[None]:
    """Remove the second factor."""
    services.reauthentication_check(request)
    user = user_of(request)
    services.factor_remove(actor=user, user=user)
    return Status(204, None)


@router.post("/me/factor/codes", response=RecoveryCodes)
def recovery_codes_renew(request: HttpRequest) -> RecoveryCodes:
    """Replace the recovery codes."""
    services.reauthentication_check(request)
    return RecoveryCodes(codes=services.recovery_codes_renew(user=user_of(request)))


@router.post("/me/sign-ins/end-others", response={204: None})
def sign_ins_end(request: HttpRequest) -> Status[None]:
    """Sign out in all other browsers."""
    services.sign_ins_end(user=user_of(request), keep=request.session.session_key)
    return Status(204, None)


@router.delete("/me/sign-ins/{sign_in_id}", response={204: None})
def sign_in_end(request: HttpRequest, sign_in_id: RowId) -> Status[None]:
    """Sign out in one browser."""
    services.sign_ins_end(user=user_of(request), sign_in_id=sign_in_id)
    return Status(204, None)


@router.post("/me/tokens", response=TokenCreated)
def token_add(request: HttpRequest, body: TokenIn) -> TokenCreated:
    """Make a token for a program. It is shown only once."""
    services.reauthentication_check(request)
    token, row = services.token_add(user=user_of(request), name=body.name, days=body.days, scopes=body.scopes)
    return TokenCreated(token=token, shown=selectors.token_out(row))


@router.delete("/me/tokens/{token_id}", response={204: None})
def token_end(request: HttpRequest, token_id: RowId) -> Status[None]:
    """Revoke a token."""
    services.token_end(user=user_of(request), token_id=token_id)
    return Status(204, None)
