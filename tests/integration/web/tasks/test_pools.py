"""Pools over HTTP: made, changed by two people at once, filled from files, assigned."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation_app.accounts.models import Group, User
from annotation_app.accounts.services import token_make, user_ensure
from annotation_app.audit.models import AuditEntry
from annotation_app.encryption import decrypt_value, encrypt_value
from annotation_app.episodes import services
from annotation_app.episodes.models import Episode
from annotation_app.tasks.models import Assignment, Consent, Credential, Pool, Task, TaskState
from tests.integration.web.conftest import PASSWORD, World

CSV = b"id,instruction\na,Do a\nb,Do b\n"


@pytest.fixture
def alex(world: World) -> Client:
    """An admin's browser."""
    user = user_ensure(username="alex", password=PASSWORD, name="Alex", roles=["admin"])
    return world.client(user)


def sent(client: Client, method: str, path: str, body: object = None) -> Any:
    """An answer of the API."""
    answer = client.generic(method, f"/api{path}", json.dumps(body), content_type="application/json")
    return answer.json() if answer.content else None


def post_pool(client: Client, **settings: object) -> dict[str, Any]:
    row: dict[str, Any] = sent(client, "POST", "/pools", {"settings": {"name": "new", **settings}})
    assert "id" in row, row
    return row


def upload(client: Client, pool: int, data: bytes, kind: str = "csv", **more: object) -> Any:
    file = SimpleUploadedFile("../../etc/passwd\n.csv", data)
    return client.post(f"/api/pools/{pool}/tasks", {"file": file, "kind": kind, **more}).json()


class TestSettings:
    def test_a_pool_is_made_and_read_again(self, alex: Client) -> None:
        hours = {"timezone": "Europe/Berlin", "days": [0, 1], "start": "09:00:00", "end": "17:30:00"}
        row = post_pool(alex, overlap=3, priority=5, hours=hours, skills=["Excel", "excel", "vim"], minutes=20)
        read = sent(alex, "GET", f"/pools/{row['id']}")
        assert read["settings"]["hours"] == hours
        assert read["settings"]["skills"] == ["excel", "vim"]
        assert (read["version"], read["settings"]["overlap"]) == (1, 3)
        assert AuditEntry.objects.filter(verb="pool.created", subject=f"pool:{row['id']}").exists()

    def test_a_program_makes_one_with_a_token_of_this_scope(self, alex: Client, world: World) -> None:
        reads, writes = (
            Client(
                headers={"Authorization": f"Bearer {token_make(username='alex', name='p', days=1, scopes=(scope,))}"}
            )
            for scope in ("pools:read", "pools:write")
        )
        body = {"settings": {"name": "by a program", "platform": "browser", "image": "browser"}}
        assert sent(reads, "POST", "/pools", body)["code"] == "scope_missing"
        made = sent(writes, "POST", "/pools", body)
        assert made["settings"]["name"] == "by a program"
        assert sent(reads, "GET", f"/pools/{made['id']}/tasks")["items"] == []
        assert sent(writes, "POST", f"/pools/{made['id']}/stop", {})["code"] == "not_signed_in"

    def test_two_admins_at_once_hear_what_the_other_changed(self, alex: Client, world: World) -> None:
        blair = world.client(user_ensure(username="blair", password=PASSWORD, name="Blair", roles=["admin"]))
        pool = post_pool(alex)
        seen = {"pools": [{"id": pool["id"], "version": pool["version"]}]}
        assert sent(alex, "PATCH", "/pools", {**seen, "changes": {"priority": 7}}) is None
        refused = sent(blair, "PATCH", "/pools", {**seen, "changes": {"priority": 9, "name": "mine"}})
        assert refused["code"] == "pool_changed"
        assert refused["extra"]["by"] == "alex"
        assert refused["extra"]["changed"] == {"priority": [0, 7]}
        assert Pool.objects.get(pk=pool["id"]).name == "new"
        again = {"pools": [{"id": pool["id"], "version": refused["extra"]["version"]}], "changes": {"name": "mine"}}
        assert sent(blair, "PATCH", "/pools", again) is None

    def test_several_are_changed_together_or_not_at_all(self, alex: Client) -> None:
        one, two = post_pool(alex, name="one"), post_pool(alex, name="two")
        refs = [{"id": each["id"], "version": each["version"]} for each in (one, two)]
        stale = [refs[0], {**refs[1], "version": 9}]
        assert sent(alex, "PATCH", "/pools", {"pools": stale, "changes": {"paused": True}})["code"] == "pool_changed"
        assert not Pool.objects.filter(paused=True).exists()
        assert sent(alex, "PATCH", "/pools", {"pools": refs, "changes": {"paused": True}}) is None
        assert Pool.objects.filter(paused=True).count() == 2

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"overlap": 0}, "invalid"),
            ({"colour": 1}, "unknown_setting"),
            ({"hours": {"timezone": "Mars"}}, "invalid"),
            ({"name": "real"}, "name_taken"),
            ({"name": "a\x00b"}, "invalid"),
            ({"skills": ["no spaces please"]}, "invalid"),
        ],
    )
    def test_nonsense_is_refused_and_changes_nothing(self, alex: Client, changes: Any, code: str) -> None:
        pool = post_pool(alex)
        body = {"pools": [{"id": pool["id"], "version": 1}], "changes": changes}
        assert sent(alex, "PATCH", "/pools", body)["code"] == code
        assert sent(alex, "GET", f"/pools/{pool['id']}") == pool

    def test_a_pool_with_tasks_keeps_its_platform(self, alex: Client, world: World) -> None:
        body = {"pools": [{"id": world.pool.pk, "version": 1}], "changes": {"platform": "phone"}}
        assert sent(alex, "PATCH", "/pools", body)["code"] == "pool_has_tasks"

    def test_only_admins(self, world: World) -> None:
        for user in (world.ada, world.rosa, world.ravi):
            client = world.client(user)
            assert sent(client, "GET", "/pools/board")["code"] == "forbidden"
            assert sent(client, "POST", "/pools", {"settings": {"name": "x"}})["code"] == "forbidden"
            assert sent(client, "POST", f"/pools/{world.pool.pk}/stop", {})["code"] == "forbidden"
            assert upload(client, world.pool.pk, CSV)["code"] == "forbidden"


class TestUploads:
    def test_a_preview_adds_nothing_and_the_same_file_then_adds_once(self, alex: Client) -> None:
        pool = post_pool(alex)["id"]
        preview = upload(alex, pool, CSV, preview="true")
        assert (preview["added"], preview["new"], preview["known"]) == (False, 2, 0)
        assert [task["instruction"] for task in preview["first"]] == ["Do a", "Do b"]
        assert Task.objects.filter(pool=pool).count() == 0
        assert upload(alex, pool, CSV)["added"]
        again = upload(alex, pool, CSV + b"c,Do c\n")
        assert (again["new"], again["known"]) == (1, 2)
        assert list(Task.objects.filter(pool=pool).values_list("key", flat=True)) == ["a", "b", "c"]

    def test_one_bad_row_and_nothing_is_added(self, alex: Client) -> None:
        pool = post_pool(alex)["id"]
        report = upload(alex, pool, CSV + b"c,\n")
        assert not report["added"]
        assert [fault["row"] for fault in report["faults"]] == [4]
        assert not Task.objects.filter(pool=pool).exists()

    def test_tasks_are_searched_and_paged(self, alex: Client) -> None:
        pool = post_pool(alex)["id"]
        lines = [json.dumps({"id": f"t{n}", "instruction": f"Rename report {n} politely"}) for n in range(120)]
        assert upload(alex, pool, "\n".join(lines).encode(), "jsonl")["new"] == 120
        keys, after = [], ""
        while after is not None:
            page = sent(alex, "GET", f"/pools/{pool}/tasks?after={after}")
            keys += [task["key"] for task in page["items"]]
            after = page["after"]
        assert keys == [f"t{n}" for n in range(120)]
        found = sent(alex, "GET", f"/pools/{pool}/tasks?search=report 7 pol&state=waiting")
        assert [task["key"] for task in found["items"]] == ["t7"]
        assert sent(alex, "GET", f"/pools/{pool}/tasks?search='; drop table & |")["items"] == []
        assert sent(alex, "GET", f"/pools/{pool}/tasks?after=x")["code"] == "invalid_after"


class TestAssignment:
    def test_by_name_by_group_by_skill_and_for_everybody(self, alex: Client, world: World) -> None:
        team = Group.objects.create(name="team")
        team.members.add(world.ben)
        pool = post_pool(alex)["id"]
        assert upload(alex, pool, CSV)["added"]
        ways: tuple[tuple[str, User, object], ...] = (
            (f"/pools/{pool}/people/{world.ada.pk}", world.ada, None),
            (f"/pools/{pool}/groups/{team.pk}", world.ben, None),
        )
        for path, user, _ in ways:
            client = world.client(user)
            assert pool not in [each["id"] for each in sent(client, "GET", "/pools")]
            assert sent(alex, "POST", path) is None
            assert [each["waiting"] for each in sent(client, "GET", "/pools") if each["id"] == pool] == [2]
            assert sent(alex, "DELETE", path) is None
            assert pool not in [each["id"] for each in sent(client, "GET", "/pools")]
        User.objects.filter(pk=world.ada.pk).update(skills=["excel", "vim"])
        client = world.client(world.ada)
        for changes in ({"skills": ["excel"]}, {"open_to_all": True, "skills": []}):
            version = Pool.objects.get(pk=pool).version
            assert (
                sent(alex, "PATCH", "/pools", {"pools": [{"id": pool, "version": version}], "changes": changes}) is None
            )
            assert pool in [each["id"] for each in sent(client, "GET", "/pools")]

    def test_who_is_removed_mid_episode_loses_nothing(self, alex: Client, world: World) -> None:
        episode = services.episode_next(user=world.ada)
        assert episode is not None
        token = services.runner_take_over(episode_id=episode.id, runner="here:1:a", seconds=60)
        assert sent(alex, "DELETE", f"/pools/{world.pool.pk}/people/{world.ada.pk}") is None
        left = Episode.objects.get(pk=episode.id)
        assert left.status == "left"
        assert "not in this pool any more" in left.desk.error
        assert Task.objects.get(pk=episode.task_id).state == TaskState.WAITING
        with pytest.raises(services.RunnerFenced):
            services.episode_change(episode_id=episode.id, token=token, fields={"status": "paused"})
        again = services.episode_next(user=world.ben)
        assert again is not None
        assert again.task_id == episode.task_id

    def test_a_reviewer_cannot_be_given_tasks(self, alex: Client, world: World) -> None:
        assert sent(alex, "POST", f"/pools/{world.pool.pk}/people/{world.rosa.pk}")["code"] == "no_annotator"


class TestTerms:
    def test_they_are_agreed_to_once_for_each_version(self, alex: Client, world: World) -> None:
        body = {"pools": [{"id": world.pool.pk, "version": 1}], "changes": {"consent": "I am recorded."}}
        assert sent(alex, "PATCH", "/pools", body) is None
        ada = world.client(world.ada)
        refused = sent(ada, "POST", "/queue/next", {})
        assert (refused["code"], refused["extra"]["text"]) == ("consent_needed", "I am recorded.")
        version = refused["extra"]["version"]
        stale = sent(ada, "POST", f"/pools/{world.pool.pk}/consent", {"version": version - 1})
        assert stale["code"] == "consent_changed"
        for _ in range(2):
            assert sent(ada, "POST", f"/pools/{world.pool.pk}/consent", {"version": version}) is None
        assert Consent.objects.count() == 1
        assert sent(ada, "POST", "/queue/next", {})["episode_id"]
        assert Assignment.objects.count() == 1

    def test_a_stranger_agrees_to_nothing(self, world: World) -> None:
        eve = world.client(user_ensure(username="eve", password=PASSWORD, name="Eve", roles=["annotator"]))
        assert sent(eve, "POST", f"/pools/{world.pool.pk}/consent", {"version": 1})["code"] == "not_found"


class TestCredentials:
    def test_a_value_is_kept_sealed_and_never_shown(self, alex: Client, world: World) -> None:
        path = f"/pools/{world.pool.pk}/credentials/SHOP"
        assert sent(alex, "POST", path, {"value": "hunter2 hunter2"}) is None
        row = Credential.objects.get()
        assert "hunter2" not in row.sealed
        assert decrypt_value(row.sealed) == "hunter2 hunter2"
        shown = json.dumps(sent(alex, "GET", f"/pools/{world.pool.pk}"))
        assert "SHOP" in shown
        assert "hunter2" not in shown
        assert not AuditEntry.objects.filter(details__icontains="hunter2").exists()
        assert sent(alex, "DELETE", path) is None
        assert sent(alex, "DELETE", path)["code"] == "not_found"
        assert sent(alex, "POST", f"/pools/{world.pool.pk}/credentials/no-name", {"value": "x"})["code"] == "invalid"

    def test_a_value_sealed_with_a_lost_key_says_so(self, settings: Any) -> None:
        settings.CREDENTIALS_KEYS = ["new", "old"]
        sealed = encrypt_value("x")
        settings.CREDENTIALS_KEYS = ["newer", "new"]
        assert decrypt_value(sealed) == "x"
        settings.CREDENTIALS_KEYS = ["newer"]
        with pytest.raises(ValueError, match="another key"):
            decrypt_value(sealed)


def test_programs_read_whole_tasks_page_by_page(alex: Client, world: World) -> None:
    pool = post_pool(alex, name="big", image="browser")["id"]
    upload(alex, pool, b"id,instruction\n" + b"".join(b"%03d,Do %d\n" % (n, n) for n in range(60)))
    first = sent(alex, "GET", "/pools/definitions?pool=big")
    rest = sent(alex, "GET", f"/pools/definitions?pool=big&after={first['after']}")
    assert [task["id"] for page in (first, rest) for task in page["items"]] == [f"{n:03d}" for n in range(60)]
    assert (first["image"], rest["after"]) == ("browser", None)
    assert sent(alex, "GET", "/pools/definitions?pool=none")["code"] == "not_found"
    assert sent(world.client(world.ada), "GET", "/pools/definitions?pool=big")["code"] == "forbidden"
