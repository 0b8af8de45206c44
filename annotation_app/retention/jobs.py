"""Rules in the background."""

from annotation_app.celery import app
from annotation_app.retention import selectors, services


@app.task(name="retention.run")
def rules_run_job() -> None:
    """Carry out every rule that is on, a bounded piece of each; two at once do no harm."""
    for rule_id in selectors.rules_active():
        services.rule_run(rule_id=rule_id)
