"""Notices: told to whom it happened, read by them alone, mailed where they want it."""

from datetime import timedelta
from typing import Any

from django.core import mail
from django.utils import timezone

from annotation_app.accounts.services import preferences_set
from annotation_app.episodes import services
from annotation_app.notifications.models import Notice
from annotation_app.notifications.services.notices import MAX_NOTICES_PER_USER, notice_create, notices_mail
from annotation_app.tasks.models import Assignment
from tests.integration.web.conftest import World
from tests.integration.web.exports.test_exports import finished


def read_notices(world: World, user: Any) -> dict[str, Any]:
    answer: dict[str, Any] = world.client(user).get("/api/notices").json()
    return answer


def test_whose_work_is_sent_back_is_told_and_reads_it(committed: World) -> None:
    episode = finished(committed, committed.ada, accept=False)
    services.episode_review(reviewer=committed.rosa, episode_id=episode.id, decision="return", reason="Look again.")
    page = read_notices(committed, committed.ada)
    (notice,) = page["items"]
    assert (page["unread"], notice["kind"], notice["read"]) == (1, "review.returned", False)
    assert (notice["subject"], notice["details"]) == (f"episode:{episode.id}", {"reason": "Look again."})
    assert read_notices(committed, committed.ben) == {"items": [], "unread": 0}
    for user, unread in ((committed.ben, 1), (committed.ada, 0)):
        body = {"until": notice["id"]}
        answer = committed.client(user).post("/api/notices/read", body, content_type="application/json")
        assert (answer.status_code, read_notices(committed, committed.ada)["unread"]) == (204, unread)


def test_who_loses_a_task_is_told(committed: World) -> None:
    episode = services.episode_next(user=committed.ada)
    assert episode is not None
    Assignment.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    services.leases_expire()
    assert [one["kind"] for one in read_notices(committed, committed.ada)["items"]] == ["task.lost"]


def test_only_so_many_are_kept(committed: World) -> None:
    for number in range(MAX_NOTICES_PER_USER + 5):
        notice_create(user=committed.ada, kind="task.lost", subject=f"episode:{number}")
    notice_create(user=committed.ben, kind="task.lost", subject="episode:0")
    kept = Notice.objects.filter(user=committed.ada).order_by("id").values_list("subject", flat=True)
    assert (len(kept), kept[0], Notice.objects.filter(user=committed.ben).count()) == (
        MAX_NOTICES_PER_USER,
        "episode:5",
        1,
    )


def test_who_wants_it_is_told_by_mail_once(committed: World, settings: Any) -> None:
    settings.EMAIL_HOST = "mail.example"
    settings.CSRF_TRUSTED_ORIGINS = ["https://pilot.example"]
    for user in (committed.ada, committed.ben):
        user.email = f"{user.username}@example.org"
        user.save()
        notice_create(user=user, kind="review.returned", subject="episode:1", details={"reason": "Look again."})
    preferences_set(user=committed.ada, preferences={"mail_notices": True})
    assert (notices_mail(), notices_mail()) == (1, 0)
    (message,) = mail.outbox
    assert (message.to, message.subject) == (["ada@example.org"], "Pilothouse: A reviewer sent your work back")
    assert "Look again." in message.body
    assert "https://pilot.example/episodes/1" in message.body
