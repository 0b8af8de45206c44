"""Writing to the audit log."""

from typing import Any

from annotation_app.audit.models import MAX_SUBJECT_CHARACTERS, AuditEntry
from annotation_app.audit.sources import Part, current_source, part_source
from annotation_app.audit.verbs import Verb


def audit_record(
    *, actor: Any, verb: Verb, subject: str, details: dict[str, Any] | None = None, part: Part | None = None
) -> None:
    """Record an action, in the transaction that performs it.

    Args:
        actor: None if no person acted.
        subject: The object of the action, as `kind:id`. The front-end has a name for each kind.
        part: The part of the platform that acted, if `actor` is None.
    """
    source = part_source(part) if actor is None and part is not None else current_source()
    AuditEntry.objects.create(
        actor=actor, verb=verb, subject=subject[:MAX_SUBJECT_CHARACTERS], details=details or {}, source=source
    )
