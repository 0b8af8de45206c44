"""What the clock queues is known to the worker: Celery drops a job of an unknown name, and only a log would say so."""

import pytest
from django.conf import settings

from annotation_app.celery import app


@pytest.mark.parametrize("name", sorted(settings.CELERY_BEAT_SCHEDULE))
def test_what_the_clock_queues_is_a_job(name: str) -> None:
    app.loader.import_default_modules()
    assert settings.CELERY_BEAT_SCHEDULE[name]["task"] in app.tasks
