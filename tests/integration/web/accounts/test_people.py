"""Inviting people, what admins change of them, groups, erasure, and the audit log."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from annotation_app.accounts.models import Group, Invitation, SignIn, Token, User
from annotation_app.accounts.selectors import pseudonym
from annotation_app.accounts.services import token_make, user_ensure
from annotation_app.audit.models import AuditEntry
from annotation_app.episodes import services
from annotation_app.episodes.selectors import trajectories
from tests.integration.web.conftest import PASSWORD, World

JSON = "application/json"
GOOD = "four cabins in fog"


@pytest.fixture
def admin(world: World) -> Client:
    """Alma's browser; she is the admin."""
    cache.clear()
    return world.client(user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"]))


def send(client: Client, method: str, path: str, **body: object) -> Any:
    return getattr(client, method)(f"/api{path}", body, content_type=JSON)


def invite(admin: Client, **fields: object) -> str:
    """The secret of a new invitation's link."""
    made = send(admin, "post", "/invitations", **{"roles": ["annotator"], **fields})
    assert made.status_code == 200, made.content
    return str(made.json()["link"].partition("/join#")[2])


def look(client: Client, secret: str) -> Any:
    """What somebody with the link is told."""
    return send(client, "post", "/join/invitation", secret=secret)


class TestInvitations:
    def test_who_is_invited_makes_an_account_once(self, world: World, admin: Client) -> None:
        group = Group.objects.create(name="day")
        secret = invite(admin, roles=["annotator", "reviewer"], groups=[group.pk])
        guest = Client()
        assert look(guest, secret).json() == {
            "email": "",
            "roles": ["annotator", "reviewer"],
            "invited_by": "Alma",
        }
        joined = send(guest, "post", "/join", secret=secret, username="dora", name="Dora", password=GOOD)
        assert joined.json()["user"]["roles"] == ["annotator", "reviewer"]
        assert guest.get("/api/session").json()["user"]["username"] == "dora", "they are signed in"
        assert list(User.objects.get(username="dora").teams.all()) == [group]
        again = send(Client(), "post", "/join", secret=secret, username="eve", name="Eve", password=GOOD)
        assert (again.status_code, again.json()["code"]) == (404, "invitation_ended")
        assert admin.get("/api/invitations").json() == []
        assert secret not in str(list(Invitation.objects.values()))

    def test_the_link_goes_to_an_address_where_mail_is_sent(self, world: World, admin: Client, settings: Any) -> None:
        settings.EMAIL_HOST, settings.EMAIL_BACKEND = "mail", "django.core.mail.backends.locmem.EmailBackend"
        made = send(admin, "post", "/invitations", roles=["reviewer"], email="dora@example.org").json()
        assert made["sent"]
        (letter,) = mail.outbox
        assert letter.to == ["dora@example.org"]
        assert made["link"] in letter.body

    def test_without_a_mail_server_the_link_is_there_to_copy(self, world: World, admin: Client) -> None:
        made = send(admin, "post", "/invitations", roles=["reviewer"], email="dora@example.org").json()
        assert not made["sent"]
        assert "/join#" in made["link"]

    def test_it_ends(self, world: World, admin: Client) -> None:
        secret = invite(admin)
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        assert look(Client(), secret).status_code == 404

    def test_it_can_be_withdrawn(self, world: World, admin: Client) -> None:
        secret = invite(admin)
        (open_one,) = admin.get("/api/invitations").json()
        assert admin.delete(f"/api/invitations/{open_one['id']}").status_code == 204
        assert look(Client(), secret).json()["code"] == "invitation_ended"

    @pytest.mark.parametrize(
        ("wrong", "code"),
        [
            ({"password": "12345678"}, "weak_password"),
            ({"username": "ada"}, "name_taken"),
            ({"username": "a b"}, "invalid"),
        ],
    )
    def test_what_is_wrong_leaves_it_open(self, world: World, admin: Client, wrong: dict[str, str], code: str) -> None:
        secret = invite(admin)
        body = {"username": "dora", "name": "Dora", "password": GOOD, **wrong}
        assert send(Client(), "post", "/join", secret=secret, **body).json()["code"] == code
        assert look(Client(), secret).status_code == 200

    def test_taking_it_up_needs_the_page_s_token(self, world: World, admin: Client) -> None:
        secret = invite(admin)
        guest = Client(enforce_csrf_checks=True)
        body = {"username": "dora", "name": "Dora", "password": GOOD}
        assert send(guest, "post", "/join", secret=secret, **body).json()["code"] == "csrf"


class TestPeople:
    def test_they_are_found_page_by_page(self, world: World, admin: Client) -> None:
        for number in range(60):
            user_ensure(username=f"person{number:02}", password=PASSWORD, name="P", roles=["annotator"])
        first = admin.get("/api/people?search=person").json()
        second = admin.get(f"/api/people?search=person&after={first['next']}").json()
        assert [person["username"] for person in first["items"] + second["items"]] == [
            f"person{n:02}" for n in range(60)
        ]
        assert second["next"] is None
        assert [person["username"] for person in admin.get("/api/people?role=reviewer").json()["items"]] == ["rosa"]

    def test_roles_skills_groups_are_set_and_noted(self, world: World, admin: Client) -> None:
        group = Group.objects.create(name="day")
        changed = send(
            admin,
            "patch",
            f"/people/{world.ada.pk}",
            roles=["annotator", "reviewer"],
            skills=["Phones"],
            groups=[group.pk],
        )
        assert changed.json()["skills"] == ["phones"]
        assert changed.json()["groups"] == [group.pk]
        world.ada.refresh_from_db()
        assert world.ada.roles == ["annotator", "reviewer"]
        entry = AuditEntry.objects.get(verb="user.changed")
        assert entry.actor is not None
        assert (entry.actor.username, entry.subject) == ("alma", f"user:{world.ada.pk}")

    def test_who_may_not_sign_in_is_signed_out(self, world: World, admin: Client) -> None:
        ada = Client()
        send(ada, "post", "/session", username="ada", password=PASSWORD)
        assert ada.get("/api/queue").status_code == 200
        send(admin, "patch", f"/people/{world.ada.pk}", active=False)
        assert ada.get("/api/queue").status_code == 401
        assert not SignIn.objects.filter(user=world.ada).exists()
        assert (
            send(Client(), "post", "/session", username="ada", password=PASSWORD).json()["code"] == "wrong_credentials"
        )

    @pytest.mark.parametrize("change", [{"roles": ["annotator"]}, {"active": False}])
    def test_somebody_stays_an_admin(self, world: World, admin: Client, change: dict[str, object]) -> None:
        alma = User.objects.get(username="alma")
        assert send(admin, "patch", f"/people/{alma.pk}", **change).json()["code"] == "last_admin"
        alma.refresh_from_db()
        assert (alma.roles, alma.is_active) == (["admin"], True)

    def test_groups_are_made_changed_and_broken_up(self, world: World, admin: Client) -> None:
        made = send(admin, "post", "/groups", name="day", members=[world.ada.pk]).json()
        assert send(admin, "post", "/groups", name="day").json()["code"] == "group_exists"
        send(admin, "put", f"/groups/{made['id']}", name="night", members=[world.ben.pk])
        assert admin.get("/api/groups").json() == [{"id": made["id"], "name": "night", "members": [world.ben.pk]}]
        assert send(admin, "put", f"/groups/{made['id']}", name="night", members=[99_999]).status_code == 404
        assert admin.delete(f"/api/groups/{made['id']}").status_code == 204
        assert User.objects.filter(pk=world.ben.pk).exists()


class TestErasing:
    def test_nothing_of_a_person_is_left_but_their_pseudonym(self, world: World, admin: Client) -> None:
        episode = services.episode_next(user=world.ada)
        assert episode is not None
        User.objects.filter(pk=world.ada.pk).update(email="ada@example.org", skills=["phones"])
        token_make(username="ada", name="t", days=1)
        before = trajectories.episode_trajectory(episode_id=episode.id).annotator
        response = send(admin, "post", f"/people/{world.ada.pk}/erase", username="ada", remove_work=True)
        assert response.status_code == 204, response.content
        gone = User.objects.get(pk=world.ada.pk)
        assert (gone.username, gone.name, gone.email, gone.is_active) == (f"erased-{gone.pk}", gone.username, "", False)
        assert (gone.roles, gone.skills, gone.work_removed, gone.has_usable_password()) == ([], [], True, False)
        assert not Token.objects.filter(user=gone).exists()
        assert trajectories.episode_trajectory(episode_id=episode.id).annotator == before == pseudonym(gone.pk)
        assert admin.get("/api/people?search=ada").json()["items"] == []
        entry = AuditEntry.objects.get(verb="user.erased")
        assert "ada" not in str(entry.details) + entry.subject

    def test_the_name_must_be_given_again(self, world: World, admin: Client) -> None:
        response = send(admin, "post", f"/people/{world.ada.pk}/erase", username="ben", remove_work=False)
        assert (response.status_code, response.json()["code"]) == (409, "name_differs")
        alma = User.objects.get(username="alma")
        own = send(admin, "post", f"/people/{alma.pk}/erase", username="alma", remove_work=False)
        assert own.json()["code"] == "own_account"
        world.ada.refresh_from_db()
        assert world.ada.erased_at is None


class TestPseudonyms:
    def test_an_export_s_name_is_no_number_that_can_be_counted(self, world: World, settings: Any) -> None:
        name = pseudonym(world.ada.pk)
        assert name == pseudonym(world.ada.pk) != pseudonym(world.ben.pk)
        assert str(world.ada.pk) != name.removeprefix("annotator-")
        settings.SECRET_KEY = "another"
        assert pseudonym(world.ada.pk) != name
        settings.ENV = settings.ENV.model_copy(update={"pseudonym_key": "kept"})
        kept = pseudonym(world.ada.pk)
        settings.SECRET_KEY = "a third"
        assert pseudonym(world.ada.pk) == kept


class TestAudit:
    def test_it_is_searched_page_by_page(self, world: World, admin: Client) -> None:
        for number in range(60):
            send(admin, "patch", f"/people/{world.ada.pk}", skills=[f"skill{number}"])
        first = admin.get("/api/audit?verb=user.changed").json()
        second = admin.get(f"/api/audit?verb=user.changed&before={first['next']}").json()
        ids = [entry["id"] for entry in first["items"] + second["items"]]
        assert len(ids) == 60
        assert ids == sorted(ids, reverse=True)
        (found,) = admin.get("/api/audit?words=skill42 user.changed").json()["items"]
        assert found["actor"] == "alma"
        assert "user.changed" in first["verbs"]
        assert admin.get("/api/audit?actor=nobody").json()["items"] == []
        assert admin.get("/api/audit?until=2001-01-01T00:00:00Z").json()["items"] == []

    def test_it_is_narrowed_to_an_object_or_a_kind(self, world: World, admin: Client) -> None:
        for user in (world.ada, world.ben):
            send(admin, "patch", f"/people/{user.pk}", skills=["phones"])
        one = admin.get(f"/api/audit?verb=user.changed&subject=user:{world.ada.pk}").json()["items"]
        kind = admin.get("/api/audit?verb=user.changed&subject=user").json()["items"]
        assert (len(one), len(kind)) == (1, 2)
        assert admin.get("/api/audit?subject=use").json()["items"] == []

    def test_an_entry_says_how_who_acted_came_in(self, world: World, admin: Client) -> None:
        send(admin, "patch", f"/people/{world.ada.pk}", skills=["phones"])
        token = token_make(username="alma", name="nightly", days=1, scopes=("*:write",))
        program = Client(headers={"Authorization": f"Bearer {token}"})
        assert send(program, "post", "/retention/rules", what="exports", days=30).status_code == 201
        send(admin, "patch", f"/people/{world.ada.pk}", skills=["desktops"])
        sources: dict[str, tuple[str | None, object, str]] = {}
        for entry in admin.get("/api/audit").json()["items"]:
            sources.setdefault(entry["verb"], (entry["actor"], entry["source"], entry["subject_name"]))
        assert sources["user.changed"] == ("alma", {"kind": "browser", "name": ""}, "ada")
        assert sources["retention.made"] == ("alma", {"kind": "token", "name": "nightly"}, "")
        assert sources["token.made"] == (None, {"kind": "part", "name": "command"}, "alma")

    def test_words_are_searched_for_in_so_many_entries_at_once(
        self, world: World, admin: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("annotation_app.audit.selectors.SEARCHED_ENTRIES", 2)
        for number in range(5):
            send(admin, "patch", f"/people/{world.ada.pk}", skills=[f"skill{number}"])
        pages: list[int] = []
        after = ""
        while len(pages) < 5:
            page = admin.get(f"/api/audit?verb=user.changed&words=skill1{after}").json()
            pages.append(len(page["items"]))
            if page["next"] is None:
                break
            after = f"&before={page['next']}"
        assert pages == [0, 1, 0]

    def test_an_end_before_the_beginning_is_named(self, admin: Client) -> None:
        answer = admin.get("/api/audit?since=2026-01-02T00:00:00Z&until=2026-01-01")
        assert (answer.status_code, answer.json()["extra"]["fields"][0]["field"]) == (422, "until")


class TestNames:
    def test_staff_choose_people_by_name(self, world: World, admin: Client) -> None:
        assert {"username": "ada", "name": "Ada"} in admin.get("/api/people/names").json()
        assert [row["username"] for row in admin.get("/api/people/names?search=ben").json()] == ["ben"]
        assert world.client(world.ada).get("/api/people/names").status_code == 403
