"""What webhooks say of imports."""

import json
from typing import Any

import pytest

from annotation_app.accounts.models import User
from annotation_app.heartbeats import LOST_AFTER
from annotation_app.imports.jobs import imports_requeue_job
from annotation_app.imports.models import Import, ImportState
from annotation_app.imports.services import import_run
from annotation_app.imports.services import jobs as services_jobs
from annotation_app.imports.services.jobs import MAX_ATTEMPTS
from annotation_app.imports.services.rows import store_rows
from annotation_app.notifications.models import Notice, Webhook
from tests.integration.web.conftest import World
from tests.integration.web.exports.test_export_formats import picture
from tests.integration.web.imports.import_helpers import (
    build_archive,
    lines,
    upload,
)


@pytest.fixture
def hook(db: None) -> Webhook:
    """What asks to be told of imports; nobody sends what is for it."""
    return Webhook.objects.create(url="https://hooks.example", events=["import.failed", "import.finished"], secret="-")


def received_messages(hook: Webhook, user: User) -> tuple[list[dict[str, Any]], list[tuple[str, str, dict[str, Any]]]]:
    """What a webhook's messages say, and what somebody is told, the oldest first."""
    messages = [json.loads(one.body) for one in hook.deliveries.order_by("created_at", "id")]
    notices = Notice.objects.filter(user=user).order_by("id")
    return messages, [(one.kind, one.subject, one.details) for one in notices]


@pytest.mark.django_db(transaction=True)
class TestTelling:
    def test_who_asked_and_who_listens_are_told_once_what_came_in(self, committed: World, hook: Webhook) -> None:
        row = {"task_id": "t1", "instruction": "Do it.", "traj": [{"image": "a.jpg", "value": {"code": "wait(1)"}}]}
        made = build_archive(**{"rows.jsonl": lines(row) + b"{}\n", "a.jpg": picture(3)[1]})
        told = upload(committed, made, name="old.zip")
        counts = {"imported": 1, "known": 0, "refused": 1}
        (message,), notices = received_messages(hook, committed.ravi)
        assert message["type"] == "import.finished"
        assert message["data"] == {"id": told["id"], "status": "done", **counts, "code": ""}
        assert notices == [("import.finished", f"import:{told['id']}", {**counts, "reason": ""})]
        import_run(import_id=told["id"])
        assert len(received_messages(hook, committed.ravi)[0]) == 1

    def test_they_are_told_why_it_failed(self, committed: World, hook: Webhook) -> None:
        told = upload(committed, build_archive(notes__readme=b"no rows"))
        assert (told["status"], told["code"]) == ("failed", "no_rows")
        (message,), ((kind, _, details),) = received_messages(hook, committed.ravi)
        assert (message["type"], message["data"]["code"]) == ("import.failed", "no_rows")
        assert (kind, details["reason"]) == ("import.failed", told["error"])

    def test_who_cancelled_it_is_not_told(
        self, committed: World, hook: Webhook, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def cancelling(job: Import, *rest: Any) -> None:
            store_rows(job, *rest)
            Import.objects.filter(pk=job.pk).update(status=ImportState.CANCELLED)

        monkeypatch.setattr(services_jobs, "BATCH_ROWS", 1)
        monkeypatch.setattr(services_jobs, "store_rows", cancelling)
        assert upload(committed, b"{}\n{}\n", name="old.jsonl")["status"] == "cancelled"
        assert received_messages(hook, committed.ravi) == ([], [])

    def test_they_are_told_of_one_that_broke_off_too_often(self, committed: World, hook: Webhook) -> None:
        job = Import(
            name="old", pool_name="old", requested_by=committed.ravi, status=ImportState.RUNNING, attempts=MAX_ATTEMPTS
        )
        job.heard_at -= 2 * LOST_AFTER
        job.save()
        imports_requeue_job()
        job.refresh_from_db()
        assert (job.status, job.code) == ("failed", "broke_off")
        (message,), ((kind, subject, details),) = received_messages(hook, committed.ravi)
        assert (message["type"], message["data"]["code"]) == ("import.failed", "broke_off")
        assert (kind, subject, details["reason"]) == ("import.failed", f"import:{job.pk}", job.error)
