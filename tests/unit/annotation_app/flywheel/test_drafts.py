"""The recipe that the form begins with fits the pool, and says what is missing."""

from typing import Any

import pytest
from pydantic import ValidationError

from annotation_app.flywheel.drafts import PoolFacts, draft_recipe
from annotation_app.flywheel.recipe import SEEDED_SUITES, Recipe
from vm_bridge.suites.registry import WEB_SUITES
from vm_bridge.suites.web import FolderSuite

NANO = PoolFacts(
    name="Small screens",
    policy="nano",
    dialect="ui_tars_1_5",
    checkpoint="/nano",
    server="http://127.0.0.1:8092",
    suite="drills",
    tasks=("press", "tabs"),
    size="320x240",
    has_gate=True,
)


def test_the_bundled_policy_learns_by_its_own_stage() -> None:
    draft = draft_recipe(NANO)
    recipe = Recipe.model_validate(draft.recipe)
    assert draft.missing == ()
    assert recipe.sft is not None
    assert (recipe.sft.by, recipe.server) == ("nano", NANO.server)
    assert (recipe.trials.suite, recipe.trials.tasks, recipe.trials.size) == ("drills", ("press", "tabs"), "320x240")


@pytest.mark.parametrize(("count", "seeds"), [(1, 20), (2, 20), (8, 10), (40, 4)])
def test_the_gate_takes_about_as_long_whatever_the_number_of_tasks(count: int, seeds: int) -> None:
    tasks = tuple(f"task-{number}" for number in range(count))
    trials = Recipe.model_validate(draft_recipe(NANO.model_copy(update={"tasks": tasks})).recipe).trials
    assert (len(trials.tasks), trials.seeds) == (min(count, 20), seeds)


def test_seeds_of_the_gate_are_those_the_suite_knows() -> None:
    trials = Recipe.model_validate(draft_recipe(NANO.model_copy(update={"suite": "miniwob"})).recipe).trials
    assert trials.first_seed + trials.seeds <= 200


@pytest.mark.parametrize(("suite", "fresh"), [("drills", True), ("miniwob", False), ("desktop", False), ("", False)])
def test_each_cycle_tries_fresh_pages_where_seeds_make_them(suite: str, fresh: bool) -> None:
    facts = NANO.model_copy(update={"suite": suite})
    trials: Any = draft_recipe(facts).recipe["trials"]
    assert trials["fresh_pages"] is fresh


def test_the_suites_whose_seeds_make_other_pages_are_folders_of_pages() -> None:
    assert {name for name, suite in WEB_SUITES.items() if isinstance(suite, FolderSuite)} == SEEDED_SUITES


def test_another_policy_learns_the_words_of_people() -> None:
    recipe = Recipe.model_validate(draft_recipe(NANO.model_copy(update={"policy": "tars"})).recipe)
    assert recipe.sft is not None
    assert (recipe.sft.by, recipe.sft.settings) == ("ct", {})


def test_what_is_missing_is_said_by_name() -> None:
    draft = draft_recipe(PoolFacts(name="Errands"))
    assert draft.missing == ("policy", "checkpoint", "suite", "gate")
    with pytest.raises(ValidationError):
        Recipe.model_validate(draft.recipe)


@pytest.mark.parametrize("own", ["out", "checkpoint", "sources"])
def test_what_the_cycle_sets_is_no_setting(own: str) -> None:
    recipe: Any = draft_recipe(NANO).recipe
    recipe["sft"]["settings"] = {own: "/elsewhere"}
    with pytest.raises(ValidationError, match=f"the cycle itself sets {own}"):
        Recipe.model_validate(recipe)
