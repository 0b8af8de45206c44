"""A recipe to begin with for a pool: what is known of the pool, and sensible sizes for the rest. Pure."""

from typing import Literal

from annotation_app.flywheel.recipe import SEEDED_SUITES, Recipe
from protocol.base import FrozenModel, JsonObject

BUNDLED_POLICY = "nano"
"""The policy that comes with the platform: it has a training stage of its own."""
MAX_TRIED_TASKS, TRIALS_EACH_SIDE, MIN_SEEDS, MAX_SEEDS = 20, 80, 4, 20
"""At the gate: tasks, attempts of the candidate in all, and of each task."""
FIRST_GATE_SEEDS = {"miniwob": 100}
"""Where the gate's seeds begin, for suites that do not know every seed; else at a million."""
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
"""Those of the experiments with the bundled policy (docs/research/experiments/index.md)."""
Missing = Literal["policy", "checkpoint", "suite", "gate"]


class PoolFacts(FrozenModel):
    """What is known of a pool; empty texts are unknown."""

    name: str
    policy: str = ""
    """The active revision's, where that is a model that can be trained."""
    dialect: str = ""
    checkpoint: str = ""
    server: str = ""
    """Without /v1."""
    suite: str = ""
    """The suite most of its tasks are of."""
    tasks: tuple[str, ...] = ()
    """Of that suite, by name."""
    size: str = ""
    has_gate: bool = False


class RecipeDraft(FrozenModel):
    """A recipe for the form, and what has to be given or done before it can work."""

    name: str
    recipe: JsonObject
    seeds: int
    """Of each task at the gate."""
    missing: tuple[Missing, ...]


def draft_recipe(pool: PoolFacts) -> RecipeDraft:
    """Imitation of what passes in each cycle, as much new as earlier, beside the policy's own successes at earlier
    gates; tried on seeds of the pool's tasks, which no cycle has tried where each makes another page.
    Continual pre-training and reinforcement are off: they need general data, and machines that play."""
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
