"""Errors that refuse a request.

ApplicationError            base class: a stable `code`, a message for people, `extra` for programs
├── NotSignedIn             401
├── Forbidden               403
├── NotFound                404, also to hide that something exists
├── Conflict                409, with a code of its own
├── VersionUnsupported      412
├── TooLarge                413
├── Invalid                 422
├── TooMany                 429
├── ChecksumMismatch        460, the status of the tus protocol
└── DiskFull                507
"""

import errno
from typing import Any, ClassVar


class ApplicationError(Exception):
    """Base class; becomes `{"code", "message", "extra"}` with `status`."""

    status: ClassVar[int] = 400
    code: str = "application_error"

    def __init__(
        self, message: str, *, code: str | None = None, field: str | None = None, extra: dict[str, Any] | None = None
    ) -> None:
        """`field` names the one request field that is wrong, if any. `extra.fields` then contains it."""
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.extra = {**({"fields": [{"field": field, "message": message}]} if field else {}), **(extra or {})}


class NotSignedIn(ApplicationError):
    status = 401
    code = "not_signed_in"


class Forbidden(ApplicationError):
    status = 403
    code = "forbidden"


class NotFound(ApplicationError):
    status = 404
    code = "not_found"


class Conflict(ApplicationError):
    status = 409
    code = "conflict"


class VersionUnsupported(ApplicationError):
    status = 412
    code = "version_unsupported"


class TooLarge(ApplicationError):
    status = 413
    code = "too_large"


class Invalid(ApplicationError):
    status = 422
    code = "invalid"


class TooMany(ApplicationError):
    status = 429
    code = "too_many"


class ChecksumMismatch(ApplicationError):
    status = 460
    code = "checksum_mismatch"


class DiskFull(ApplicationError):
    status = 507
    code = "disk_full"


DISK_FULL_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def storage_code(error: OSError) -> str:
    """The stable code of a job that a storage error ended: `disk_full`, or `storage` for any other."""
    return "disk_full" if error.errno in DISK_FULL_ERRNOS else "storage"
