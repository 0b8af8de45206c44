"""Draft recipes for a pool, from what is known of the pool and sensible defaults. Pure functions."""

from typing import Literal

from annotation_app.flywheel.recipe import SEEDED_SUITES, Recipe
from protocol.base import FrozenModel, JsonObject

BUNDLED_POLICY = "nano"
"""The bundled policy, which has a training stage of its own."""
MAX_TRIED_TASKS, TRIALS_EACH_SIDE, MIN_SEEDS, MAX_SEEDS = 20, 80, 4, 20
"""At the gate: number of tasks, of the candidate's attempts in total, and of attempts at each task."""
FIRST_GATE_SEEDS = {"miniwob": 100}
"""First seed of the gate for suites with a limited seed range. For other suites it is a million."""
UPDATES = 80
BUNDLED_SETTINGS: JsonObject = {
    **{
        "shown": 1.0,
        "spoken": 0.25,
        "batch": 8,
        "spelled": 2,
        "warmup": 5,
        "keep_every": 1_000,
        "settle": UPDATES * 7 // 8,
    },
    **{"muon_rate": 0.0015, "adam_rate": 0.00015, "tower": False},
}
"""Settings of the experiments with the bundled policy (docs/research/experiments/index.md)."""
Missing = Literal["policy", "checkpoint", "suite", "gate"]


class PoolFacts(FrozenModel):
    """What is known of a pool. Empty texts are unknown."""

    name: str
    policy: str = ""
    """Policy of the active revision, if that is a trainable model; the next three fields are also of that revision."""
    dialect: str = ""
    checkpoint: str = ""
    server: str = ""
    """Address without /v1."""
    suite: str = ""
    """The suite of most of its tasks."""
    tasks: tuple[str, ...] = ()
    """Names of that suite's tasks."""
    size: str = ""
    has_gate: bool = False


class RecipeDraft(FrozenModel):
    """A recipe for the form, and what a person must supply before it can work."""

    name: str
    recipe: JsonObject
    seeds: int
    """Seeds of each gate task."""
    missing: tuple[Missing, ...]


def draft_recipe(pool: PoolFacts) -> RecipeDraft:
    """A recipe that imitates what passes in each cycle: equal parts of new and earlier data, and the policy's own
    successes at earlier gates. The gate uses seeds of the pool's tasks. If each seed makes another page, no cycle has
    tried them. Continual pre-training and reinforcement are off, because they need general data and machines that play.
    """
    bundled = pool.policy == BUNDLED_POLICY
    tasks = pool.tasks[:MAX_TRIED_TASKS]
    seeds = min(MAX_SEEDS, max(MIN_SEEDS, TRIALS_EACH_SIDE // max(len(tasks), 1)))
    unknown = {"policy": pool.policy, "start": pool.checkpoint}
    recipe = {
        "policy": pool.policy or "-",
        "start": pool.checkpoint or "-",
        "dialect": pool.dialect or "ui_tars_1_5",
        "server": pool.server,
        "sft": {
            "by": "nano" if bundled else "ct",
            "updates": UPDATES,
            "shares": {"fresh": 0.4, "earlier": 0.4, "own": 0.2, "general": 0.0},
            "every": 1,
            "corrections": "interventions",
            "settings": BUNDLED_SETTINGS if bundled else {},
        },
        "trials": {
            "world": "bridge",
            "suite": pool.suite,
            "tasks": list(tasks),
            "first_seed": FIRST_GATE_SEEDS.get(pool.suite, 1_000_000),
            "seeds": seeds,
            "fresh_pages": pool.suite in SEEDED_SUITES,
            "parallel": 2,
            "size": pool.size,
            "temperature": 0.0,
        },
    }
    known: dict[Missing, bool] = {
        "policy": bool(pool.policy),
        "checkpoint": bool(pool.checkpoint),
        "suite": bool(pool.suite),
        "gate": pool.has_gate,
    }
    whole: JsonObject = Recipe.model_validate(recipe).model_dump(mode="json") | unknown
    missing = tuple(key for key, has in known.items() if not has)
    return RecipeDraft(name=pool.name, recipe=whole, seeds=seeds, missing=missing)
