"""Cancelling benchmark runs."""

from agent_backend.benchmark.manifest import ATTEMPTS_FOLDER
from agent_backend.rollout.progress import cancel_path
from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.services import audit_record
from annotation_app.benchmark_runs.selectors import run_path


def run_cancel(*, user: User, name: str) -> None:
    """Let a run begin no further attempt; those that run end, and what was made is kept. Raises Forbidden and
    NotFound."""
    role_check(user, Role.ADMIN)
    cancel_path(run_path(user=user, name=name) / ATTEMPTS_FOLDER).touch()
    audit_record(actor=user, verb="benchmark.cancelled", subject=f"benchmark:{name}")
