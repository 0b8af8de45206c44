"""Two real processes that share a policy and its critic take the steps one would, and go on bit for bit."""

import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch

from protocol.training.inbox import PROCESSED_FOLDER
from tests.trainer.programs import run_trainer
from tests.trainer.test_distributed import lines, weights
from trainer.__main__ import COMMANDS
from trainer.algorithms import ppo
from trainer.model.checkpoints import STATE, load_checkpoint
from trainer.model.critic import HEAD, load_critic
from trainer.runtime.distributed import SHARES
from trainer.toy.rollouts import play_lights

LAST = "update-000002"
COMMON = ("checkpoint", "out", "learning_rate", "warmup", "vision", "sequences", "tokens")
ROUNDS: dict[str, Any] = {"updates": 2, "attempts": 3, "kl": 0.01, "tokens": 160}
"""With three attempts an update has sequences that two processes cannot share evenly."""
LEARNING: dict[str, dict[str, Any]] = {
    "ppo": {"critic_learning_rate": 3e-3, "alpha": 0.5},
    "grpo": {"scale": False},
    "value": {"updates": 2, "keep_every": 1, "look_every": 1, "held_out": 0.4, "seed": 1},
}

Settings = Callable[[str, str], dict[str, Any]]


@pytest.fixture
def settings(told: Callable[..., dict[str, Any]], tmp_path: Path) -> Settings:
    """Settings of a run of this command and name, whose attempts wait in a folder of its own."""

    def make(command: str, name: str) -> dict[str, Any]:
        rounds = ROUNDS | ({"attempts": 12} if command == "value" else {"group": 3})
        config = ppo.Config(**told(**rounds, out=tmp_path / name, inbox=tmp_path / f"{name}-inbox"))
        config.inbox.mkdir()
        for update in (1,) if command == "value" else (1, 2):
            play_lights(load_checkpoint(config.checkpoint), config, update)
        given = config.model_dump(mode="json", exclude_unset=True) | {"world": "inbox"}
        if command == "value":
            given = {field: given[field] for field in COMMON} | {"folders": [str(config.inbox)]}
        return given | LEARNING[command]

    return make


def apart(one: Path, other: Path) -> float:
    """How far the weights of a model are from another's; a critic's head from zeros, where the other has none."""
    first, second = (_all(folder) for folder in (one, other))
    return float(torch.cat([(first[name] - second.get(name, 0)).flatten() for name in first]).norm())


def _all(folder: Path) -> dict[str, torch.Tensor]:
    head = load_critic(folder).head.state_dict() if (folder / HEAD).exists() else {}
    return weights(folder) | {f"head.{name}": value for name, value in head.items()}


def of_run(folder: Path) -> list[Path]:
    """Every model that a checkpoint holds."""
    return [folder, *(one.parent for one in folder.glob(f"*/{HEAD}"))]


@pytest.mark.parametrize("command", ["ppo", "grpo", "value"])
def test_two_learn_as_one_does(command: str, settings: Settings, tmp_path: Path) -> None:
    one, two = settings(command, "one"), settings(command, "two")
    module = import_module(COMMANDS[command])
    assert module.run(module.Config.model_validate(one)) == tmp_path / "one" / LAST
    done = run_trainer(command, two, processes=2)
    assert done.stdout == f"{tmp_path / 'two' / LAST}\n", done.stderr
    for first, second in zip(lines(tmp_path / "one"), lines(tmp_path / "two"), strict=True):
        assert first.keys() == second.keys()
        assert second == pytest.approx(first, rel=1e-3, abs=1e-4), "the same figures from the same attempts"
    by_one, by_two = tmp_path / "one" / LAST, tmp_path / "two" / LAST
    for model, same in zip(of_run(by_one), of_run(by_two), strict=True):
        assert apart(model, same) < 1e-2 * apart(model, Path(one["checkpoint"])), "but for what rounding does"
        assert len([*(same / SHARES).glob("*.distcp")]) == 2, "each process has kept its share of the optimiser"

    ended = tmp_path / "ended"
    shutil.copytree(tmp_path / "two", ended)
    shutil.rmtree(ended / LAST)
    if command != "value":
        inbox = Path(two["inbox"])
        (inbox / PROCESSED_FOLDER / "played-000002").rename(inbox / "played-000002")
    again = run_trainer(command, {**two, "out": str(ended), "recompute": True}, processes=2)
    assert again.stdout == f"{ended / LAST}\n", again.stderr
    for model, same in zip(of_run(by_two), of_run(ended / LAST), strict=True):
        assert apart(model, same) == 0
    assert lines(ended) == lines(tmp_path / "two")
    assert (ended / LAST / STATE).read_text() == (by_two / STATE).read_text()


def test_all_of_them_hear_that_nothing_came(settings: Settings, tmp_path: Path) -> None:
    given = settings("ppo", "none") | {"inbox": str(tmp_path / "empty"), "patience": 0.1}
    done = run_trainer("ppo", given, processes=2)
    assert done.returncode != 0
    assert done.stderr.count("rollouts_missing: 0 of 3 attempts") == 2
