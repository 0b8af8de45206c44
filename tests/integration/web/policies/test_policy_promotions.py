"""Revisions are registered, evaluated, and promoted where a pool's gate says so."""

from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from annotation_app.accounts.models import Token, User
from annotation_app.accounts.services import token_make, user_ensure
from annotation_app.audit.models import AuditEntry
from annotation_app.policies.gate import Gate
from annotation_app.policies.models import Evaluation, PolicyRevision
from annotation_app.policies.selectors import policy_of
from annotation_app.promotions.models import GateDecision
from annotation_app.promotions.services import evaluation_add, gate_set
from protocol.evaluation.reports import Evaluation as Report
from tests.integration.web.conftest import PASSWORD, World
from tests.unit.annotation_app.test_gate import report

JSON = "application/json"
BODY: dict[str, Any] = {
    "name": "tars",
    "revision": "3",
    "dialect": "ui_tars_1_5",
    "base_url": "https://models.example/v1",
    "model": "tars",
    "checkpoint": "/c/3",
    "weight_version": "r3",
    "sampling": {"temperature": 0.7, "max_tokens": 256},
    "memory": {"images": 3},
}
TASKS = {"games/2048": (5, 6)}


@pytest.fixture
def root(world: World) -> User:
    return root_make()


def root_make() -> User:
    return user_ensure(username="root", password=PASSWORD, name="Root", roles=["admin"])


def revision_make(name: str) -> PolicyRevision:
    return PolicyRevision.objects.create(**{**BODY, "revision": name})


def activate(world: World, revision: PolicyRevision, gate: Gate | None = None) -> None:
    world.pool.policy, world.pool.gate = revision, gate
    world.pool.save()


def report_on(revision: PolicyRevision, tasks: dict[str, tuple[int, int]] | None = None) -> Report:
    return report(policy_of(revision), TASKS if tasks is None else tasks)


def active(world: World) -> PolicyRevision | None:
    world.pool.refresh_from_db()
    return world.pool.policy


class TestRevisions:
    def test_one_is_registered_once_and_shown_with_all_it_is(self, world: World, root: User) -> None:
        client = world.client(root)
        first = client.post("/api/policies", BODY, content_type=JSON)
        assert first.status_code == 200, first.content
        again = client.post("/api/policies", BODY, content_type=JSON)
        assert (first.json()["new"], again.json()) == (True, {"id": first.json()["id"], "new": False})
        (shown,) = client.get("/api/policies").json()
        assert {name: shown[name] for name in BODY if name in shown} == {
            name: value for name, value in BODY.items() if name not in ("name", "revision", "dialect")
        }
        assert shown["policy"] == {
            "name": "tars",
            "revision": "3",
            "dialect": "ui_tars_1_5",
            "scripted": False,
            "teacher": False,
        }
        assert AuditEntry.objects.filter(verb="policy.registered").count() == 1

    def test_one_is_never_changed(self, world: World, root: User) -> None:
        client = world.client(root)
        client.post("/api/policies", BODY, content_type=JSON)
        other = client.post("/api/policies", {**BODY, "checkpoint": "/c/4"}, content_type=JSON)
        assert (other.status_code, other.json()["code"]) == (409, "revision_exists")
        assert PolicyRevision.objects.get().checkpoint == "/c/3"

    @pytest.mark.parametrize(
        "wrong",
        [
            {"name": ""},
            {"name": " tars"},
            {"revision": "x" * 65},
            {"dialect": "ui_tars_9"},
            {"base_url": "ftp://models.example/v1"},
            {"base_url": "models.example"},
            {"base_url": "http://me:secret@models.example/v1"},
            {"base_url": "http://models.example/v1?key=secret"},
            {"sampling": {"temprature": 1}},
            {"sampling": {"temperature": -1}},
            {"sampling": {"n": 4}},
            {"memory": {"images": 0}},
            {"checkpoint": "a\x00b"},
            {"unknown": 1},
        ],
    )
    def test_a_fault_is_named_and_nothing_is_registered(
        self, world: World, root: User, wrong: dict[str, object]
    ) -> None:
        answer = world.client(root).post("/api/policies", {**BODY, **wrong}, content_type=JSON)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
        assert str(answer.json()["extra"]["fields"][0]["field"]).startswith(next(iter(wrong)))
        assert not PolicyRevision.objects.exists()

    @pytest.mark.parametrize("who", ["ada", "rosa", "ravi"])
    def test_only_admins_register(self, world: World, who: str) -> None:
        client, old = world.client(getattr(world, who)), revision_make("1")
        assert client.post("/api/policies", BODY, content_type=JSON).status_code == 403
        body = report_on(old).model_dump(mode="json")
        assert client.post(f"/api/policies/{old.pk}/evaluations", body, content_type=JSON).status_code == 403
        assert client.get("/api/policies/pools").status_code == (200 if who == "ravi" else 403)
        for what, setting in (("gate", {"gate": None}), ("sampling", {"sampling": "by_need"})):
            assert client.post(f"/api/pools/{world.pool.pk}/{what}", setting, content_type=JSON).status_code == 403
        assert not Evaluation.objects.exists()


class TestTokens:
    def test_a_program_registers_with_a_token_and_no_page(self, world: World, root: User) -> None:
        token = token_make(username="root", name="trainer", days=1)
        client = Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {token}"})
        assert client.post("/api/policies", BODY, content_type=JSON).status_code == 200
        assert AuditEntry.objects.get(verb="policy.registered").actor == root
        assert token not in str(list(Token.objects.values())), "only its digest is kept"

    def test_a_token_that_is_none_has_ended_or_is_a_strangers_opens_nothing(self, world: World, root: User) -> None:
        ended = token_make(username="root", name="old", days=0)
        left = token_make(username="root", name="left", days=1)
        ada = token_make(username="ada", name="ada's", days=1)
        answers = [self.asked(token) for token in ("", "guess", ended)]
        assert answers == [401, 401, 401]
        assert (self.asked(ada), self.asked(left)) == (403, 200)
        User.objects.filter(pk=root.pk).update(is_active=False)
        assert self.asked(left) == 401

    def test_a_token_opens_no_account(self, world: World, root: User) -> None:
        token = token_make(username="root", name="trainer", days=1)
        client = Client(headers={"Authorization": f"Bearer {token}"})
        assert client.get("/api/me/security").status_code == 401
        assert client.post("/api/invitations", {"roles": ["admin"]}, content_type=JSON).status_code == 401
        assert client.patch(f"/api/people/{root.pk}", {"roles": ["admin"]}, content_type=JSON).status_code == 401

    def test_a_session_still_needs_its_page(self, world: World, root: User) -> None:
        client = Client(enforce_csrf_checks=True)
        client.force_login(root)
        assert client.post("/api/policies", BODY, content_type=JSON).status_code == 403

    def test_a_token_is_made_by_command(self, world: World, root: User) -> None:
        out = StringIO()
        call_command("make_token", "root", "trainer", stdout=out)
        assert self.asked(out.getvalue().strip()) == 200
        with pytest.raises(CommandError, match="no active user 'noone'"):
            call_command("make_token", "noone", "trainer")

    def asked(self, token: str) -> int:
        return Client().get("/api/policies", headers={"Authorization": f"Bearer {token}"}).status_code


class TestEvaluations:
    def test_a_report_is_kept_once_by_its_canonical_bytes(self, world: World, root: User) -> None:
        revision = revision_make("2")
        client, path = world.client(root), f"/api/policies/{revision.pk}/evaluations"
        one = client.post(path, report_on(revision).model_dump_json(), content_type=JSON)
        other = client.post(path, report_on(revision).model_dump_json(indent=3), content_type=JSON)
        assert (one.json()["new"], other.json()["new"]) == (True, False)
        assert one.json()["evaluation"] == other.json()["evaluation"]
        assert Evaluation.objects.get().kinds == {"games/2048": [5, 6]}

    def test_a_report_on_somebody_else_is_refused(self, world: World, root: User) -> None:
        old, new = revision_make("1"), revision_make("2")
        client, path = world.client(root), f"/api/policies/{new.pk}/evaluations"
        both = report_on(new).model_copy(update={"policies": (policy_of(old), policy_of(new))})
        for wrong in (report_on(old), both):
            answer = client.post(path, wrong.model_dump_json(), content_type=JSON)
            assert (answer.status_code, answer.json()["code"]) == (422, "other_policy")
        assert client.post(path, {"tasks": "all"}, content_type=JSON).status_code == 422
        nobody = client.post("/api/policies/99999/evaluations", report_on(new).model_dump_json(), content_type=JSON)
        assert nobody.status_code == 404
        assert not Evaluation.objects.exists()

    def test_a_report_is_registered_by_command(self, world: World, root: User, tmp_path: Path) -> None:
        activate(world, revision_make("1"), Gate(promote="automatically"))
        file, out = tmp_path / "report.json", StringIO()
        file.write_text(report_on(revision_make("2")).model_dump_json(indent=1))
        call_command("add_evaluation", "root", str(file), stdout=out)
        assert "real: shut: active_not_evaluated tars 1" in out.getvalue()
        for user, text in (("noone", file.read_text()), ("ada", file.read_text()), ("root", "{}")):
            file.write_text(text)
            with pytest.raises(CommandError):
                call_command("add_evaluation", user, str(file))


class TestGates:
    def test_a_newer_revision_that_passes_is_promoted_as_by_hand(self, world: World, root: User) -> None:
        old, new = revision_make("1"), revision_make("2")
        activate(world, old, Gate(success=0.5, promote="automatically"))
        world.pool.canary, world.pool.canary_share = new, 10
        world.pool.save()
        evaluation_add(user=root, revision_id=old.pk, report=report_on(old))
        evaluation_add(user=root, revision_id=new.pk, report=report_on(new))
        assert active(world) == new
        assert world.pool.canary is None
        assert world.pool.canary_share == 0
        entry = AuditEntry.objects.get(verb="policy.activated")
        assert (entry.actor, entry.details["before"], entry.details["after"]) == (None, "tars 1", "tars 2")
        assert entry.details["gate"]["success"] == 0.5
        assert entry.details["evaluation"] == Evaluation.objects.get(revision=new).sha256

    def test_a_shut_gate_promotes_nothing_and_says_why(self, world: World, root: User) -> None:
        old, new = revision_make("1"), revision_make("2")
        activate(world, old, Gate(success=0.9, attempts=8, no_regression=False, promote="automatically"))
        path = f"/api/policies/{new.pk}/evaluations"
        answer = world.client(root).post(path, report_on(new).model_dump_json(), content_type=JSON).json()
        (decision,) = answer["evaluation"]["decisions"]
        assert (decision["passed"], decision["promoted"], decision["pool"]) == (False, False, "real")
        assert [reason["code"] for reason in decision["reasons"]] == ["too_few_attempts", "success_too_low"]
        assert active(world) == old
        assert AuditEntry.objects.get(verb="policy.gate_shut").details["revision"] == "tars 2"

    def test_by_hand_means_by_hand(self, world: World, root: User) -> None:
        old, new = revision_make("1"), revision_make("2")
        activate(world, old, Gate(no_regression=False))
        evaluation_add(user=root, revision_id=new.pk, report=report_on(new))
        assert active(world) == old
        assert GateDecision.objects.get().passed

    def test_a_report_sent_again_changes_nothing(self, world: World, root: User) -> None:
        old, new = revision_make("1"), revision_make("2")
        activate(world, old, Gate(no_regression=False, promote="automatically"))
        evaluation_add(user=root, revision_id=new.pk, report=report_on(new))
        activate(world, old, world.pool.gate)
        evaluation_add(user=root, revision_id=new.pk, report=report_on(new))
        assert active(world) == old, "somebody went back by hand, and that stands"
        assert GateDecision.objects.count() == 1

    def test_an_older_one_another_policy_and_a_pool_without_gate_are_left_alone(self, world: World, root: User) -> None:
        older, old = revision_make("0"), revision_make("1")
        stranger = PolicyRevision.objects.create(**{**BODY, "name": "cua"})
        gate = Gate(no_regression=False, promote="automatically")
        activate(world, old, gate)
        for revision in (older, stranger, old):
            evaluation_add(user=root, revision_id=revision.pk, report=report_on(revision))
        assert active(world) == old
        activate(world, old, None)
        new = revision_make("2")
        evaluation_add(user=root, revision_id=new.pk, report=report_on(new))
        assert active(world) == old
        assert not GateDecision.objects.exists()

    def test_a_gate_is_set_over_http_and_shown(self, world: World, root: User) -> None:
        client = world.client(root)
        bounds = {"attempts": 4, "success": 0.5, "no_regression": True, "improvement": "estimated"}
        gate = {"over": ["games"], **bounds, "promote": "automatically"}
        assert client.post(f"/api/pools/{world.pool.pk}/gate", {"gate": gate}, content_type=JSON).status_code == 204
        pools = {pool["name"]: pool for pool in client.get("/api/policies/pools").json()}
        assert (pools["real"]["gate"], pools["practice"]["gate"]) == (gate, None)
        for wrong in ({"success": 2}, {"attempts": 0}, {"promote": "maybe"}, {"over": [""]}):
            body = {"gate": {**gate, **wrong}}
            assert client.post(f"/api/pools/{world.pool.pk}/gate", body, content_type=JSON).status_code == 422
        assert client.post("/api/pools/99999/gate", {"gate": gate}, content_type=JSON).status_code == 404
        assert client.post(f"/api/pools/{world.pool.pk}/gate", {"gate": None}, content_type=JSON).status_code == 204
        assert {pool["gate"] for pool in client.get("/api/policies/pools").json()} == {None}


@pytest.mark.django_db(transaction=True)
def test_reports_at_once_are_judged_in_turn_and_promote_once(committed: World) -> None:
    root, old, new = root_make(), revision_make("1"), revision_make("2")
    activate(committed, old)
    gate_set(user=root, pool_id=committed.pool.pk, gate=Gate(no_regression=False, promote="automatically"))
    barrier = Barrier(4)

    def register(successes: int) -> None:
        barrier.wait(10)
        try:
            evaluation_add(user=root, revision_id=new.pk, report=report_on(new, {"games/2048": (successes, 6)}))
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(register, (3, 4, 5, 5)))
    assert active(committed) == new
    assert Evaluation.objects.count() == 3, "two of them were the same"
    assert AuditEntry.objects.filter(verb="policy.activated").count() == 1
    assert GateDecision.objects.filter(promoted=True).count() == 1
