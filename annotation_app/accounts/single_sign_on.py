"""Single sign-on by OpenID Connect: people that a provider verifies may sign in if an admin has admitted them.

A person is identified by the provider's own number for them. The first time, they are matched by a verified address,
which an account or an open invitation must have. The provider's sign-in is sufficient: a second factor is up to the
provider.
"""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.http import HttpRequest
from django.shortcuts import redirect

from annotation_app.accounts import services
from annotation_app.accounts.selectors import person_by_email


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # untyped library
    """Sign-up is closed. A sign-in has no stages of its own and is recorded like any other."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_login_stages(self) -> list[str]:
        return []

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """Show no Django messages; our pages have no place for them."""

    def respond_user_inactive(self, request: HttpRequest, user: Any) -> Any:
        return _redirect_to_sign_in("inactive")

    def login(self, request: HttpRequest, user: Any) -> None:
        super().login(request, user)
        services.sign_in_record(request=request, user=user, how="sso")


class ProviderAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # untyped library
    """Finds the account of a person that the provider verified."""

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        if sociallogin.is_existing:
            return
        email = _verified_email(sociallogin.account.extra_data)
        user = person_by_email(email) or services.invitation_accept_by_email(
            email=email, name=str(_claims(sociallogin.account.extra_data).get("name", ""))
        )
        if user is None:
            raise ImmediateHttpResponse(_redirect_to_sign_in("unknown"))
        sociallogin.connect(request, user)

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return False

    def on_authentication_error(self, request: HttpRequest, provider: Any, **why: Any) -> None:
        raise ImmediateHttpResponse(_redirect_to_sign_in("failed"))


def _claims(data: dict[str, Any]) -> dict[str, Any]:
    return {**data.get("id_token", {}), **data.get("userinfo", {})} or data


def _verified_email(data: dict[str, Any]) -> str:
    claims = _claims(data)
    return str(claims.get("email", "")) if claims.get("email_verified") is True else ""


def _redirect_to_sign_in(why: str) -> Any:
    return redirect(f"/sign-in?sso={why}")
