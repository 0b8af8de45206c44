"""Flywheels are made, changed and deleted over HTTP."""

from typing import Any

import pytest

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.audit.models import AuditEntry
from annotation_app.flywheel.models import Wheel
from annotation_app.flywheel.paths import general_data_path
from annotation_app.policies.gate import Gate
from annotation_app.policies.services import policy_ensure
from annotation_app.tasks.services import tasks_add
from protocol.trajectory.tasks import Task
from tests.integration.web.conftest import PASSWORD, World


@pytest.fixture
def admin() -> User:
    return user_ensure(username="root", password=PASSWORD, name="Root", roles=["admin"])


@pytest.fixture
def trained(world: World) -> World:
    """A pool of drills in which a model proposes."""
    world.pool.policy = policy_ensure(
        name="tars", revision="1", dialect="ui_tars_1_5", base_url="http://model:8000/v1", model="m", checkpoint="/c/1"
    )
    world.pool.gate = Gate()
    world.pool.save()
    world.pool.tasks.all().delete()
    names = ("press", "tabs", "press")
    tasks_add(
        pool=world.pool,
        definitions=[
            Task(
                id=f"drills/{name}-{number}", instruction="Do it.", platform="browser", suite="drills", name=name,
                seed=number, parameters={"size": [320, 240]},
            )
            for number, name in enumerate(names)
        ],
    )  # fmt: skip
    return world


def send(world: World, user: User, method: str, path: str, body: object = None) -> Any:
    call = getattr(world.client(user), method)
    return call(f"/api/wheels{path}", body, content_type="application/json") if body else call(f"/api/wheels{path}")


def draft(world: World, user: User) -> dict[str, Any]:
    found: dict[str, Any] = send(world, user, "get", f"/draft?pool={world.pool.pk}").json()
    return found


def test_a_flywheel_is_made_from_what_is_known_of_its_pool(trained: World, admin: User) -> None:
    found = draft(trained, admin)
    assert found["missing"] == []
    assert (found["recipe"]["policy"], found["recipe"]["server"]) == ("tars", "http://model:8000")
    assert (found["recipe"]["trials"]["tasks"], found["recipe"]["trials"]["size"]) == (["press", "tabs"], "320x240")
    made = send(trained, admin, "post", "", {"name": "main", "pool": trained.pool.pk, "recipe": found["recipe"]})
    assert (made.status_code, made.json()["pool"], made.json()["turns"]) == (201, trained.pool.name, [])
    entry = AuditEntry.objects.get(verb="wheel.set")
    assert (entry.actor, entry.details["recipe"]["policy"]) == (admin, "tars")
    trained.pool.refresh_from_db()
    assert trained.pool.sampling == "by_need"
    assert AuditEntry.objects.get(verb="pool.sampling_set").details == {"before": "in_order", "after": "by_need"}
    again = send(trained, admin, "post", "", {"name": "main", "pool": trained.pool.pk, "recipe": found["recipe"]})
    assert (again.status_code, again.json()["code"]) == (409, "name_taken")


def test_a_pool_may_keep_its_order_under_a_flywheel(trained: World, admin: User) -> None:
    body = {"name": "main", "pool": trained.pool.pk, "recipe": draft(trained, admin)["recipe"], "by_need": False}
    assert send(trained, admin, "post", "", body).status_code == 201
    trained.pool.refresh_from_db()
    assert trained.pool.sampling == "in_order"


def test_a_pool_without_a_model_says_what_is_missing(world: World, admin: User) -> None:
    assert draft(world, admin)["missing"] == ["policy", "checkpoint", "gate"]


def test_a_recipe_is_changed_and_the_schedule_set(trained: World, admin: User) -> None:
    recipe = draft(trained, admin)["recipe"]
    made = send(trained, admin, "post", "", {"name": "main", "pool": trained.pool.pk, "recipe": recipe}).json()
    recipe["passes"] = 0.8
    changed = send(trained, admin, "patch", f"/{made['id']}", {"recipe": recipe, "every_hours": 24})
    assert (changed.json()["recipe"]["passes"], changed.json()["every_hours"]) == (0.8, 24)


def test_a_recipe_that_makes_no_sense_is_refused_by_its_field(trained: World, admin: User) -> None:
    recipe = draft(trained, admin)["recipe"]
    recipe["trials"]["seeds"] = 0
    refused = send(trained, admin, "post", "", {"name": "main", "pool": trained.pool.pk, "recipe": recipe})
    assert refused.status_code == 422
    assert [field["field"] for field in refused.json()["extra"]["fields"]] == ["recipe.trials.seeds"]
    assert not Wheel.objects.exists()


def test_general_data_lies_where_operators_put_it(trained: World, admin: User) -> None:
    recipe = draft(trained, admin)["recipe"]
    body = {"name": "main", "pool": trained.pool.pk, "recipe": recipe}
    for path in ("/etc/passwd", "manuals", f"{general_data_path()}/../secrets"):
        recipe["general"] = {"manuals": {"kind": "documents", "paths": [path]}}
        refused = send(trained, admin, "post", "", body)
        assert (refused.status_code, refused.json()["code"]) == (422, "path_not_allowed")
    recipe["general"]["manuals"]["paths"] = [f"{general_data_path()}/manuals"]
    assert send(trained, admin, "post", "", body).status_code == 201


def test_only_a_flywheel_without_cycles_is_deleted(trained: World, admin: User) -> None:
    recipe = draft(trained, admin)["recipe"]
    body = {"name": "main", "pool": trained.pool.pk, "recipe": recipe}
    first = send(trained, admin, "post", "", body).json()["id"]
    assert send(trained, admin, "delete", f"/{first}").status_code == 204
    assert send(trained, admin, "delete", f"/{first}").status_code == 404
    second = Wheel.objects.get(pk=send(trained, admin, "post", "", body).json()["id"])
    second.turns.create(number=1, recipe=second.recipe, requested_by=admin, state="done")
    refused = send(trained, admin, "delete", f"/{second.pk}")
    assert (refused.status_code, refused.json()["code"]) == (409, "has_cycles")
