"""Settings that PPO and GRPO share."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from trainer.config import DialectConfig, PackingConfig, TrainingConfig
from trainer.rl.rewards import RewardShaping


class OnPolicyConfig(TrainingConfig, PackingConfig, DialectConfig):
    """How attempts are taken in, and the settings of both algorithms."""

    world: Literal["inbox", "lights", "lights helped", "lights both"] = "inbox"
    """Who plays: others, through the inbox, or the trainer itself in its toy world, between two updates: by its screen
    alone, with a tool beside it, or half and half."""
    inbox: Path
    """Where folders of trajectories come in."""
    attempts: int = Field(default=32, ge=1)
    """An update begins when this many are there; the others stay for the next one."""
    judged_share: float = Field(default=0.5, ge=0, le=1)
    """The most that attempts whose rewards models decided may be of an update; what is beyond it waits in the inbox."""
    staleness: int = Field(default=4, ge=0)
    """By how many updates weights may be older than the newest when they drew. What older ones drew is not learned by
    the policy; attempts with nothing else are set aside."""
    patience: float = Field(default=3600.0, gt=0)
    """Seconds that are waited for attempts."""
    versions_kept: int = Field(default=3, ge=1)
    """Checkpoints of a run that stay, the newest."""
    temperature: float = Field(default=1.0, gt=0)
    """At which the policy draws; what was drawn at another is set aside."""
    shaping: RewardShaping = RewardShaping()
    """What an attempt is rewarded for."""
    epochs: int = Field(default=1, ge=1)
    """How often an update goes over its attempts."""
    clip_low: float = Field(default=0.2, gt=0, lt=1)
    """How far a token's ratio may fall before it is held."""
    clip_high: float = Field(default=0.28, gt=0)
    """How far it may rise; wider than `clip_low` it lets rare words grow (clip-higher)."""
    dual_clip: float | None = Field(default=None, gt=1)
    """Bounds the loss of tokens that were bad and became likelier."""
    correction: float | None = Field(default=2.0, ge=1)
    """The most that a token weighs for being likelier now than when it was drawn (truncated importance sampling); null
    for no correction."""
    entropy: float = Field(default=0.0, ge=0)
    """How much an undecided policy is worth."""
    kl: float = Field(default=0.0, ge=0)
    """Weight of the divergence from the weights that the run began with."""
    human: float = Field(default=1.0, ge=0)
    """Weight of the likelihood of a person's words. They were not sampled, so they have no ratio."""
    group: int = Field(default=1, ge=1)
    """Attempts at each task, where the trainer itself plays."""
