"""Webhooks: told once what is true, signed, tried again, switched off; to a real receiver, by real jobs."""

import json
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from django.db import transaction
from django.test import Client
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.audit.models import AuditEntry
from annotation_app.client import verify
from annotation_app.client.errors import InvalidSignature
from annotation_app.exports.models import Export
from annotation_app.exports.services import export_write
from annotation_app.notifications import http_delivery
from annotation_app.notifications.jobs import deliveries_due_job
from annotation_app.notifications.models import Delivery, Notice, Webhook
from annotation_app.notifications.services.webhooks import (
    DELIVERY_RETENTION,
    MAX_FAILURES,
    RETRY_DELAYS,
    deliveries_claim,
    delivery_send,
    event_emit,
)
from annotation_app.notifications.webhook_events import ExportEnded
from annotation_app.policies.services import policy_ensure
from annotation_app.promotions.services import policy_activate
from tests.integration.web.conftest import PASSWORD, World
from tests.integration.web.exports.test_exports import finished

FAILED = ExportEnded(
    kind="export.failed", id="7", status="failed", trajectories=0, manifest_sha256="", error="the disk is full"
)
FINISHED = FAILED.model_copy(update={"kind": "export.finished", "status": "done", "error": ""})
pytestmark = pytest.mark.django_db(transaction=True)


@dataclass
class Receiver:
    """A program that hears messages, and answers what it is told to."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    heard: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.heard.append((self.path, dict(self.headers), body))
            status = receiver.answers.pop(0) if receiver.answers else 204
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", f"{receiver.url}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield receiver
        server.shutdown()
        thread.join()


@pytest.fixture
def admin(committed: World) -> User:
    return user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"])


@pytest.fixture
def browser(committed: World, admin: User, settings: Any) -> Client:
    """Alma's, where webhooks may lead to this machine."""
    settings.ENV = settings.ENV.model_copy(update={"webhooks_allow_private": True})
    return committed.client(admin)


def add(browser: Client, url: str, *events: str) -> tuple[int, str]:
    """A webhook's number and its secret."""
    answer = browser.post("/api/webhooks", {"url": url, "events": events}, content_type="application/json")
    assert answer.status_code == 201, answer.content
    told = answer.json()
    return told["webhook"]["id"], told["secret"]


def due_now() -> None:
    """Let every pause be over, and deliver."""
    Delivery.objects.filter(state="pending").update(next_at=timezone.now())
    deliveries_due_job.delay()


def test_what_happens_is_told_signed_to_who_asks_for_it(
    browser: Client, receiver: Receiver, committed: World, admin: User
) -> None:
    _, secret = add(browser, f"{receiver.url}/hook", "export.finished", "episode.finished", "review.decided")
    add(browser, f"{receiver.url}/other", "policy.promoted")
    episode = finished(committed, committed.ada)
    export = Export.objects.create(filters={}, requested_by=committed.ravi)
    export_write(export_id=export.id)
    policy = policy_ensure(name="tars", revision="2", dialect="ui_tars_1_5", base_url="http://127.0.0.1:9", model="m")
    policy_activate(user=admin, pool_id=committed.pool.pk, revision_id=policy.pk)
    policy_activate(user=admin, pool_id=committed.pool.pk, revision_id=policy.pk)  # changes nothing
    finished(committed, committed.ben, practice=True, accept=False)  # is nobody's business
    deliveries_due_job.delay()
    told = {(path, json.loads(body)["type"]): json.loads(body)["data"] for path, _, body in receiver.heard}
    assert len(told) == len(receiver.heard) == 4
    assert told["/hook", "episode.finished"] == {
        "id": str(episode.id),
        "pool": "real",
        "task": episode.task.definition.id,
        "outcome": "success",
    }
    assert told["/hook", "review.decided"] == {"episode": str(episode.id), "decision": "accepted"}
    done = told["/hook", "export.finished"]
    export.refresh_from_db()
    assert (done["id"], done["trajectories"], done["manifest_sha256"]) == (str(export.id), 1, export.manifest_sha256)
    assert told["/other", "policy.promoted"] == {"pool": "real", "policy": "tars", "revision": "2", "by": "person"}
    for path, headers, body in receiver.heard:
        if path == "/hook":
            assert verify(body, headers, secret) in {str(one.pk) for one in Delivery.objects.all()}
        else:
            with pytest.raises(InvalidSignature):
                verify(body, headers, secret)
    deliveries_due_job.delay()
    assert len(receiver.heard) == 4, "each is told once"
    assert Notice.objects.get(user=committed.ravi).kind == "export.finished"


def test_what_did_not_happen_is_not_told(browser: Client, receiver: Receiver) -> None:
    add(browser, receiver.url, "export.finished")
    with transaction.atomic():
        event_emit(FINISHED)
        transaction.set_rollback(True)
    deliveries_due_job.delay()
    assert receiver.heard == []


def test_a_message_is_tried_again_under_its_id_until_it_has_failed(browser: Client, receiver: Receiver) -> None:
    webhook, _ = add(browser, receiver.url, "export.failed")
    event_emit(FAILED)
    receiver.answers = [500, 302, 429]
    began = timezone.now()
    deliveries_due_job.delay()
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts, delivery.status) == ("pending", 1, 500)
    assert delivery.next_at >= began + RETRY_DELAYS[0]
    deliveries_due_job.delay()
    assert len(receiver.heard) == 1, "its time has not come"
    due_now()
    assert Delivery.objects.get().error == "It sent us elsewhere."
    due_now()
    due_now()
    assert {path for path, _, _ in receiver.heard} == {"/"}, "nobody sends us elsewhere"
    assert len({headers["webhook-id"] for _, headers, _ in receiver.heard}) == 1
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts, delivery.error) == ("delivered", 4, "")
    assert Webhook.objects.get().refusals == 0

    event_emit(FAILED)
    receiver.answers = [503] * 20
    for _ in range(len(RETRY_DELAYS) + 3):
        due_now()
    failed = Delivery.objects.exclude(pk=delivery.pk).get()
    assert (failed.state, failed.attempts, failed.status) == ("failed", len(RETRY_DELAYS) + 1, 503)
    page = browser.get(f"/api/webhooks/{webhook}/deliveries").json()
    assert [one["state"] for one in page["items"]] == ["failed", "delivered"]


def test_who_takes_nothing_is_switched_off_and_admins_are_told(
    browser: Client, receiver: Receiver, admin: User
) -> None:
    webhook, _ = add(browser, receiver.url, "export.failed")
    Webhook.objects.update(refusals=MAX_FAILURES - 1)
    event_emit(FAILED)
    event_emit(FAILED)
    receiver.answers = [500]
    for delivery_id in deliveries_claim():
        delivery_send(delivery_id=delivery_id)
    (row,) = browser.get("/api/webhooks").json()
    assert (row["enabled"], row["pending"], len(receiver.heard)) == (False, 2, 1)
    notice = Notice.objects.get(user=admin)
    assert (notice.kind, notice.subject) == ("webhook.disabled", f"webhook:{webhook}")
    due_now()
    event_emit(FAILED)
    assert (len(receiver.heard), Delivery.objects.count()) == (1, 2)
    on = browser.patch(f"/api/webhooks/{webhook}", {"enabled": True}, content_type="application/json")
    assert (on.status_code, on.json()["refusals"]) == (200, 0)
    due_now()
    assert set(Delivery.objects.values_list("state", flat=True)) == {"delivered"}


def test_who_is_gone_is_switched_off_at_once(browser: Client, receiver: Receiver) -> None:
    webhook, _ = add(browser, receiver.url, "export.failed")
    receiver.answers = [410]
    assert browser.post(f"/api/webhooks/{webhook}/ping").status_code == 202
    due_now()
    assert not Webhook.objects.get().enabled
    assert browser.post(f"/api/webhooks/{webhook}/ping").json()["code"] == "switched_off"


def test_what_waits_for_a_webhook_that_is_off_is_forgotten_in_the_end(browser: Client, receiver: Receiver) -> None:
    webhook, _ = add(browser, receiver.url, "export.failed")
    event_emit(FAILED)
    Delivery.objects.update(
        created_at=timezone.now() - 2 * DELIVERY_RETENTION, next_at=timezone.now() + DELIVERY_RETENTION
    )
    assert deliveries_claim() == ()
    assert Delivery.objects.count() == 1, "it may still be taken"
    Webhook.objects.filter(pk=webhook).update(enabled=False)
    assert deliveries_claim() == ()
    assert not Delivery.objects.exists()


def test_a_worker_that_dies_leaves_the_message_to_the_next(browser: Client, receiver: Receiver) -> None:
    add(browser, receiver.url, "export.failed")
    event_emit(FAILED)
    (claimed,) = deliveries_claim()
    assert deliveries_claim() == (), "one worker has it"
    Delivery.objects.update(next_at=timezone.now() - timedelta(seconds=1))
    assert deliveries_claim() == (claimed,)


def test_private_places_are_refused_when_registered_and_when_sent_to(
    browser: Client, receiver: Receiver, settings: Any
) -> None:
    add(browser, receiver.url, "export.failed")
    settings.ENV = settings.ENV.model_copy(update={"webhooks_allow_private": False})
    for url, code in (
        (receiver.url, "address_private"),
        ("https://127.0.0.1/", "address_private"),
        ("https://localhost/", "address_private"),
        ("https://[::ffff:127.0.0.1]/", "address_private"),
        ("https://nowhere.invalid/", "address_unknown"),
        ("https://ada:secret@1.1.1.1/", "invalid"),
        ("ftp://1.1.1.1/", "invalid"),
        ("https://1.1.1.1/ x", "invalid"),
    ):
        body = {"url": url, "events": ["export.failed"]}
        answer = browser.post("/api/webhooks", body, content_type="application/json")
        assert (answer.status_code, answer.json()["code"]) == (422, code), url
    event_emit(FAILED)
    due_now()
    delivery = Delivery.objects.get()
    assert (receiver.heard, delivery.status, bool(delivery.error)) == ([], None, True)


def test_a_name_leads_to_the_address_that_was_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The certificate is the name's, though the address is called."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(self.headers["Host"])
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    certificate = _certificate("hooks.example", tmp_path)
    monkeypatch.setattr(httpx, "Client", _trusting(certificate))
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        port = server.server_port
        named, asked = (
            http_delivery.post_message(
                f"https://{name}:{port}/", b"{}", {}, private=True, resolve=lambda *_: ["127.0.0.1"]
            )
            for name in ("hooks.example", "other.example")
        )
        server.shutdown()
        thread.join()
    assert (named.status, named.error, heard) == (204, "", [f"hooks.example:{port}"])
    assert asked.status is None
    assert "CERTIFICATE_VERIFY_FAILED" in asked.error


def _trusting(certificate: Path) -> Any:
    whole = httpx.Client
    return lambda **given: whole(**given, verify=ssl.create_default_context(cafile=str(certificate)))


def _certificate(name: str, folder: Path) -> Path:
    """A certificate of this name that signs itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = timezone.now()
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, none = serialization.Encoding.PEM, serialization.NoEncryption()
    path = folder / "both.pem"
    path.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, none) + made.public_bytes(pem))
    return path


def test_secrets_are_shown_once_and_changed(browser: Client, receiver: Receiver) -> None:
    webhook, secret = add(browser, receiver.url, "export.failed")
    assert secret not in Webhook.objects.get().secret
    assert secret not in browser.get("/api/webhooks").content.decode()
    assert secret not in json.dumps([entry.details for entry in AuditEntry.objects.all()])
    other = browser.post(f"/api/webhooks/{webhook}/secret").json()["secret"]
    browser.post(f"/api/webhooks/{webhook}/ping")
    due_now()
    ((_, headers, body),) = receiver.heard
    assert json.loads(body)["type"] == "ping"
    assert verify(body, headers, other)
    with pytest.raises(InvalidSignature):
        verify(body, headers, secret)
    assert browser.delete(f"/api/webhooks/{webhook}").status_code == 204
    assert (Webhook.objects.count(), Delivery.objects.count()) == (0, 0)


def test_messages_are_told_page_by_page(browser: Client, receiver: Receiver) -> None:
    webhook, _ = add(browser, receiver.url, "export.failed")
    for _ in range(60):
        event_emit(FAILED)
    first = browser.get(f"/api/webhooks/{webhook}/deliveries").json()
    event_emit(FAILED)
    rest = browser.get(f"/api/webhooks/{webhook}/deliveries?after={first['next']}").json()
    assert (len(first["items"]), len(rest["items"]), rest["next"]) == (50, 10, None)
    assert browser.get(f"/api/webhooks/{webhook}/deliveries?after=x").json()["code"] == "bad_cursor"
