"""The recipe of a flywheel: what it collects, when a sample passes, what is trained, and what the gate tries."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from annotation_app.exports.schemas import DialectName
from annotation_app.policies.schemas import Address, ModelName, Name
from protocol.base import FrozenModel, JsonObject
from protocol.training.preferences import PreferenceSource
from protocol.trajectory.tasks import kind_level

Weighting = Literal["none", "interventions", "shares", "classes"]
PoolName = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f]+$")
]
PathText = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f]+$")]
"""A file or folder on the training machine."""
Share = Annotated[float, Field(ge=0, le=1)]


class GeneralData(FrozenModel):
    """Data from outside this platform: documents or conversations, as `trainer ct` reads them."""

    kind: Literal["documents", "chats"]
    paths: Annotated[tuple[PathText, ...], Field(min_length=1, max_length=20)]


class MixShares(FrozenModel):
    """The shares of tokens in a training: new samples of this cycle, samples of earlier cycles, successful
    reinforcement attempts of earlier cycles, general data."""

    fresh: Share
    earlier: Share
    own: Share = 0.0
    general: Share

    def sources(
        self,
        *,
        fresh: Sequence[Path] = (),
        earlier: Sequence[Path] = (),
        own: Sequence[Path] = (),
        general: Mapping[str, GeneralData],
    ) -> dict[str, Any]:
        """The `sources` of `trainer ct`. An empty source gives its share to the others. Empty if no trajectory is among
        them, because a cycle needs more than general data."""
        agent = {
            name: {"kind": "trajectories", "paths": [*map(str, folders)], "share": share}
            for name, folders, share in (
                ("fresh", fresh, self.fresh),
                ("earlier", earlier, self.earlier),
                ("own", own, self.own),
            )
            if folders and share > 0
        }
        if not agent:
            return {}
        each = self.general / len(general) if general else 0.0
        background = {
            f"general/{name}": {"kind": one.kind, "paths": list(one.paths), "share": each}
            for name, one in general.items()
        }
        return agent | (background if each > 0 else {})


def server_root(address: str) -> str:
    """A model server's address in the form for comparison: without /v1."""
    return address.lower().rstrip("/").removesuffix("/v1").rstrip("/")


OWN_SETTINGS = frozenset(
    {"checkpoint", "out", "updates", "sources", "folders", "inbox", "dialect", "prompt", "attempts"}
)
"""Settings that the cycle itself passes to the trainer."""


def _trainer_settings(settings: JsonObject) -> JsonObject:
    if taken := sorted(OWN_SETTINGS.intersection(settings)):
        raise ValueError(f"the cycle itself sets {', '.join(taken)}")
    return settings


TrainerSettings = Annotated[JsonObject, AfterValidator(_trainer_settings)]


class LikelihoodTraining(FrozenModel):
    """One likelihood training: its length, its mix, and other trainer settings."""

    by: Literal["ct", "nano"] = "ct"
    """The trainer's command. `ct` learns the actor's words. `nano`, the bundled policy's own stage, learns the acts in
    that policy's wording, together with screens that it draws itself."""
    updates: Annotated[int, Field(ge=1, le=1_000_000)]
    shares: MixShares
    every: Annotated[int, Field(ge=1, le=1_000)] = 1
    """It runs in every nth cycle."""
    corrections: Weighting = "none"
    """How people's corrections are weighted against policy steps that they accepted. interventions: as much as
    everything else (IWR). shares: half of the total, steps that led to one almost nothing (Sirius). classes: ten times
    as much, steps that led to one a tenth."""
    settings: TrainerSettings = {}

    @model_validator(mode="after")
    def _mixable(self) -> "LikelihoodTraining":
        if self.by == "nano" and self.shares.general > 0:
            raise ValueError("the nano policy's own stage mixes no general data in: its share is 0")
        return self


class PreferenceTraining(FrozenModel):
    """Preference training: executed actions are preferred to the candidates that people corrected, and ranked above or
    below the candidates that they marked. It starts from the weights of imitation, and learns from trajectories that
    may be imitated."""

    algorithm: Literal["dpo", "kto"] = "dpo"
    """`dpo` compares two replies at one step; `kto` treats each reply as good or bad."""
    updates: Annotated[int, Field(ge=1, le=1_000_000)]
    every: Annotated[int, Field(ge=1, le=1_000)] = 1
    """It runs in every nth cycle."""
    choices: Annotated[tuple[PreferenceSource, ...], Field(min_length=1, max_length=4)] = (
        "override",
        "takeover",
        "mark",
    )
    """The decisions that express a preference. Accepting one candidate says little against the others."""
    earlier: bool = True
    """Whether to learn again from preferences of earlier cycles."""
    settings: TrainerSettings = {}


class RolloutSettings(FrozenModel):
    """Attempts on the bridge's machines, at kinds of task of a suite or a pool that are worth playing."""

    source: Literal["suite", "pool"] = "suite"
    """`pool`: a pool's tasks on the pool's machines, of any kind."""
    suite: Annotated[str, StringConstraints(max_length=100, pattern=r"^[a-z0-9_-]*$")] = ""
    levels: Annotated[tuple[Annotated[int, Field(ge=1, le=100)], ...], Field(max_length=20)] = ()
    """Levels of the suite's tasks; none: every level."""
    pool: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100, pattern=r"^[^\x00-\x1f]*$")] = ""
    """The pool whose tasks are played, by name; empty: the flywheel's own pool."""
    first_seed: Annotated[int, Field(ge=0)] = 0
    pages: Annotated[int, Field(ge=1, le=1_000_000)]
    """The number of seeds to play. Updates iterate over them and wrap around."""
    seeds: Annotated[int, Field(ge=1, le=10_000)] = 8
    """Pages of each task in an update; `pages` is a multiple of it."""
    group: Annotated[int, Field(ge=1, le=64)] = 1
    """Attempts at each page. GRPO compares them, so it needs several."""
    parallel: Annotated[int, Field(ge=1, le=64)] = 1
    judges: bool = False
    """Whether the pool's judges decide rewards for tasks without a verifier."""
    ahead: Annotated[int, Field(ge=0, le=4)] = 1
    """How many updates play may run ahead of the trainer; 0: they alternate. Except for long attempts, the weights that
    played are at most this many updates old at training time."""
    threads: Annotated[int, Field(ge=1, le=256)] = 1
    size: Annotated[str, StringConstraints(pattern=r"^(\d{2,4}x\d{2,4})?$")] = ""

    @model_validator(mode="after")
    def _divides(self) -> "RolloutSettings":
        if self.pages % self.seeds:
            raise ValueError("`pages` is a multiple of `seeds`")
        if (self.source == "suite") != bool(self.suite):
            raise ValueError("`suite` names whose tasks are played, unless `source` is `pool`")
        if self.source == "pool" and (self.size or self.levels):
            raise ValueError("the tasks of a pool have their own `size` and `levels`")
        if self.source == "suite" and self.pool:
            raise ValueError("`pool` is for the `source` `pool`")
        return self

    def suite_kinds(self, kinds: Sequence[str]) -> tuple[str, ...]:
        """The kinds among these that belong to the suite, at the levels that are played."""
        own = (kind for kind in dict.fromkeys(kinds) if kind.startswith(f"{self.suite}/"))
        return tuple(kind for kind in own if not self.levels or kind_level(kind) in self.levels)


class ReinforcementTraining(FrozenModel):
    """Reinforcement training: on what `play` specifies, or, with `world` `lights` in the settings, the trainer plays by
    itself. Otherwise external players fill its inbox."""

    algorithm: Literal["ppo", "grpo"] = "grpo"
    updates: Annotated[int, Field(ge=1, le=1_000_000)]
    every: Annotated[int, Field(ge=1, le=1_000)] = 1
    between: tuple[Share, Share] = (0.1, 0.9)
    """A task is worth playing if the active revision's success rate is between these."""
    attempts: Annotated[int, Field(ge=1)] = 1
    """How many attempts a rate needs."""
    play: RolloutSettings | None = None
    settings: JsonObject = {}

    @model_validator(mode="after")
    def _in_order(self) -> "ReinforcementTraining":
        if self.play is not None and self.algorithm == "grpo" and self.play.group < 2:
            raise ValueError("grpo compares attempts at the same page: the `group` of `play` is at least 2")
        if self.between[0] > self.between[1]:
            raise ValueError("the lower bound of `between` is above the upper one")
        return self


class Specialists(FrozenModel):
    """Separate imitation for each pool, from the same weights. The resulting weights are interpolated."""

    weights: Literal["equal", "samples"] = "equal"
    """Merge weight of each specialist: equal, or by its number of new samples."""


SEEDED_SUITES = frozenset({"drills", "games", "made_games", "sites"})
"""Suites in which each seed makes another page, without limit. In desktop, phone and terminal suites a seed is one more
attempt at the same task. MiniWoB++ has 200 seeds, and 50 seeds of `questions` share a wiki."""


class GateTrials(FrozenModel):
    """What the candidate and the active revision try at the gate, with the same seeds: tasks of the bridge's suites or
    of a file, or the trainer's toy world."""

    world: Literal["bridge", "toy"]
    suite: Annotated[str, StringConstraints(max_length=100, pattern=r"^[a-z0-9_-]*$")] = ""
    tasks: tuple[Annotated[str, StringConstraints(max_length=100, pattern=r"^[a-z0-9_-]+$")], ...] = ()
    """Tasks of the suite or the source, by name; none: all of them."""
    source: Annotated[str, StringConstraints(max_length=500, pattern=r"^[^\x00-\x1f]*$")] = ""
    """In place of the suite: a file, a folder or an archive of tasks on the machine that runs the cycle.

    See docs/guides/researcher/tasks.md."""
    image: Annotated[str, StringConstraints(max_length=100, pattern=r"^[a-z0-9_.:-]*$")] = ""
    """The machine image for a source; empty: chosen by its tasks' platforms."""
    first_seed: Annotated[int, Field(ge=0)] = 1_000_000
    seeds: Annotated[int, Field(ge=1, le=10_000)] = 20
    fresh_pages: bool = False
    """Whether each cycle tries the seeds after those of earlier cycles, in a suite whose seeds make other pages. Then
    no page is tried in two cycles, and later cycles may learn from the attempts at it. Otherwise all cycles try the
    same pages and can be compared, unless one had fresh pages."""
    parallel: Annotated[int, Field(ge=1, le=64)] = 1
    threads: Annotated[int, Field(ge=1, le=256)] = 1
    """CPU threads of the server for the weights that are tried. Several slow each other down on a busy machine."""
    size: Annotated[str, StringConstraints(pattern=r"^(\d{2,4}x\d{2,4})?$")] = ""
    temperature: Annotated[float, Field(ge=0, le=2)] = 1.0

    @property
    def seeded_suite(self) -> str:
        """The suite that is tried, as its tasks name it, if each of its seeds makes another page; else empty."""
        suite = "toy" if self.world == "toy" else self.suite
        return suite if suite == "toy" or suite in SEEDED_SUITES else ""

    @property
    def tries_fresh_pages(self) -> bool:
        """Whether each cycle's gate has pages of its own, so that later cycles may learn from the attempts."""
        return self.fresh_pages and self.seeded_suite != ""

    def after(self, earlier: Sequence["GateTrials"], learned: int = 0) -> "GateTrials":
        """The trials of a flywheel's next gate. Once one of its gates had fresh pages, each begins after all seeds of
        the suite that earlier gates tried, and after those that cycles learned from, whose end is `learned`. Earlier
        settings may have permitted learning from any of them."""
        stepping = any(one.tries_fresh_pages for one in (self, *earlier))
        first = self.first_seed
        if stepping and self.seeded_suite:
            ends = (one.first_seed + one.seeds for one in earlier if one.seeded_suite == self.seeded_suite)
            first = max(first, learned, *ends, 0)
        return self.model_copy(update={"first_seed": first, "fresh_pages": self.tries_fresh_pages})

    def holds(self, suite: str | None, seed: int | None) -> bool:
        """Whether an attempt was at a page of the gate, or at one that a later cycle's gate will try. It is then
        excluded from training."""
        of = "toy" if self.world == "toy" else self.suite
        if not of or suite != of or seed is None or seed < self.first_seed:
            return False
        return self.fresh_pages or seed < self.first_seed + self.seeds

    @model_validator(mode="after")
    def _has_one_source(self) -> "GateTrials":
        if self.source and (self.world == "toy" or self.suite or self.size):
            raise ValueError("`source` is in place of `suite` and `size`, on the bridge's machines")
        if self.image and not self.source:
            raise ValueError("`image` is for the tasks of a `source`")
        if self.source and self.fresh_pages:
            raise ValueError("the tasks of a `source` are the same in each cycle: `fresh_pages` is for seeds")
        return self


class ServingSettings(FrozenModel):
    """A running model server into which the weights that play or are tried are loaded, one set after the other."""

    url: Address
    """With or without /v1. It permits changing its weights, and sees the cycles' folders at the same paths as the
    cycle."""
    model: ModelName
    """Its name for the model."""


class Recipe(FrozenModel):
    """All settings of a cycle."""

    policy: Name
    """The policy whose revisions it makes. The pool's active revision is the starting point."""
    pools: Annotated[tuple[PoolName, ...], Field(max_length=20)] = ()
    """Further pools whose trajectories are learned from, by name. A revision is promoted in all of these pools where
    the policy proposes, or in none."""
    specialists: Specialists | None = None
    """Settings for separate imitation of each pool; none: one training learns from all pools."""
    dialect: DialectName = "ui_tars_1_5"
    start: PathText
    """The initial checkpoint if the active revision names none."""
    most: Annotated[int, Field(ge=1, le=100_000)] = 5_000
    """Most trajectories in a cycle."""
    least: Annotated[int, Field(ge=0, le=100_000)] = 1
    """With fewer new ones the schedule starts no cycle."""
    accepted_only: bool = False
    """Whether only work that a reviewer accepted is collected."""
    replay: bool = False
    """Whether each unchecked trajectory is replayed on a machine."""
    judge: bool = False
    """Whether the pool's judges are run on what they have not judged."""
    passes: Share = 0.5
    """The lowest value of a sample for imitation."""
    general: dict[str, GeneralData] = {}
    ct: LikelihoodTraining | None = None
    sft: LikelihoodTraining | None = None
    preferences: PreferenceTraining | None = None
    rl: ReinforcementTraining | None = None
    trials: GateTrials
    serving: ServingSettings | None = None
    """The server of what plays and is tried; none: a server on the CPU, which the cycle starts."""
    server: Annotated[str, StringConstraints(max_length=500, pattern=r"^(https?://[^\x00-\x20]+)?$")] = ""
    """The policy server into which new weights are loaded, without /v1; empty: this is done outside the flywheel."""
    activate: bool = True
    """Whether a revision that passes the pool's gate is activated at once."""

    @model_validator(mode="after")
    def _trains(self) -> "Recipe":
        if (self.ct, self.sft, self.preferences, self.rl) == (None, None, None, None):
            raise ValueError("a recipe trains something: ct, sft, preferences or rl")
        if self.specialists is not None and (not self.pools or self.sft is None):
            raise ValueError("`specialists` imitate apart: they need `sft` and further `pools`")
        play = self.rl.play if self.rl else None
        if self.serving is not None and self.trials.world == "toy" and play is None:
            raise ValueError("the toy world asks no server: `serving` is for the bridge's machines")
        if self.serving is not None and server_root(self.serving.url) == server_root(self.server):
            raise ValueError("the policy server answers people: what is tried needs a server of its own")
        if (
            play is not None
            and play.suite
            and any(self.trials.holds(play.suite, play.first_seed + page) for page in range(play.pages))
        ):
            raise ValueError("the pages of the gate are not played")
        return self
