"""Attempts become flat tensors: whose tokens are whose, what can be compared, and where an attempt goes on."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from protocol.trajectory.observations import Verdict
from tests.trainer.examples import DIALECT, LOGPROBS, accepted, write_attempt_folder
from tests.unit.protocol.examples import spans
from trainer.data.inbox import AttemptBatch
from trainer.data.rendering import Renderer, TokenizedSample
from trainer.data.trajectories import open_folder
from trainer.errors import AttemptStale, AttemptUnusable
from trainer.model.checkpoints import Checkpoint
from trainer.rl.attempts import Attempt, accumulate_rewards, build_attempt, flatten_attempts, read_attempts
from trainer.rl.rewards import RewardShaping
from trainer.rl.rollout_source import check_fresh, stale_versions, version_age
from trainer.rl.training_loop import rollout_metrics
from trainer.serve.prompt_encoder import PromptEncoder

NAN = float("nan")


def step(index: int, learned: int, *, drawn: bool = True, exact: bool = True, weight: float = 1.0) -> TokenizedSample:
    mask = (False, False) + (True,) * learned
    logprobs = tuple(-0.5 - place for place in range(learned)) if drawn else None
    weights = tuple(weight * flag for flag in mask)
    return TokenizedSample(
        "a", index, "policy" if drawn else "human", (7,) * len(mask), mask, weights, (), logprobs, exact
    )


def attempt(
    *steps: TokenizedSample, terminated: bool = True, success: bool = True, rewards: tuple[float, ...] = ()
) -> Attempt:
    rewards = rewards or (0.0,) * (len(steps) - 1) + (1.0,)
    return Attempt("a", "task", steps, rewards, terminated, success, ("update-000003",), len(steps), 2.0)


def test_tokens_lie_end_to_end() -> None:
    human = step(1, 2, drawn=False, weight=3.0)
    flat = flatten_attempts(
        [attempt(step(0, 2), human), attempt(step(0, 3, exact=False), success=False, rewards=(0.5,))]
    )
    assert flat.sample_starts == (0, 2, 4)
    assert flat.rewards.tolist() == [0, 0, 0, 1, 0, 0, 0.5]
    assert flat.attempt_index.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert flat.turn.tolist() == [0, 0, 1, 1, 0, 0, 0]
    assert flat.policy_mask.tolist() == [True, True, False, False, True, True, True]
    assert flat.rollout_logprobs.isnan().tolist() == [False, False] + [True] * 5, "a person's, and inexact ones"
    assert flat.weights.tolist() == [1, 1, 3, 3, 1, 1, 1]
    assert flat.succeeded.tolist() == [1, 1, 1, 1, 0, 0, 0]
    assert flat.places([2, 0]).tolist() == [4, 5, 6, 0, 1], "as a pack of them has its tokens"


def test_some_attempts_alone_are_as_if_there_were_no_others() -> None:
    made = [
        attempt(step(0, 2), step(1, 1)),
        attempt(step(0, 3), success=False, rewards=(0.5,), terminated=False),
        attempt(step(0, 1, weight=2.0), step(1, 2, drawn=False)),
    ]
    some, expected = flatten_attempts(made).only(torch.tensor([False, True, True])), flatten_attempts(made[1:])
    assert (some.samples, some.sample_starts) == (expected.samples, expected.sample_starts)
    for name, value in vars(expected).items():
        if isinstance(value, torch.Tensor):
            assert torch.equal(getattr(some, name).nan_to_num(9), value.nan_to_num(9)), name


def test_a_policys_words_without_their_tokens_are_not_imitated() -> None:
    lost = replace(step(1, 2, drawn=False), actor="policy")
    flat = flatten_attempts([attempt(step(0, 1), lost, step(2, 1, drawn=False))])
    assert flat.weights.tolist() == [1, 0, 0, 1]
    assert (flat.weights * ~flat.policy_mask).tolist() == [0, 0, 0, 1], "only a person's words are fitted"


def test_a_reward_falls_on_the_last_step_that_was_said() -> None:
    assert accumulate_rewards([-1.0, 0.0, -0.5, 0.25, 1.0], steps=[1, 3]) == (-0.5, 1.25), (
        "before the first there is nobody"
    )
    assert accumulate_rewards([0.5, 1.0], steps=[0, 1]) == (0.5, 1.0)


def test_an_attempt_is_read_with_what_it_was_rewarded_for(checkpoint: Checkpoint, tmp_path: Path) -> None:
    renderer = Renderer(checkpoint, context=16_384)
    half = Verdict(success=False, score=0.5)
    whole = accepted(PromptEncoder(checkpoint, max_images=5, context=16_384)).model_copy(update={"verdict": half})
    folder = open_folder(write_attempt_folder(tmp_path / "folder", whole))
    (kept,) = folder.trajectories()
    one = build_attempt(kept, folder, DIALECT, renderer, RewardShaping(partial=True), 1.0)
    assert (one.rewards, one.success, one.terminated) == ((0.0, 0.5), False, True), "half of it is no success"
    assert [step.logprobs for step in one.steps] == [LOGPROBS, None]
    with pytest.raises(AttemptUnusable, match="another temperature"):
        build_attempt(kept, folder, DIALECT, renderer, RewardShaping(), 0.7)
    with pytest.raises(AttemptUnusable, match="it has no outcome"):
        build_attempt(
            kept.model_copy(update={"verdict": None, "outcome": None}), folder, DIALECT, renderer, RewardShaping(), 1.0
        )


def test_what_was_cut_off_goes_on_from_its_last_value() -> None:
    flat = flatten_attempts([attempt(step(0, 2)), attempt(step(0, 2), terminated=False)])
    rollout = flat.rollout(torch.tensor([0.1, 0.2, 0.3, 0.4]))
    assert rollout.tail.tolist() == pytest.approx([0.0, 0.4])


def test_updates_that_left_the_policy_alone_make_nothing_older() -> None:
    assert [version_age(version, 8, {}) for version in (7, 5, 0)] == [0, 2, 7]
    assert [version_age(version, 8, {"still": 5}) for version in (7, 5, 0)] == [0, 2, 2]
    assert version_age(0, 4, {"still": 5}) == 0


@pytest.mark.parametrize(
    ("versions", "reason"),
    [
        (("update-000002", "update-000003"), "update-000002, update-000003 are more than 3 updates old"),
        (("update-000006", "update-000009"), "no version"),
        (("update-000006", "s1"), "no version"),
    ],
)
def test_what_is_too_old_or_unknown_is_refused(versions: tuple[str, ...], reason: str) -> None:
    with pytest.raises(AttemptStale, match=reason):
        check_fresh(replace(attempt(step(0, 2)), versions=versions), 8, {}, 3)
    check_fresh(replace(attempt(step(0, 2)), versions=("update-000004", "update-000007")), 8, {}, 3)


def test_only_the_tokens_that_old_weights_drew_are_skipped() -> None:
    old, young = "update-000003", "update-000004"
    parted = replace(step(0, 3), weight_versions=spans(**{old: 1, young: 2}))
    one = replace(attempt(parted, replace(step(1, 1), weight_versions=spans(**{young: 1}))), versions=(old, young))
    check_fresh(one, 8, {}, 3)
    stale = stale_versions([one], 8, {}, 3)
    assert stale == {old}
    flat = flatten_attempts([one], stale)
    assert flat.rollout_logprobs.isnan().tolist() == [True, False, False, False]
    assert flat.rollout_logprobs[1:].tolist() == [-1.5, -2.5, -0.5]
    assert flat.policy_mask.all(), "credit passes through all of them"
    assert rollout_metrics(AttemptBatch((one,), (), Counter()), flat)["skipped"] == 0.25


def test_a_reply_of_two_versions_is_read_with_both(checkpoint: Checkpoint, tmp_path: Path) -> None:
    parted = spans(**{"update-000000": 2, "update-000001": 3})
    whole = accepted(PromptEncoder(checkpoint, max_images=5, context=16_384), weight_versions=parted)
    whole = whole.model_copy(update={"verdict": Verdict(success=True, score=1.0)})
    folder = open_folder(write_attempt_folder(tmp_path / "folder", whole))
    renderer = Renderer(checkpoint, context=16_384)
    (one,), left_out = read_attempts(folder, DIALECT, renderer, shaping=RewardShaping(), temperature=1.0)
    assert not left_out
    assert (one.versions, one.steps[0].weight_versions) == (("update-000000", "update-000001"), parted)
    drawn = flatten_attempts([one], stale={"update-000000"}).rollout_logprobs[: len(LOGPROBS)]
    assert drawn.isnan().tolist() == [True, True, False, False, False]
