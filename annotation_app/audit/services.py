"""Writing to the audit log."""

from typing import Any

from annotation_app.audit.models import AuditEntry
from annotation_app.audit.verbs import Verb


def audit_record(*, actor: Any, verb: Verb, subject: str, details: dict[str, Any] | None = None) -> None:
    """Note what somebody did, in the transaction that does it; `actor` None is the system itself."""
    AuditEntry.objects.create(actor=actor, verb=verb, subject=subject, details=details or {})
