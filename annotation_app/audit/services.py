"""Writing to the audit log."""

from typing import Any

from annotation_app.audit.models import MAX_SUBJECT_CHARACTERS, AuditEntry
from annotation_app.audit.sources import Part, current_source, part_source
from annotation_app.audit.verbs import Verb


def audit_record(
    *, actor: Any, verb: Verb, subject: str, details: dict[str, Any] | None = None, part: Part | None = None
) -> None:
    """Note what somebody did, in the transaction that does it.

    Args:
        actor: None where no person acted.
        subject: What it was done to, as `kind:id`; the front-end has words for each kind.
        part: What of the platform acted, where `actor` is None.
    """
    source = part_source(part) if actor is None and part is not None else current_source()
    AuditEntry.objects.create(
        actor=actor, verb=verb, subject=subject[:MAX_SUBJECT_CHARACTERS], details=details or {}, source=source
    )
