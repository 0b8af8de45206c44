"""What a sample is worth, where it goes, what is worth playing, and of what a training is mixed."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from agent_backend.rollout.__main__ import parse_arguments
from annotation_app.flywheel.model_servers import ModelEndpoint
from annotation_app.flywheel.recipe import (
    GateTrials,
    GeneralData,
    MixShares,
    Recipe,
    ReinforcementTraining,
    RolloutSettings,
)
from annotation_app.flywheel.rollouts import RolloutPlan
from annotation_app.flywheel.sample_rules import Grounds, RoutingInput, decide_route, is_worth_playing, value_of
from annotation_app.flywheel.selectors.people import gate_gain, people_time

SHARES = MixShares(fresh=0.5, earlier=0.3, general=0.2)


@pytest.mark.parametrize(
    ("grounds", "value", "by", "contested"),
    [
        (Grounds(), None, "nobody", False),
        (Grounds(judge=0.7), 0.7, "judge", False),
        (Grounds(judge=0.9, outcome="failure"), 0.0, "outcome", False),
        (Grounds(outcome="success"), 1.0, "outcome", False),
        (Grounds(outcome="success", review="accepted"), 1.0, "review", False),
        (Grounds(outcome="infeasible", review="accepted"), None, "nobody", False),
        (Grounds(outcome="infeasible", review="accepted", judge=0.4), 0.4, "judge", False),
        (Grounds(verifier=False, outcome="success", review="accepted"), 0.0, "verifier", True),
        (Grounds(verifier=True, outcome="success"), 1.0, "verifier", False),
        (Grounds(verifier=True, review="rejected"), 0.0, "review", True),
        (Grounds(outcome="failure", review="returned"), 0.0, "review", False),
    ],
)
def test_the_first_that_can_tell_is_believed(grounds: Grounds, value: float | None, by: str, contested: bool) -> None:
    told = value_of(grounds)
    assert (told.value, told.by, told.contested) == (value, by, contested)


@pytest.mark.parametrize(
    ("subject", "route", "reason"),
    [
        (RoutingInput(value=1.0), "sft", "passes"),
        (RoutingInput(value=0.5), "sft", "passes"),
        (RoutingInput(value=0.49), "ct", "below"),
        (RoutingInput(value=None), "ct", "unvalued"),
        (RoutingInput(value=1.0, executable=True), "sft", "passes"),
        (RoutingInput(value=1.0, executable=False), "ct", "not_executable"),
        (RoutingInput(value=1.0, duplicate=True), "none", "duplicate"),
        (RoutingInput(value=0.0, turned_down=True, duplicate=True), "none", "turned_down"),
        (RoutingInput(value=1.0, held_out=True, duplicate=True), "none", "held_out"),
        (RoutingInput(value=1.0, withdrawn=True, held_out=True), "none", "withdrawn"),
    ],
)
def test_a_sample_goes_where_it_teaches(subject: RoutingInput, route: str, reason: str) -> None:
    routed = decide_route(subject, passes=0.5)
    assert (routed.route, routed.reason) == (route, reason)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"url": "http://gpu:8000", "model": ""}, "at least 1"),
        ({"url": "http://me:word@gpu:8000", "model": "m"}, "no name, password"),
        ({"url": "http://gpu:8000/v1?key=word", "model": "m"}, "no name, password"),
        ({"url": "file:///weights", "model": "m"}, "http"),
        ({"url": "http://GPU:8000/v1/", "model": "m"}, "a server of its own"),
        ({"url": "http://gpu:8001", "model": "m", "key": "word"}, "not permitted"),
    ],
)
def test_a_server_that_cannot_be_given_weights_is_refused(told: dict[str, str], said: str) -> None:
    trials = {"world": "bridge", "suite": "miniwob"}
    with pytest.raises(ValidationError, match=said):
        recipe(rl={"updates": 1}, serving=told, trials=trials, server="http://gpu:8000")


def test_the_toy_world_asks_no_server() -> None:
    with pytest.raises(ValidationError, match="asks no server"):
        recipe(rl={"updates": 1}, serving={"url": "http://gpu:8000", "model": "m"})


def test_what_is_always_or_never_done_is_not_worth_playing() -> None:
    rule = ReinforcementTraining(updates=1, between=(0.1, 0.9), attempts=4)
    assert [is_worth_playing(rule, succeeded=won, attempts=10) for won in (0, 1, 5, 9, 10)] == [
        False,
        True,
        True,
        True,
        False,
    ]
    assert not is_worth_playing(rule, succeeded=1, attempts=3)
    assert not is_worth_playing(rule, succeeded=0, attempts=0)


def test_a_mix_has_the_recipes_shares_and_only_what_there_is() -> None:
    general = {
        "web": GeneralData(kind="documents", paths=("/web",)),
        "chats": GeneralData(kind="chats", paths=("/chats",)),
    }
    whole = SHARES.sources(fresh=[Path("/fresh")], earlier=[Path("/earlier")], general=general)
    assert {name: one["share"] for name, one in whole.items()} == {
        "fresh": 0.5,
        "earlier": 0.3,
        "general/web": 0.1,
        "general/chats": 0.1,
    }
    assert set(SHARES.sources(fresh=[Path("/fresh")], earlier=(), general={})) == {"fresh"}
    assert SHARES.sources(fresh=(), earlier=(), general=general) == {}
    without = SHARES.model_copy(update={"general": 0.0})
    assert set(without.sources(fresh=[Path("/fresh")], earlier=(), general=general)) == {"fresh"}


def recipe(**told: Any) -> Recipe:
    return Recipe.model_validate({"policy": "toy", "start": "/start", "trials": {"world": "toy"}, **told})


def test_a_recipe_that_trains_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="trains something"):
        recipe()
    with pytest.raises(ValidationError, match="lower bound"):
        recipe(rl={"updates": 1, "between": [0.9, 0.1]})
    with pytest.raises(ValidationError):
        recipe(rl={"updates": 1}, server="file:///etc/passwd")


def test_the_gates_own_tasks_are_known_by_their_seeds() -> None:
    trials = GateTrials(world="bridge", suite="sites", first_seed=100, seeds=10)
    assert [trials.holds("sites", seed) for seed in (99, 100, 109, 110, None)] == [False, True, True, False, False]
    assert not trials.holds("games", 100)
    assert GateTrials(world="toy", first_seed=5, seeds=1).holds("toy", 5)


def test_the_nano_policys_own_stage_takes_no_general_data() -> None:
    plan = {"by": "nano", "updates": 1, "shares": {"fresh": 0.5, "earlier": 0.5, "general": 0}}
    assert recipe(sft=plan).sft is not None
    with pytest.raises(ValidationError, match="no general data"):
        recipe(sft={**plan, "shares": {"fresh": 0.5, "earlier": 0.4, "general": 0.1}})


def test_updates_play_at_every_page_before_one_comes_again() -> None:
    play = RolloutSettings(suite="miniwob", first_seed=10, pages=6, seeds=2, group=1)
    plays = [
        RolloutPlan(
            play=play, tasks=("a", "b"), bridge="http://b", policy="nano", dialect="ui_tars_1_5", memory={},
            temperature=1.0, turn=turn, updates=2, run=Path("run"), inbox=Path("inbox"),
        )
        for turn in (1, 2)
    ]  # fmt: skip
    assert [player.start_at for player in plays] == [0, 4]
    words = plays[1].command(ModelEndpoint("http://m/v1", "m"))
    found = parse_arguments(words[3:])
    assert (found.first_seed, found.seeds, found.start_at, found.attempts) == (10, 6, 4, 4)


@pytest.mark.parametrize(
    ("play", "said"),
    [
        ({"pages": 5, "seeds": 2}, "multiple"),
        ({"pages": 8, "first_seed": 94}, "gate"),
        ({"pages": 8, "group": 1}, "group"),
        ({"pages": 8, "suite": ""}, "suite"),
        ({"pages": 8, "source": "pool"}, "suite"),
        ({"pages": 8, "source": "pool", "suite": "", "size": "160x210"}, "size"),
        ({"pages": 8, "source": "pool", "suite": "", "levels": [2]}, "levels"),
        ({"pages": 8, "pool": "Uploads"}, "pool"),
        ({"pages": 8, "levels": [0]}, "levels"),
    ],
)
def test_what_cannot_be_played_is_refused(play: dict[str, Any], said: str) -> None:
    rl = {"updates": 1, "algorithm": "grpo" if said == "group" else "ppo", "play": {"suite": "miniwob", **play}}
    trials = {"world": "bridge", "suite": "miniwob", "first_seed": 100, "seeds": 4}
    with pytest.raises(ValidationError, match=said):
        recipe(rl=rl, trials=trials)


def test_the_tasks_of_a_pool_are_played_from_a_file_on_its_machines(tmp_path: Path) -> None:
    play = RolloutSettings(source="pool", pages=2, seeds=2, group=1)
    plan = RolloutPlan(
        play=play, tasks=("a", "b"), bridge="http://b", policy="p", dialect="ui_tars_1_5", memory={}, temperature=1.0,
        turn=1, updates=1, run=tmp_path, inbox=tmp_path, source=tmp_path / "rl-tasks.jsonl", image="terminal",
    )  # fmt: skip
    words = plan.command(ModelEndpoint("http://m/v1", "m"))
    assert "--suite" not in words
    assert words[words.index("--tasks") + 1] == str(tmp_path / "rl-tasks.jsonl")
    assert words[words.index("--image") + 1] == "terminal"
    assert plan.attempts == 4


def test_fresh_pages_lie_behind_all_that_earlier_gates_tried() -> None:
    plan = GateTrials(world="bridge", suite="drills", first_seed=100, seeds=20, fresh_pages=True)
    first = plan.after([])
    assert first == plan
    second = plan.after([first])
    assert second.first_seed == 120
    assert not second.holds("drills", 119), "what the first gate tried may be learned from"
    assert second.holds("drills", 120)
    assert second.holds("drills", 5_000), "later gates will try it"
    assert not second.holds("sites", 120)
    fewer = plan.model_copy(update={"seeds": 2}).after([first, second])
    assert fewer.first_seed == 140, "fewer seeds bring no page back"
    elsewhere = second.model_copy(update={"suite": "sites", "first_seed": 900})
    assert plan.after([elsewhere]).first_seed == 100
    assert GateTrials(world="toy", first_seed=5).after([GateTrials(world="toy", first_seed=5)]).first_seed == 5
    assert plan.after([], 500).first_seed == 500, "behind what was learned from before fresh pages were switched on"


def test_no_setting_brings_a_page_back_once_a_gate_had_fresh_ones() -> None:
    fresh = GateTrials(world="bridge", suite="drills", first_seed=100, seeds=20, fresh_pages=True)
    same = fresh.model_copy(update={"fresh_pages": False})
    unticked = same.after([fresh])
    assert (unticked.first_seed, unticked.fresh_pages) == (120, False)
    elsewhere = same.model_copy(update={"suite": "sites"})
    assert elsewhere.after([fresh], 150).first_seed == 150
    assert same.after([fresh, elsewhere]).first_seed == 120, "back at the first suite"
    limited = same.model_copy(update={"suite": "miniwob"})
    assert limited.after([fresh, limited], 150).first_seed == 100, "there is nothing behind its last seed"


@pytest.mark.parametrize("suite", ["desktop", "terminal", "phone", "miniwob", "questions", "harbor"])
def test_a_suite_whose_seeds_make_no_pages_without_end_has_no_fresh_ones(suite: str) -> None:
    trials = GateTrials(world="bridge", suite=suite, first_seed=100, seeds=20, fresh_pages=True)
    assert not trials.tries_fresh_pages
    assert trials.after([trials]) == trials.model_copy(update={"fresh_pages": False})


def test_fresh_pages_are_seeds_of_a_suite() -> None:
    with pytest.raises(ValidationError, match="fresh_pages"):
        GateTrials(world="bridge", source="/data/gate.jsonl", fresh_pages=True)


def test_an_hours_gain_is_told_where_there_was_enough_time_and_a_comparison() -> None:
    people = {"episodes": 10, "hours": 0.5, "judged": 40, "corrected": 8}
    tried = {"attempts": 80, "successes": 44, "active_attempts": 80, "active_successes": 40}
    told = people_time({"people": people}, tried)
    assert told is not None
    assert told.gain == pytest.approx(0.05)
    assert told.gain_per_hour == pytest.approx(0.1)
    short = people_time({"people": people | {"hours": 0.05}}, tried)
    assert short is not None
    assert short.gain == pytest.approx(0.05)
    assert short.gain_per_hour is None
    alone = people_time({"people": people}, {})
    assert alone is not None
    assert alone.gain is None
    assert people_time({"people": people | {"episodes": 0}}, tried) is None
    assert people_time({}, tried) is None, "cycles of before did not count it"


def test_the_gain_is_of_the_tasks_that_both_tried() -> None:
    tried = {"attempts": 100, "successes": 44, "active_attempts": 80, "active_successes": 40}
    assert gate_gain({**tried, "compared_attempts": 80, "compared_successes": 44}) == pytest.approx(0.05)
    assert gate_gain({"attempts": 80, "successes": 44}) is None
