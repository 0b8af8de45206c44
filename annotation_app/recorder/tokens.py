"""The token of a paired computer in the Authorization header."""

from typing import Any

from django.http import HttpRequest

from annotation_app.accounts.services import digest_secret
from annotation_app.accounts.tokens import TokenBearer
from annotation_app.errors import NotSignedIn
from annotation_app.recorder.models import PairedComputer

SCHEME = "Bearer "


class RecorderBearer(TokenBearer):
    """`Authorization: Bearer …`. A recorder whose pairing has ended is told so: `recorder_revoked` or
    `recorder_expired`."""

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        user = super().authenticate(request, token)
        if user is not None:
            return user
        ended = PairedComputer.objects.filter(token_sha256=digest_secret(token)).first()
        if ended is None:
            return None
        if ended.token_id is None:
            raise NotSignedIn("This computer is not paired any more. Pair it again.", code="recorder_revoked")
        raise NotSignedIn("The pairing of this computer has expired. Pair it again.", code="recorder_expired")


def token_of(request: HttpRequest) -> str:
    """The token that the request brings; empty where it brings none."""
    value = request.headers.get("Authorization", "")
    return value.removeprefix(SCHEME) if value.startswith(SCHEME) else ""


def computer_of(request: HttpRequest) -> PairedComputer | None:
    """The paired computer that calls; None for other tokens and for browsers."""
    token = token_of(request)
    return PairedComputer.objects.filter(token__sha256=digest_secret(token)).first() if token else None
