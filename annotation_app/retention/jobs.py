"""Background jobs of retention."""

from annotation_app.accounts.services import sessions_clear
from annotation_app.celery import app
from annotation_app.retention import selectors, services


@app.task(name="retention.run")
def rules_run_job() -> None:
    """Apply every active rule, a limited amount of each. Running two at once is harmless."""
    for rule_id in selectors.rules_active():
        services.rule_run(rule_id=rule_id)


@app.task(name="retention.sessions_clear")
def sessions_clear_job() -> None:
    """Delete expired sessions, so that a copy of the database holds none."""
    sessions_clear()
