"""Browser tasks as Gymnasium environments, in real browsers."""

import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from protocol.actions.types import Click, Finish, Wait
from tests.integration.browser.machine.pages import GO, PagesSuite
from vm_bridge.gym import BrowserEnv, BrowserVectorEnv, GridClicks
from vm_bridge.gym.runner import Image
from vm_bridge.suites.registry import WEB_SUITES

BUTTON = "Pilothouse/miniwob-click-test-v0"
NOWHERE = Click(x=2, y=200)


@pytest.fixture(scope="module")
def button() -> Iterator[gymnasium.Env[Image, Any]]:
    environment = gymnasium.make(BUTTON)
    yield environment
    environment.close()


def button_of(picture: Image) -> Click:
    """Where the page's one button is: its grey field below the yellow instruction."""
    rows, columns = np.nonzero((picture[55:205, :155] == 239).all(axis=2))
    return Click(x=int(np.median(columns)), y=int(np.median(rows)) + 55)


def test_gymnasiums_own_check_passes() -> None:
    environment = gymnasium.make(BUTTON, render_mode="rgb_array")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it advises small pictures and plain action spaces
            check_env(environment.unwrapped)
    finally:
        environment.close()


def test_the_right_click_is_rewarded_and_ends_the_episode(button: gymnasium.Env[Image, Any]) -> None:
    picture, info = button.reset(seed=3)
    assert info["instruction"] == "Click the button."
    assert info["seed"] == 3
    _, reward, terminated, truncated, _ = button.step(NOWHERE)
    assert (reward, terminated, truncated) == (0, False, False)
    _, reward, terminated, truncated, info = button.step(button_of(picture))
    assert (reward, terminated, truncated) == (1, True, False)
    assert info["success"] is True


def test_running_out_of_steps_is_no_end_of_the_task(button: gymnasium.Env[Image, Any]) -> None:
    button.reset(seed=4)
    ends = [button.step(NOWHERE)[2:4] for _ in range(30)]
    assert ends[:-1] == [(False, False)] * 29
    assert ends[-1] == (False, True)


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WEB_SUITES, "pages", PagesSuite())


@pytest.mark.usefixtures("pages")
def test_running_out_of_the_pages_time_is_no_end_of_the_task_either() -> None:
    environment = BrowserEnv("pages", "timed")
    try:
        environment.reset(seed=1)
        _, reward, *ends, _ = environment.step(GO)
        assert (reward, ends) == (1, [False, False])
        assert environment.step(Wait(seconds=1))[2:4] == (False, True)
        _, reward, *ends, info = environment.step(GO)
        assert (reward, ends, info["error"]) == (0, [False, True], "time_over")
        environment.reset(seed=1)
        assert environment.step(GO)[1:4] == (1, False, False)
    finally:
        environment.close()


@pytest.mark.usefixtures("pages")
def test_a_verifier_that_throws_is_an_error_and_no_failure() -> None:
    environment = BrowserEnv("pages", "misjudged")
    try:
        for act in (GO, Finish()):
            environment.reset(seed=1)
            _, reward, terminated, truncated, info = environment.step(act)
            assert (reward, terminated, truncated) == (0, False, True)
            assert info["error"] == "verifier_failed"
    finally:
        environment.close()


def test_the_same_seed_and_acts_show_the_same(button: gymnasium.Env[Image, Any]) -> None:
    def played() -> list[Image]:
        first = button.reset(seed=5)[0]
        return [first, *(button.step(act)[0] for act in (NOWHERE, Wait(seconds=0.5), Click(x=60, y=120)))]

    assert all(np.array_equal(one, other) for one, other in zip(played(), played(), strict=True))
    assert not np.array_equal(button.reset(seed=6)[0], button.reset(seed=5)[0])


def test_what_the_page_says_is_the_instruction_of_any_seed() -> None:
    environment = gymnasium.make("Pilothouse/miniwob-click-link-v0")
    try:
        assert environment.reset(seed=4711)[1]["instruction"].startswith('Click on the link "')
    finally:
        environment.close()


def test_clicks_on_a_grid_are_clicks() -> None:
    environment = GridClicks(gymnasium.make(BUTTON), columns=33, rows=21)
    try:
        picture, _ = environment.reset(seed=3)
        wanted = button_of(picture)
        field = (wanted.y * 21 // 214) * 33 + wanted.x * 33 // 332
        assert environment.step(field)[1:3] == (1.0, True)
    finally:
        environment.close()


def test_several_episodes_go_on_together_and_begin_anew() -> None:
    environments = gymnasium.make_vec(BUTTON, num_envs=3)
    assert isinstance(environments.unwrapped, BrowserVectorEnv)
    try:
        pictures, infos = environments.reset(seed=10)
        assert infos["seed"].tolist() == [10, 11, 12]
        _, rewards, terminated, truncated, _ = environments.step([button_of(pictures[0]), NOWHERE, NOWHERE])
        assert rewards.tolist() == [1, 0, 0]
        assert terminated.tolist() == [True, False, False]
        assert not truncated.any()
        after, rewards, terminated, _, infos = environments.step([NOWHERE] * 3)
        assert rewards.tolist() == [0, 0, 0]
        assert not terminated.any()
        assert infos["steps"].tolist() == [0, 2, 2]
        assert after.shape == (3, 214, 332, 3)
    finally:
        environments.close()


def test_a_batch_of_the_action_space_is_taken() -> None:
    environments = gymnasium.make_vec(BUTTON, num_envs=2)
    try:
        environments.action_space.seed(1)
        environments.reset(seed=1)
        assert environments.step(environments.action_space.sample())[0].shape == (2, 214, 332, 3)
    finally:
        environments.close()
