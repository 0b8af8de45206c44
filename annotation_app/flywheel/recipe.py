"""How a wheel turns: what it collects, from when on a sample passes, what is trained, and what is tried at the gate."""

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
"""A file or folder of the machine that trains."""
Share = Annotated[float, Field(ge=0, le=1)]


class GeneralData(FrozenModel):
    """Data that is not of this platform: documents or conversations, as `trainer ct` reads them."""

    kind: Literal["documents", "chats"]
    paths: Annotated[tuple[PathText, ...], Field(min_length=1, max_length=20)]


class MixShares(FrozenModel):
    """Of which tokens something is trained: what this turn brought, what earlier turns brought, what reinforcement of
    earlier turns played with success, general data."""

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
        """The `sources` of `trainer ct`; a source that holds nothing gives its share to the others. Empty where no
        trajectory is among them: general data alone is no turn."""
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
    """A model server's address as it is compared: without /v1."""
    return address.lower().rstrip("/").removesuffix("/v1").rstrip("/")


OWN_SETTINGS = frozenset(
    {"checkpoint", "out", "updates", "sources", "folders", "inbox", "dialect", "prompt", "attempts"}
)
"""What the cycle itself tells the trainer."""


def _trainer_settings(settings: JsonObject) -> JsonObject:
    if taken := sorted(OWN_SETTINGS.intersection(settings)):
        raise ValueError(f"the cycle itself sets {', '.join(taken)}")
    return settings


TrainerSettings = Annotated[JsonObject, AfterValidator(_trainer_settings)]


class LikelihoodTraining(FrozenModel):
    """One training by likelihood: how long, of which mix, and the trainer's other settings."""

    by: Literal["ct", "nano"] = "ct"
    """The trainer's command: `ct` learns the words of whoever acted; `nano`, the bundled policy's own stage, learns the
    acts and says what that policy says of them, beside screens that it draws itself."""
    updates: Annotated[int, Field(ge=1, le=1_000_000)]
    shares: MixShares
    every: Annotated[int, Field(ge=1, le=1_000)] = 1
    """In every which turn it is done."""
    corrections: Weighting = "none"
    """How people's corrections weigh beside steps of the policy that they accepted. interventions: as much as all else
    (IWR); shares: half of all, steps that led to one next to nothing (Sirius); classes: ten times as much, steps that
    led to one a tenth."""
    settings: TrainerSettings = {}

    @model_validator(mode="after")
    def _mixable(self) -> "LikelihoodTraining":
        if self.by == "nano" and self.shares.general > 0:
            raise ValueError("the nano policy's own stage mixes no general data in: its share is 0")
        return self


class PreferenceTraining(FrozenModel):
    """Training by what people preferred: what was done above the candidates that they corrected, and above or below
    those that they marked. It begins with the weights that imitation made, and learns from the trajectories that may be
    imitated."""

    algorithm: Literal["dpo", "kto"] = "dpo"
    """`dpo` compares two replies at one step; `kto` takes each reply as good or bad."""
    updates: Annotated[int, Field(ge=1, le=1_000_000)]
    every: Annotated[int, Field(ge=1, le=1_000)] = 1
    """In every which turn it is done."""
    choices: Annotated[tuple[PreferenceSource, ...], Field(min_length=1, max_length=4)] = (
        "override",
        "takeover",
        "mark",
    )
    """What a preference follows from. To accept one candidate says little against the others."""
    earlier: bool = True
    """Whether what people preferred in earlier turns is learned from again."""
    settings: TrainerSettings = {}


class RolloutSettings(FrozenModel):
    """Attempts on the bridge's machines: at the kinds of task that are worth playing, of a suite or of a pool."""

    source: Literal["suite", "pool"] = "suite"
    """`pool`: a pool's tasks, on the pool's machines, whatever they are made of."""
    suite: Annotated[str, StringConstraints(max_length=100, pattern=r"^[a-z0-9_-]*$")] = ""
    levels: Annotated[tuple[Annotated[int, Field(ge=1, le=100)], ...], Field(max_length=20)] = ()
    """Of the suite's tasks; none: every level."""
    pool: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100, pattern=r"^[^\x00-\x1f]*$")] = ""
    """Whose tasks are played, by name; empty: the flywheel's own pool."""
    first_seed: Annotated[int, Field(ge=0)] = 0
    pages: Annotated[int, Field(ge=1, le=1_000_000)]
    """How many seeds there are to play at; updates go through them, and after the last the first comes again."""
    seeds: Annotated[int, Field(ge=1, le=10_000)] = 8
    """Of each task, in an update; `pages` is a multiple of it."""
    group: Annotated[int, Field(ge=1, le=64)] = 1
    """Attempts at each page; GRPO compares them, so it needs some."""
    parallel: Annotated[int, Field(ge=1, le=64)] = 1
    judges: bool = False
    """Whether the pool's judges decide rewards where a task has no verifier."""
    ahead: Annotated[int, Field(ge=0, le=4)] = 1
    """How many updates may be played beyond the one that the trainer learns or waits for; 0: they take turns.
    Apart from attempts that take long, the weights that played are at most so many updates old when it learns."""
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
        """Those of these kinds of task that are the suite's, at the levels that are played."""
        own = (kind for kind in dict.fromkeys(kinds) if kind.startswith(f"{self.suite}/"))
        return tuple(kind for kind in own if not self.levels or kind_level(kind) in self.levels)


class ReinforcementTraining(FrozenModel):
    """Training by reward: at what `play` says, or, with `world` `lights` in the settings, the trainer plays by itself;
    else players of somebody's own fill its inbox."""

    algorithm: Literal["ppo", "grpo"] = "grpo"
    updates: Annotated[int, Field(ge=1, le=1_000_000)]
    every: Annotated[int, Field(ge=1, le=1_000)] = 1
    between: tuple[Share, Share] = (0.1, 0.9)
    """A task is worth playing where the active revision's success rate lies between these."""
    attempts: Annotated[int, Field(ge=1)] = 1
    """How many attempts must be known for a rate."""
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
    """Imitation apart for each pool, from the same weights; at the end the weights are interpolated."""

    weights: Literal["equal", "samples"] = "equal"
    """How much of each specialist is merged: the same, or by its number of new samples."""


SEEDED_SUITES = frozenset({"drills", "games", "made_games", "sites"})
"""Suites whose seeds each make another page, as many as one likes. A seed of the desktop, phone and terminal suites is
one more attempt at the same task, MiniWoB++ has 200 seeds, and 50 seeds of `questions` share a wiki."""


class GateTrials(FrozenModel):
    """What a candidate and the active revision try at the gate, with the same seeds: tasks of the bridge's suites or of
    a file, or the trainer's toy world."""

    world: Literal["bridge", "toy"]
    suite: Annotated[str, StringConstraints(max_length=100, pattern=r"^[a-z0-9_-]*$")] = ""
    tasks: tuple[Annotated[str, StringConstraints(max_length=100, pattern=r"^[a-z0-9_-]+$")], ...] = ()
    """Of the suite or the source, by name; none: all of them."""
    source: Annotated[str, StringConstraints(max_length=500, pattern=r"^[^\x00-\x1f]*$")] = ""
    """In place of the suite: a file, a folder or an archive of tasks, where the cycle runs.

    See docs/guides/researcher/tasks.md."""
    image: Annotated[str, StringConstraints(max_length=100, pattern=r"^[a-z0-9_.:-]*$")] = ""
    """The machines of a source; empty: those of its tasks' platforms."""
    first_seed: Annotated[int, Field(ge=0)] = 1_000_000
    seeds: Annotated[int, Field(ge=1, le=10_000)] = 20
    fresh_pages: bool = False
    """Whether each cycle tries the seeds after those that earlier cycles tried, of a suite whose seeds make other
    pages. No page is tried in two cycles then, so later cycles may learn from the attempts at it. Else all cycles try
    the same pages, and compare, unless one has had fresh pages."""
    parallel: Annotated[int, Field(ge=1, le=64)] = 1
    threads: Annotated[int, Field(ge=1, le=256)] = 1
    """Of the processor, for the server of who tries: several wait for each other where much else is running."""
    size: Annotated[str, StringConstraints(pattern=r"^(\d{2,4}x\d{2,4})?$")] = ""
    temperature: Annotated[float, Field(ge=0, le=2)] = 1.0

    @property
    def seeded_suite(self) -> str:
        """The suite that is tried, as its tasks name it, where each of its seeds makes another page; else empty."""
        suite = "toy" if self.world == "toy" else self.suite
        return suite if suite == "toy" or suite in SEEDED_SUITES else ""

    @property
    def tries_fresh_pages(self) -> bool:
        """Whether each cycle's gate has pages of its own, so that later cycles may learn from the attempts."""
        return self.fresh_pages and self.seeded_suite != ""

    def after(self, earlier: Sequence["GateTrials"], learned: int = 0) -> "GateTrials":
        """What the next gate of a flywheel tries. Once one of its gates had fresh pages, each begins behind all seeds
        of the suite that earlier gates tried and behind those that cycles learned from, whose end is `learned`: an
        earlier setting may have let any of them be learned from."""
        stepping = any(one.tries_fresh_pages for one in (self, *earlier))
        first = self.first_seed
        if stepping and self.seeded_suite:
            ends = (one.first_seed + one.seeds for one in earlier if one.seeded_suite == self.seeded_suite)
            first = max(first, learned, *ends, 0)
        return self.model_copy(update={"first_seed": first, "fresh_pages": self.tries_fresh_pages})

    def holds(self, suite: str | None, seed: int | None) -> bool:
        """Whether an attempt was at a page of the gate, or at one that a later cycle's gate will try: it is not learned
        from."""
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
    """A running model server that is given the weights which play or are tried, one set after the other."""

    url: Address
    """With or without /v1. It lets its weights be changed, and finds the turns' folders where the turn does."""
    model: ModelName
    """What it calls the model."""


class Recipe(FrozenModel):
    """All a turn is told."""

    policy: Name
    """Whose revisions it makes; the pool's active one is where it begins."""
    pools: Annotated[tuple[PoolName, ...], Field(max_length=20)] = ()
    """Further pools whose trajectories are learned from, by name. A revision is promoted in all of these pools that the
    policy proposes in, or in none."""
    specialists: Specialists | None = None
    """Whether each pool's imitation is trained apart; none: one training learns from all pools."""
    dialect: DialectName = "ui_tars_1_5"
    start: PathText
    """The checkpoint where the active revision names none."""
    most: Annotated[int, Field(ge=1, le=100_000)] = 5_000
    """Trajectories of a turn."""
    least: Annotated[int, Field(ge=0, le=100_000)] = 1
    """With fewer new ones the clock begins no turn."""
    accepted_only: bool = False
    """Whether a reviewer must have accepted what is collected."""
    replay: bool = False
    """Whether each trajectory that nobody has checked is done again on a machine."""
    judge: bool = False
    """Whether the pool's judges are asked about what they have not judged."""
    passes: Share = 0.5
    """The value from which on a sample is worth imitating."""
    general: dict[str, GeneralData] = {}
    ct: LikelihoodTraining | None = None
    sft: LikelihoodTraining | None = None
    preferences: PreferenceTraining | None = None
    rl: ReinforcementTraining | None = None
    trials: GateTrials
    serving: ServingSettings | None = None
    """Who answers for what plays and is tried; none: a server on the processor, which the turn begins."""
    server: Annotated[str, StringConstraints(max_length=500, pattern=r"^(https?://[^\x00-\x20]+)?$")] = ""
    """The policy server that is given the new weights, without /v1; empty: somebody else sees to that."""
    activate: bool = True
    """Whether a revision that passes the pool's gate proposes at once."""

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
