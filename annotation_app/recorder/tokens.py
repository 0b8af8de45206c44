"""The token of a paired computer in the Authorization header."""

from typing import Any

from django.http import HttpRequest

from annotation_app.accounts.tokens import TokenBearer
from annotation_app.errors import NotSignedIn
from annotation_app.recorder.selectors import pairing_end

SCHEME = "Bearer "


class RecorderBearer(TokenBearer):
    """`Authorization: Bearer …`. A recorder whose pairing has ended is told so: `recorder_revoked` or
    `recorder_expired`."""

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        user = super().authenticate(request, token)
        if user is not None:
            return user
        match pairing_end(token):
            case "recorder_revoked":
                raise NotSignedIn("This computer is not paired any more. Pair it again.", code="recorder_revoked")
            case "recorder_expired":
                raise NotSignedIn("The pairing of this computer has expired. Pair it again.", code="recorder_expired")
        return None


def token_of(request: HttpRequest) -> str:
    """The token that the request brings; empty where it brings none."""
    value = request.headers.get("Authorization", "")
    return value.removeprefix(SCHEME) if value.startswith(SCHEME) else ""
