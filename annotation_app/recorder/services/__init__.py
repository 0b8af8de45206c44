"""Pairing computers and importing their sessions. Only these services write to these tables."""

from annotation_app.recorder.services.pairing import code_make, computer_pair, computer_revoke, computer_unpair
from annotation_app.recorder.services.sessions import session_delete, session_upload_create, session_withdraw

__all__ = [
    "code_make",
    "computer_pair",
    "computer_revoke",
    "computer_unpair",
    "session_delete",
    "session_upload_create",
    "session_withdraw",
]
