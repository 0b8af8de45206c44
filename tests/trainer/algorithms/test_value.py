"""A critic learns what attempts came to, is asked about others, and stops when it gets no better."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from protocol.trajectory.observations import Verdict
from protocol.trajectory.proposals import WeightSpan
from tests.trainer.examples import accepted, read, sample, write_attempt_folder
from trainer.__main__ import main
from trainer.algorithms.value import (
    Config,
    build_value_examples,
    is_done,
    measure_explained_variance,
    read_attempts_for_value,
    run,
)
from trainer.data.batches import is_held_out
from trainer.data.rendering import Renderer
from trainer.errors import AttemptUnusable, NothingToLearn
from trainer.model.checkpoints import Checkpoint
from trainer.model.critic import HEAD, load_critic
from trainer.rl.attempts import Attempt
from trainer.runtime.metrics import LOG
from trainer.serve.prompt_encoder import PromptEncoder

QUICK: dict[str, Any] = {
    **{"folders": ("none",), "updates": 6, "sequences": 2, "tokens": 512, "learning_rate": 3e-3, "warmup": 2},
    **{"keep_every": 3, "seed": 19, "held_out": 0.4, "look_every": 2, "patience": 100},
}


def config_of(checkpoint: Checkpoint, out: Path, **more: Any) -> Config:
    return Config.model_validate({"checkpoint": checkpoint.path, "out": out, **QUICK, **more})


def attempts(_: Config, checkpoint: Checkpoint) -> list[Attempt]:
    """Ten of two steps each, of two sorts: what is asked and shown tells which one succeeds."""
    renderer = Renderer(checkpoint, context=256)
    made = []
    for number in range(10):
        steps = tuple(
            replace(one, index=index, actor="policy", logprobs=(-1.0,) * sum(one.mask))
            for index in range(2)
            for one in [renderer.render_sample(sample(number % 2, target=f"click({index})"), read)]
        )
        ending = float(number % 2)
        made.append(Attempt(f"a{number}", "t", steps, (0.0, ending), True, bool(ending), ("v1",), 2, 1.0))
    return made


def log(out: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (out / LOG).read_text().splitlines()]


def test_a_critic_learns_what_attempts_come_to_and_stops(checkpoint: Checkpoint, tmp_path: Path) -> None:
    config = config_of(checkpoint, tmp_path, updates=120, keep_every=120)
    last = run(config, attempts)
    told = log(tmp_path)
    looks = [line["explained_variance"] for line in told if "explained_variance" in line]
    assert looks[-1] >= config.enough
    assert len(told) < 120, "it was done before"
    assert last.name == f"update-{len(told):06}"
    critic = load_critic(last)
    assert (last / HEAD).exists()
    questions = build_value_examples(
        [one for one in attempts(config, checkpoint) if is_held_out(one.id, seed=config.seed, share=config.held_out)]
    )
    assert measure_explained_variance(critic, questions, 512) == pytest.approx(looks[-1], abs=1e-4)
    assert run(config, attempts) == last, "what is done is not done again"
    assert len(log(tmp_path)) == len(told)


def test_a_run_that_was_ended_goes_on_bit_for_bit(checkpoint: Checkpoint, tmp_path: Path) -> None:
    whole = run(config_of(checkpoint, tmp_path / "whole"), attempts)
    run(config_of(checkpoint, tmp_path / "ended", updates=3), attempts)
    ended = run(config_of(checkpoint, tmp_path / "ended"), attempts)
    first, second = (load_critic(folder) for folder in (whole, ended))
    assert torch.equal(first.head.weight, second.head.weight)
    states = [one.checkpoint.model.state_dict() for one in (first, second)]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    assert [{**line, "seconds": 0} for line in log(tmp_path / "whole")] == [
        {**line, "seconds": 0} for line in log(tmp_path / "ended")
    ]


def test_targets_are_what_an_attempt_came_to_from_there_on(checkpoint: Checkpoint) -> None:
    one = attempts(config_of(checkpoint, Path("none")), checkpoint)[1]
    early = replace(one, rewards=(0.5, 1.0))
    first, second = build_value_examples([early])
    assert first.targets.tolist() == [1.5] * sum(one.steps[0].mask)
    assert second.targets.tolist() == [1.0] * sum(one.steps[1].mask)
    cut = replace(one, terminated=False, rewards=(0.0, -0.25))
    assert {value for lesson in build_value_examples([cut]) for value in lesson.targets.tolist()} == {-0.25}
    person = replace(one, steps=(one.steps[0], replace(one.steps[1], logprobs=None, actor="human")))
    (lesson,) = build_value_examples([person])
    assert lesson.sample.index == 0
    assert set(lesson.targets.tolist()) == {1.0}, "the policy's last token has what came after it"


@pytest.mark.parametrize(
    ("looks", "done"),
    [
        ([], False),
        ([0.1, 0.2, 0.3], False),
        ([0.96], True),
        ([0.5, 0.4, 0.505], True),
        ([0.5, 0.4, 0.52], False),
        ([0.4, 0.5], False),
    ],
)
def test_it_is_done_when_it_explains_enough_or_no_more(checkpoint: Checkpoint, looks: list[float], done: bool) -> None:
    assert is_done(looks, config_of(checkpoint, Path("none"), patience=2)) is done


def test_attempts_that_tell_nothing_are_refused(checkpoint: Checkpoint, tmp_path: Path) -> None:
    with pytest.raises(NothingToLearn):
        run(config_of(checkpoint, tmp_path), lambda config, loaded: attempts(config, loaded)[:1])
    with pytest.raises(NothingToLearn, match="same"):
        run(config_of(checkpoint, tmp_path), lambda config, loaded: attempts(config, loaded)[::2])
    assert not list(tmp_path.glob("update-*"))


def folder_of(checkpoint: Checkpoint, path: Path, name: str, version: str, success: bool | None) -> Path:
    reader = PromptEncoder(checkpoint, max_images=5, context=16_384)
    whole = accepted(reader, weight_versions=(WeightSpan(version=version),))
    verdict = None if success is None else Verdict(success=success, score=float(success))
    told = {"id": name, "verdict": verdict, "outcome": None}
    return write_attempt_folder(path / name, whole.model_copy(update=told))


def test_folders_are_read_and_what_nobody_judged_is_left_out(
    checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, third, fourth = (
        folder_of(checkpoint, tmp_path, name, version, success)
        for name, version, success in (("a", "1", True), ("b", "1", None), ("c", "2", False), ("d", "1", False))
    )
    told = {"tokens": 16_384, "out": tmp_path / "run"}
    config = config_of(checkpoint, tmp_path / "run").model_copy(update={**told, "folders": (first, second, fourth)})
    assert [one.success for one in read_attempts_for_value(config, checkpoint)] == [True, False]
    assert '{"samples": 2, "left_out": {"attempt_unjudged": 1}}' in capsys.readouterr().err
    with pytest.raises(AttemptUnusable, match="1, 2"):
        read_attempts_for_value(config.model_copy(update={"folders": (first, third)}), checkpoint)
    words = [f"checkpoint={checkpoint.path}", f"out={tmp_path / 'run'}", "tokens=16384"]
    words.append(f'folders=["{first}", "{third}"]')
    assert main(["value", *(word for one in words for word in ("--set", one))]) == 1
    assert "attempt_unusable: a value is of one policy" in capsys.readouterr().err
