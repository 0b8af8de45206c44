"""Programs on several hosts share one data folder; who has another does no work."""

from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest
from celery.signals import worker_init
from django.db import connections

from annotation_app.blobs.services import MARK_NAME, data_folder_claim
from annotation_app.errors import Conflict
from tests.integration.web.celery_workers import worker_running
from tests.integration.web.conftest import BOUND, World


def point(settings: Any, folder: Path) -> None:
    """Let this be the data folder from now on."""
    folder.mkdir(exist_ok=True)
    settings.ENV = settings.ENV.model_copy(update={"data": folder})


@pytest.mark.django_db
def test_the_first_folder_is_the_installations(data: Path, settings: Any) -> None:
    data_folder_claim()
    data_folder_claim()
    point(settings, data / "another")
    with pytest.raises(Conflict) as refused:
        data_folder_claim()
    assert refused.value.code == "other_folder"
    assert not (data / "another" / MARK_NAME).exists(), "nothing was written where it does not belong"


@pytest.mark.django_db
def test_a_copy_of_the_folder_is_the_folder(data: Path, settings: Any) -> None:
    data_folder_claim()
    point(settings, data / "copy")
    (data / "copy" / MARK_NAME).write_text((data / MARK_NAME).read_text())
    data_folder_claim()


@pytest.mark.usefixtures("committed")
def test_those_who_begin_at_once_share_one_mark(data: Path) -> None:
    together, refused = Barrier(4), []

    def begin() -> None:
        together.wait(BOUND)
        try:
            data_folder_claim()
        except Conflict as error:
            refused.append(error)
        finally:
            connections.close_all()

    threads = [Thread(target=begin) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(BOUND)
    assert refused == []
    assert sorted(path.name for path in data.iterdir()) == [MARK_NAME]


@pytest.mark.django_db(transaction=True)
def test_a_worker_asks_before_it_takes_a_job(data: Path, settings: Any) -> None:
    data_folder_claim()
    point(settings, data / "another")
    with pytest.raises(SystemExit, match="other_folder: "):
        worker_init.send(sender=None)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_worker_with_another_folder_does_not_begin(
    committed: World, data: Path, redis_url: str, settings: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    data_folder_claim()
    (data / "another").mkdir()
    with worker_running(redis_url, settings, PILOTHOUSE_DATA=str(data / "another")) as worker:
        assert worker.wait(500) == 1
    assert "other_folder: " in capfd.readouterr().err
    made = {path.name for path in (data / "another").iterdir()}
    assert made == {"credentials_key", "secret_key"}, "the local settings make them"
