"""What can go wrong in a program that uses Pilothouse.

PilothouseError           every error of this package; `code` is stable
├── NotConfigured         no token, or one that others can read
├── Unreachable           no answer after all retries
├── RequestRejected       the server said no; `code`, `message` and `extra` are its own
│   ├── NotSignedIn       401: the token has ended, or never was one
│   ├── Forbidden         403: not for this person, or not within the token's scopes
│   ├── NotFound          404
│   ├── Conflict          409
│   ├── TooLarge          413
│   ├── Invalid           422
│   ├── TooMany           429
│   └── ServerFailed      5xx
├── ExportFailed          an export ended without a folder
├── ImportFailed          an import ended before it was through; `code` is the server's
├── NothingToImport       a file or folder holds no trajectories; nothing was sent
├── DownloadDamaged       what was downloaded is not what its manifest says
├── InboxInUse         an inbox is being filled by another program, or from another query
└── InvalidSignature        a webhook's message that we did not send, or not now
"""

from typing import Any, ClassVar


class PilothouseError(Exception):
    """Base of all."""

    code: str = "pilothouse_error"


class NotConfigured(PilothouseError):
    code = "not_configured"


class Unreachable(PilothouseError):
    code = "unreachable"


class RequestRejected(PilothouseError):
    code = "refused"
    status: ClassVar[int] = 0

    def __init__(self, message: str, *, code: str | None = None, extra: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.extra = extra or {}


class NotSignedIn(RequestRejected):
    status = 401
    code = "not_signed_in"


class Forbidden(RequestRejected):
    status = 403
    code = "forbidden"


class NotFound(RequestRejected):
    status = 404
    code = "not_found"


class Conflict(RequestRejected):
    status = 409
    code = "conflict"


class Invalid(RequestRejected):
    status = 422
    code = "invalid"


class TooLarge(RequestRejected):
    status = 413
    code = "too_large"


class TooMany(RequestRejected):
    status = 429
    code = "too_many"


class ServerFailed(RequestRejected):
    status = 500
    code = "server_failed"


class ExportFailed(PilothouseError):
    code = "export_failed"


class ImportFailed(PilothouseError):
    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code or "import_failed"


class NothingToImport(PilothouseError):
    code = "no_rows"


class DownloadDamaged(PilothouseError):
    code = "damaged"


class InboxInUse(PilothouseError):
    code = "other_position"


class InvalidSignature(PilothouseError):
    code = "signature_wrong"


REJECTIONS: dict[int, type[RequestRejected]] = {
    kind.status: kind for kind in (NotSignedIn, Forbidden, NotFound, Conflict, TooLarge, Invalid, TooMany)
}


def rejection_from(status: int, body: object) -> RequestRejected:
    """The refusal that an answer says."""
    fields = body if isinstance(body, dict) else {}
    kind = REJECTIONS.get(status, ServerFailed if status >= 500 else RequestRejected)
    code, extra = fields.get("code"), fields.get("extra")
    return kind(
        str(fields.get("message") or f"The server answered {status}."),
        code=code if isinstance(code, str) else None,
        extra=extra if isinstance(extra, dict) else None,
    )
