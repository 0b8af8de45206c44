"""A flywheel plays any pool and a suite at any level; what is not there is refused when the recipe is saved."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pydantic import TypeAdapter

from agent_backend.judges.reward_judges import read_reward_judges
from agent_backend.rollout.__main__ import parse_arguments
from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.encryption import encrypt_value
from annotation_app.flywheel.engine import turn_run
from annotation_app.flywheel.model_servers import ModelEndpoint
from annotation_app.flywheel.models import Stage, Wheel
from annotation_app.flywheel.programs import ProgramRunner
from annotation_app.flywheel.recipe import Recipe
from annotation_app.flywheel.rollouts import RolloutPlan
from annotation_app.flywheel.services import ledger, training
from annotation_app.judges.models import PoolJudge
from annotation_app.live.store import run_in_db_thread
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.services import policy_ensure
from annotation_app.tasks.models import Credential, Pool, Tally
from annotation_app.tasks.services import pool_ensure, tasks_add
from benchmarks.parts.tasks.bad_folders import GOOD
from protocol.harbor.task_folders import read_task_folders
from protocol.trajectory.mcp_servers import McpServer
from protocol.trajectory.tasks import Task, task_kind
from tests.fixtures.judges import judge_ensure
from tests.integration.web.conftest import PASSWORD, Stack, World
from tests.integration.web.flywheel.flywheel_helpers import (
    import_attempts,
    run_turn,
    stop_after_stage,
    write_fake_trainer,
)
from tests.integration.web.tasks.test_pools import sent

OSWORLD = Task(id="b1", instruction="Look.", parameters={"osworld": {"evaluator": {"func": "infeasible"}}})
UPLOADED = Task(id="uploaded", instruction="Do it.", suite="desktop", name="say_hello", seed=4)
UNKNOWN = Task(id="never-tried", instruction="Do it.")


class PlayedPlans:
    """In the place of `train_on_rollouts`: notes who was to play what, and with which variables."""

    def __init__(self, folder: Path) -> None:
        self._made, self.plans, self.environments = folder / "made", list[RolloutPlan](), list[dict[str, str]]()

    def __call__(
        self, programs: ProgramRunner, learn: Sequence[str], plan: RolloutPlan, *, threads: int, log: Path
    ) -> str:
        self.plans.append(plan)
        self.environments.append(programs._environment)
        self._made.mkdir(exist_ok=True)
        return str(self._made)


@pytest.fixture
def played(admin: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlayedPlans:
    """Turns end with a training whose player is noted."""
    import_attempts(tmp_path / "first", {0: True, 1: False})
    found = PlayedPlans(tmp_path)
    monkeypatch.setattr(training, "trainer_python", lambda: write_fake_trainer(tmp_path / "trainer"))
    monkeypatch.setattr(training, "train_on_rollouts", found)
    stop_after_stage(monkeypatch, "train")
    return found


@pytest.fixture
def active() -> PolicyRevision:
    return policy_ensure(name="toy", revision="1", dialect="ui_tars_1_5", base_url="http://model/v1", model="m")


def set_wheel(admin: User, **play: Any) -> Wheel:
    rl = {"updates": 1, "algorithm": "ppo", "play": {"pages": 2, "seeds": 2, **play}}
    trials = {"world": "toy", "first_seed": 900, "seeds": 10}
    recipe = {"policy": "toy", "start": "/start", "server": "http://desks.example", "trials": trials, "rl": rl}
    return ledger.wheel_set(user=admin, name="main", pool="lights", recipe=Recipe.model_validate(recipe))


def propose(active: PolicyRevision, pool: str, counts: dict[str, tuple[int, int]]) -> None:
    """The revision proposes in the flywheel's pool, and won and lost so often at kinds of task in this one."""
    Pool.objects.filter(name="lights").update(policy=active)
    for kind, (won, lost) in counts.items():
        tried = Pool.objects.get(name=pool)
        Tally.objects.create(pool=tried, revision=active, kind=kind, succeeded=won, failed=lost)


def test_another_pool_is_played_on_its_machines_with_its_secrets_and_judges(
    admin: User, played: PlayedPlans, active: PolicyRevision, tmp_path: Path
) -> None:
    for name, data in GOOD.items():
        (tmp_path / "folder" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "folder" / name).write_bytes(data)
    (harbor,) = read_task_folders(tmp_path / "folder")
    servers = {"notes": McpServer(command="notes", env={"NOTES_TOKEN": "secret:NOTES"})}
    other = pool_ensure(name="other", members=[], image="osworld", mcp_servers=servers)
    Credential.objects.create(pool=other, name="NOTES", sealed=encrypt_value("a value"), kinds=["mcp_server"])
    tasks = [OSWORLD, harbor, UPLOADED, UNKNOWN]
    tasks_add(pool=other, definitions=tasks)
    judge = judge_ensure(name="j", revision="1", kind="outcome_model", base_url="http://judge/v1", model="m")
    PoolJudge.objects.create(pool=other, judge=judge, threshold=0.5)
    propose(active, "other", {task_kind(task): (1, 1) for task in tasks if task is not UNKNOWN})

    run_turn(set_wheel(admin, source="pool", pool="other", judges=True), admin)
    (plan,), (environment,) = played.plans, played.environments
    assert plan.source is not None
    written = [TypeAdapter(Task).validate_json(line) for line in plan.source.read_text().splitlines()]
    assert [task.id for task in written] == ["b1", harbor.id, "uploaded"], "nothing is known of the last one"
    assert [task.parameters["mcp_servers"] for task in written] == [
        {"notes": servers["notes"].model_dump(mode="json")}
    ] * 3
    assert (plan.image, plan.tasks) == ("osworld", tuple(task.id for task in written))
    assert plan.judges is not None
    assert [each.name for each in read_reward_judges(plan.judges).in_order] == ["j"]
    assert environment["PILOTHOUSE_POOL_SECRET_NOTES"] == "a value"


def test_a_suite_is_played_at_the_levels_that_are_named(
    admin: User, played: PlayedPlans, active: PolicyRevision
) -> None:
    kinds = ("games/maze", "games/maze level 2", "games/memory level 3", "games/solved level 2", "drills/press level 2")
    propose(active, "lights", {kind: (2, 0) if "solved" in kind else (1, 1) for kind in kinds})
    wanted = {(): kinds[:3], (2,): kinds[1:2], (1, 3): (kinds[0], kinds[2])}
    for levels in wanted:
        run_turn(set_wheel(admin, suite="games", levels=levels), admin)
    for (levels, played_kinds), plan in zip(wanted.items(), played.plans, strict=True):
        assert plan.tasks == played_kinds, levels
        command = parse_arguments(plan.command(ModelEndpoint("http://m/v1", "m"))[3:])
        assert tuple(command.kind) == played_kinds
        assert command.attempts == len(played_kinds) * 2


def test_a_pool_that_was_renamed_since_fails_the_stage_by_its_name(
    admin: User, played: PlayedPlans, active: PolicyRevision
) -> None:
    propose(active, "lights", {"games/maze": (1, 1)})
    pool_ensure(name="other", members=[])
    wheel = set_wheel(admin, source="pool", pool="other")
    Pool.objects.filter(name="other").update(name="another")
    turn = ledger.turn_begin(user=admin, wheel_id=wheel.pk)
    assert turn_run(turn_id=turn.pk)
    stage = Stage.objects.get(turn=turn, name="train")
    assert (stage.state, stage.code) == ("failed", "unknown_pool")
    assert "'other'" in stage.error
    assert played.plans == []


def wheel_body(world: World, **play: Any) -> dict[str, Any]:
    rl = {"updates": 1, "algorithm": "ppo", "play": {"pages": 2, "seeds": 2, **play}}
    recipe = {"policy": "toy", "start": "/start", "trials": {"world": "toy"}, "rl": rl}
    return {"name": "main", "pool": world.pool.pk, "recipe": recipe}


def admin_of(world: World) -> Client:
    return world.client(user_ensure(username="root", password=PASSWORD, name="Root", roles=["admin"]))


async def test_what_is_not_there_is_refused_by_its_field_and_stays_where_it_was_saved(
    stack: Stack, settings: Any
) -> None:
    def tried() -> None:
        root, world = admin_of(stack.world), stack.world
        for play, field, code in (
            ({"source": "pool", "pool": "unreal"}, "pool", "unknown_pool"),
            ({"suite": "chess"}, "suite", "unknown_suite"),
            ({"suite": "games", "levels": [1, 9]}, "levels", "unknown_level"),
        ):
            refused = sent(root, "POST", "/wheels", wheel_body(world, **play))
            assert refused["code"] == code
            assert [each["field"] for each in refused["extra"]["fields"]] == [f"recipe.rl.play.{field}"]
            assert refused["extra"]["fields"][0]["message"] == refused["message"]
            assert not Wheel.objects.exists()
        made = sent(root, "POST", "/wheels", wheel_body(world, suite="games", levels=[1, 2]))
        assert made["recipe"]["rl"]["play"]["levels"] == [1, 2]
        other = wheel_body(world, source="pool", pool="practice")["recipe"]
        assert sent(root, "PATCH", f"/wheels/{made['id']}", {"recipe": other})["recipe"] == made["recipe"] | {
            "rl": made["recipe"]["rl"]
            | {"play": made["recipe"]["rl"]["play"] | other["rl"]["play"] | {"suite": "", "levels": []}}
        }
        Pool.objects.filter(name="practice").update(name="renamed")
        kept = sent(root, "PATCH", f"/wheels/{made['id']}", {"recipe": other | {"passes": 0.9}})
        assert kept["recipe"]["passes"] == 0.9, "what was saved before is not asked about again"
        unknown = wheel_body(world, source="pool", pool="unreal")["recipe"]
        assert sent(root, "PATCH", f"/wheels/{made['id']}", {"recipe": unknown})["code"] == "unknown_pool"
        settings.ENV = settings.ENV.model_copy(update={"bridge_url": "http://127.0.0.1:9"})
        suite = wheel_body(world, suite="chess")["recipe"]
        assert sent(root, "PATCH", f"/wheels/{made['id']}", {"recipe": suite})["id"], "what cannot be known is taken"

    await run_in_db_thread(tried)


def test_only_who_may_administrate_pools_names_one(world: World) -> None:
    for person in (world.ada, world.rosa, world.ravi):
        body = wheel_body(world, source="pool", pool="practice")
        assert sent(world.client(person), "POST", "/wheels", body)["code"] == "forbidden"
    assert not Wheel.objects.exists()


def test_a_recipe_of_before_reads_as_it_was_meant() -> None:
    play = {"source": "pool", "suite": "", "first_seed": 0, "pages": 8, "seeds": 8, "group": 1, "size": ""}
    stored = {
        "policy": "toy",
        "start": "/s",
        "trials": {"world": "toy"},
        "rl": {"algorithm": "ppo", "updates": 1, "play": play},
    }
    recipe = Recipe.model_validate(stored)
    assert recipe.rl is not None
    assert recipe.rl.play is not None
    assert (recipe.rl.play.pool, recipe.rl.play.levels) == ("", ())
