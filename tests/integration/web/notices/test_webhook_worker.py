"""Webhooks by a real Celery worker over a real broker, killed in the middle too."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.celery import app
from annotation_app.encryption import encrypt_value
from annotation_app.notifications.jobs import deliveries_due_job
from annotation_app.notifications.models import Delivery, DeliveryState, Notice, Webhook
from annotation_app.notifications.services.webhooks import MAX_FAILURES, RETRY_DELAYS, event_emit
from annotation_app.notifications.webhook_events import ExportEnded
from tests.integration.web.celery_workers import worker_kill, worker_running
from tests.integration.web.conftest import PASSWORD, World
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow, pytest.mark.timeout(400)]
WORKER = {
    "PILOTHOUSE_WEBHOOKS_ALLOW_PRIVATE": "true",
    "PILOTHOUSE_CREDENTIALS_KEYS": "a-key-of-the-worker-and-of-the-test",
}
PATIENCE = 120.0
"""Seconds a worker may take to begin and to answer on a busy machine."""


class Receiver:
    """A program that hears messages and answers what it is told to; it can keep the first one waiting."""

    def __init__(self) -> None:
        self.url = ""
        self.answers: list[int] = []
        self.heard: list[str] = []
        self.open = threading.Event()
        self.open.set()


def export_finished(id: str) -> ExportEnded:
    return ExportEnded(kind="export.finished", id=id, status="done", trajectories=1, manifest_sha256="0" * 64, error="")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            receiver.heard.append(self.headers["webhook-id"])
            assert receiver.open.wait(PATIENCE)
            try:
                self.send_response(receiver.answers.pop(0) if receiver.answers else 204)
                self.send_header("Content-Length", "0")
                self.end_headers()
            except ConnectionError:
                pass  # who asked was killed

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield receiver
        receiver.open.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def admin(committed: World) -> User:
    return user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"])


@pytest.fixture
def webhook(committed: World, admin: User, receiver: Receiver, settings: Any) -> Webhook:
    settings.CREDENTIALS_KEYS = [WORKER["PILOTHOUSE_CREDENTIALS_KEYS"]]
    return Webhook.objects.create(
        url=receiver.url, events=["export.finished"], secret=encrypt_value("whsec_" + "A" * 32)
    )


@pytest.fixture
def due(redis_url: str) -> Callable[[], None]:
    """Lets every pause be over, and has the worker look, as the beat does every five seconds."""

    def look() -> None:
        Delivery.objects.filter(state=DeliveryState.PENDING).update(next_at=timezone.now())
        with app.connection_for_write(redis_url) as connection:
            deliveries_due_job.apply_async(connection=connection)  # type: ignore[call-arg]  # the stubs lack it

    return look


def test_delivered_tried_again_given_up_and_switched_off(
    webhook: Webhook, receiver: Receiver, admin: User, due: Callable[[], None], redis_url: str, settings: Any
) -> None:
    with worker_running(redis_url, settings, **WORKER):
        receiver.answers = [500]
        event_emit(export_finished("one"))
        due()
        wait_until(lambda: Delivery.objects.get().attempts == 1, limit=PATIENCE)
        assert (Delivery.objects.get().state, Delivery.objects.get().status) == ("pending", 500)
        due()
        wait_until(lambda: Delivery.objects.get().state == DeliveryState.DELIVERED, limit=PATIENCE)
        assert receiver.heard == [str(Delivery.objects.get().pk)] * 2, "twice under one id"
        Delivery.objects.all().delete()
        receiver.heard.clear()

        tries = len(RETRY_DELAYS) + 1
        receiver.answers = [503] * (tries + 1)
        event_emit(export_finished("two"))
        for attempt in range(1, tries + 1):
            due()
            wait_until(lambda: Delivery.objects.get().attempts == attempt, limit=PATIENCE)  # noqa: B023
        assert (Delivery.objects.get().state, len(receiver.heard)) == (DeliveryState.FAILED, tries)

        Webhook.objects.update(refusals=MAX_FAILURES - 1)
        event_emit(export_finished("three"))
        due()
        wait_until(lambda: not Webhook.objects.get().enabled, limit=PATIENCE)
        assert Notice.objects.get(user=admin).kind == "webhook.disabled"


def test_a_worker_killed_in_the_middle_leaves_the_message_to_the_next_under_the_same_id(
    webhook: Webhook, receiver: Receiver, due: Callable[[], None], redis_url: str, settings: Any
) -> None:
    receiver.open.clear()
    event_emit(export_finished("one"))
    with worker_running(redis_url, settings, **WORKER) as first:
        due()
        wait_until(lambda: receiver.heard, limit=PATIENCE)
        worker_kill(first)
    receiver.open.set()
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts) == (DeliveryState.PENDING, 0), "nobody knows what came of it"
    assert delivery.next_at > timezone.now(), "and nobody else takes it meanwhile"
    with worker_running(redis_url, settings, **WORKER):
        due()
        wait_until(lambda: Delivery.objects.get().state == DeliveryState.DELIVERED, limit=PATIENCE)
        due()
        event_emit(export_finished("two"))
        due()
        wait_until(lambda: Delivery.objects.filter(state=DeliveryState.DELIVERED).count() == 2, limit=PATIENCE)
    assert receiver.heard[:2] == [str(delivery.pk)] * 2
    assert len(receiver.heard) == 3, "once more, and then never again"
