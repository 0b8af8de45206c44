"""The pool's judges decide rewards of a flywheel's own attempts: the newest of each kind, their keys apart."""

import json
from pathlib import Path

from agent_backend.judges.reward_judges import read_reward_judges
from annotation_app.accounts.services import user_ensure
from annotation_app.flywheel.model_servers import ModelEndpoint
from annotation_app.flywheel.recipe import RolloutSettings
from annotation_app.flywheel.rollouts import RolloutPlan
from annotation_app.flywheel.services.reward_judges import judge_keys, reward_judges_of
from annotation_app.judges.models import PoolJudge
from annotation_app.policies.services import provider_key_store
from tests.fixtures.judges import judge_ensure
from tests.integration.web.conftest import World

SERVER = "http://judge.example:8000/v1"


def test_the_newest_judge_of_each_kind_is_given_without_its_key(world: World, tmp_path: Path) -> None:
    def assign(kind: str, revision: str, threshold: float) -> int:
        judge = judge_ensure(
            name=kind, revision=revision, kind=kind, base_url=SERVER, model="m", settings={"votes": 3, "temperature": 1}
        )
        PoolJudge.objects.create(pool=world.pool, judge=judge, threshold=threshold)
        return judge.pk

    assign("outcome_model", "1", 0.5)
    newest = assign("outcome_model", "2", 0.9)
    reference = assign("reference", "1", 0.8)
    assign("screen", "1", 0.0)
    PoolJudge.objects.create(pool=world.pool, judge=judge_ensure(name="v", revision="1", kind="verifier"))
    admin = user_ensure(username="root", password="", name="Root", roles=["admin"])
    provider_key_store(admin, SERVER, "sk-0123456789abcdef")

    file = tmp_path / "judges.json"
    file.write_text(json.dumps(reward_judges_of(world.pool.pk)))
    found = read_reward_judges(file).in_order
    assert [(judge.kind, judge.revision, judge.threshold, judge.settings.votes) for judge in found] == [
        ("reference", "1", 0.8, 3),
        ("outcome_model", "2", 0.9, 3),
    ], "a judge that is believed from 0 on decides nothing"
    assert "sk-" not in file.read_text()
    keys = judge_keys(world.pool.pk)
    assert set(keys) == {f"PILOTHOUSE_JUDGE_API_KEY_{pk}" for pk in (newest, reference)}
    assert {judge.key_variable for judge in found} == set(keys)
    assert set(keys.values()) == {"sk-0123456789abcdef"}


def test_who_plays_is_told_which_judges(tmp_path: Path) -> None:
    plan = RolloutPlan(
        play=RolloutSettings(suite="toy", pages=2, seeds=2), tasks=("lights",), bridge="http://b", policy="toy",
        dialect="ui_tars_1_5", memory={}, temperature=1.0, turn=1, updates=1, run=tmp_path, inbox=tmp_path,
        judges=tmp_path / "judges.json",
    )  # fmt: skip
    words = plan.command(ModelEndpoint("http://m/v1", "toy"))
    assert words[words.index("--judges") + 1] == str(tmp_path / "judges.json")
