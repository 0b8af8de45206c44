"""Jobs are in the queue of who can do them: what needs the trainer waits for a worker that has one."""

import pytest
from django.conf import settings

from annotation_app.celery import app
from annotation_app.queues import DEFAULT_QUEUE, TRAINING_QUEUE


def test_every_route_is_a_jobs_and_leads_to_a_queue() -> None:
    app.loader.import_default_modules()
    assert set(settings.CELERY_TASK_ROUTES) <= set(app.tasks)
    assert {each["queue"] for each in settings.CELERY_TASK_ROUTES.values()} <= set(app.amqp.queues)


@pytest.mark.parametrize(
    ("name", "queue"),
    [("flywheel.turn", TRAINING_QUEUE), ("flywheel.due", DEFAULT_QUEUE), ("exports.write", DEFAULT_QUEUE)],
)
def test_only_what_needs_the_trainer_waits_for_it(name: str, queue: str) -> None:
    assert app.amqp.router.route({}, name)["queue"].name == queue


def test_a_job_is_in_one_queue() -> None:
    """Queues of one exchange and key would each be given every job."""
    doors = [(each.exchange.name, each.routing_key) for each in app.amqp.queues.values()]
    assert len(doors) == len(set(doors)) == 2


def test_a_worker_that_is_told_nothing_listens_to_both() -> None:
    assert set(app.amqp.queues.consume_from) == {DEFAULT_QUEUE, TRAINING_QUEUE}
