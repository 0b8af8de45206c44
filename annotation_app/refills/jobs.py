"""Background jobs of refills."""

from annotation_app.celery import app
from annotation_app.refills import selectors, services


@app.task(name="refills.due")
def refills_due_job() -> None:
    """Check every pool whose rule is on, or for which a refill was requested."""
    for pool_id in selectors.rules_due():
        refill_job.delay(pool_id)


@app.task(name="refills.run")
def refill_job(pool_id: int) -> None:
    """Add what one pool needs; two at once do no harm."""
    services.refill_run(pool_id=pool_id)
