"""Rules in the background."""

from annotation_app.accounts.services import sessions_clear
from annotation_app.celery import app
from annotation_app.retention import selectors, services


@app.task(name="retention.run")
def rules_run_job() -> None:
    """Carry out every rule that is on, a bounded piece of each; two at once do no harm."""
    for rule_id in selectors.rules_active():
        services.rule_run(rule_id=rule_id)


@app.task(name="retention.sessions_clear")
def sessions_clear_job() -> None:
    """Delete expired sessions, so that a copy of the database holds none."""
    sessions_clear()
