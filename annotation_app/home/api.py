"""The home page over HTTP."""

from django.http import HttpRequest
from ninja import Router

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.home.schemas import Home
from annotation_app.home.selectors import home_page

router = Router(tags=["home"], auth=TOKEN_OR_SESSION_AUTH)


@router.get("/home", response=Home)
def home_get(request: HttpRequest) -> Home:
    """What needs the caller's attention, and the figures of the last day."""
    return home_page(user=user_of(request))
