"""The demo's contents: complete, loaded once, and the same tasks the bridge prepares."""

from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.core.management import call_command

from annotation_app.accounts.models import User
from annotation_app.demo.demo_data import (
    BROWSER_FILE,
    DEMO_USERS,
    PHONE_FILE,
    SMALL_FILE,
    TASKS,
    TASKS_FILE,
    TERMINAL_FILE,
)
from annotation_app.episodes import services
from annotation_app.flywheel.models import Wheel
from annotation_app.policies.expert import EXPERT_URL
from annotation_app.policies.models import PolicyRevision
from annotation_app.pools.schemas import PoolSettings
from annotation_app.tasks.models import Pool, Task
from tests.integration.suites import browser_tasks
from vm_bridge.suites.desktop import DESKTOP
from vm_bridge.suites.phone.suite import PhoneSuite
from vm_bridge.suites.terminal import TERMINAL


def test_a_new_pool_sends_nothing_that_is_being_written() -> None:
    assert not Pool().text_continuation
    assert not PoolSettings(name="Office").text_continuation


@pytest.mark.django_db
def test_loading_twice_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("seed_demo")
    counts = [model.objects.count() for model in (User, Pool, Task)]
    call_command("seed_demo")
    assert [model.objects.count() for model in (User, Pool, Task)] == counts
    printed = capsys.readouterr().out
    for user in DEMO_USERS:
        password = user.password(exposed=False)
        assert password in printed
        assert authenticate(username=user.username, password=password) is not None
    assert Task.objects.filter(pool__practice=False).count() >= 10
    assert Pool.objects.filter(practice=False).count() == 8
    assert not Pool.objects.filter(text_continuation=False).exists(), "no pool of the demo has a metered model"
    ada = User.objects.get(username="annotator")
    assert services.episode_next(user=ada, practice=True) is not None


@pytest.mark.django_db
def test_where_others_can_reach_it_no_password_is_guessed(capsys: pytest.CaptureFixture[str], settings: Any) -> None:
    call_command("seed_demo")
    call_command("seed_demo", "--exposed")
    easy, hard = ([user.password(exposed=exposed) for user in DEMO_USERS] for exposed in (False, True))
    printed = capsys.readouterr().out
    for user, old, new in zip(DEMO_USERS, easy, hard, strict=True):
        assert authenticate(username=user.username, password=old) is None
        assert authenticate(username=user.username, password=new) is not None
        assert new in printed
    settings.SECRET_KEY = "the key of another installation, 32 long"
    assert not set(hard) & {user.password(exposed=True) for user in DEMO_USERS}


@pytest.mark.django_db
def test_a_model_server_that_moved_is_found_again(settings: Any) -> None:
    call_command("seed_demo")
    settings.ENV = settings.ENV.model_copy(update={"scripted_url": "http://127.0.0.1:9999/v1"})
    call_command("seed_demo")
    served = Pool.objects.exclude(image="browser")
    assert {pool.policy and pool.policy.base_url for pool in served} == {"http://127.0.0.1:9999/v1"}
    assert {pool.policy and pool.policy.base_url for pool in Pool.objects.filter(image="browser")} == {EXPERT_URL}


@pytest.mark.django_db
def test_the_bundled_policy_has_the_first_pool_where_it_is_served(settings: Any) -> None:
    call_command("seed_demo")
    assert not Pool.objects.filter(name="Small screens").exists()
    settings.ENV = settings.ENV.model_copy(update={"nano_url": "http://127.0.0.1:9998/v1"})
    call_command("seed_demo")
    pool = Pool.objects.order_by("-priority", "id")[0]
    assert (pool.name, str(pool.policy)) == ("Small screens", "nano 7")
    assert pool.policy is not None
    assert (pool.policy.base_url, pool.policy.scripted) == ("http://127.0.0.1:9998/v1", False)


@pytest.mark.django_db
def test_the_flywheel_follows_the_bundled_policys_server(settings: Any) -> None:
    for port in (9998, 9999):
        settings.ENV = settings.ENV.model_copy(update={"nano_url": f"http://127.0.0.1:{port}/v1"})
        call_command("seed_demo")
        if port == 9998:
            made = {"name": "nano", "revision": "Small screens-0001", "base_url": "http://127.0.0.1:9998/v1"}
            PolicyRevision.objects.create(**made, dialect="ui_tars_1_5", model="nano")
    wheel = Wheel.objects.get(name="Small screens")
    assert wheel.recipe.server == "http://127.0.0.1:9999"
    assert set(PolicyRevision.objects.filter(name="nano").values_list("base_url", flat=True)) == {
        "http://127.0.0.1:9999/v1"
    }
    assert Pool.objects.get(name="Small screens").gate is not None


def test_the_tasks_are_those_of_the_bundled_suites() -> None:
    assert TASKS.validate_json(TASKS_FILE.read_bytes()) == DESKTOP.tasks
    assert TASKS.validate_json(PHONE_FILE.read_bytes()) == PhoneSuite().tasks
    assert TASKS.validate_json(TERMINAL_FILE.read_bytes()) == TERMINAL.tasks
    assert TASKS.validate_json(BROWSER_FILE.read_bytes()) == browser_tasks.tasks()
    assert TASKS.validate_json(SMALL_FILE.read_bytes()) == browser_tasks.nano_tasks()
