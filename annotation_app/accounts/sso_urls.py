"""The two addresses of single sign-on, and the URL names of django-allauth's fallback pages."""

from allauth.socialaccount.providers.openid_connect.urls import urlpatterns as oidc
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path


def redirect_to_sign_in(request: HttpRequest) -> HttpResponse:
    """Redirect every page of the library to our own sign-in."""
    return redirect("/sign-in?sso=failed")


urlpatterns = [
    *oidc,
    *(
        path(f"back/{name}/", redirect_to_sign_in, name=name)
        for name in ("account_login", "account_inactive", "socialaccount_signup", "socialaccount_login_error")
    ),
]
