"""Executability: an episode's acts are done again on another machine of a real bridge, and its verifier looks."""

from typing import Any

import pytest

from annotation_app.episodes import services as episodes
from annotation_app.episodes.models import Episode
from annotation_app.live.store import run_in_db_thread
from annotation_app.reviews import jobs, services
from annotation_app.reviews.replay_checks import check_run
from annotation_app.reviews.selectors.details import review_details
from protocol.actions.types import Action, Click, Finish, TypeText
from tests.contract.test_store import step
from tests.integration.web.conftest import Stack


def attempt(*, stack: Stack, actions: tuple[Action, ...], outcome: str = "success") -> Episode:
    """Ada's next episode, said to have been done so."""
    episode = episodes.episode_next(user=stack.world.ada)
    assert episode is not None
    own: dict[str, Any] = {
        "episode_id": episode.id,
        "token": episodes.runner_take_over(episode_id=episode.id, runner="h:1:a", seconds=60),
    }
    for index, action in enumerate(actions):
        made = step(index, f"command-{episode.id}-{index}", action=action)
        bare = {"before": made.before.model_copy(update={"screenshot": None}), "after": None}
        episodes.step_append(**own, step=made.model_copy(update=bare))
    episodes.episode_change(**own, fields={"status": "finished", "outcome": outcome})
    return Episode.objects.get(pk=episode.pk)


def checked(*, stack: Stack, episode: Episode) -> Any:
    jobs.check_start(user=stack.world.rosa, episode_id=episode.id)
    return review_details(user=stack.world.rosa, episode_id=episode.id).check


async def test_what_was_done_can_be_done_again(stack: Stack) -> None:
    episode = await run_in_db_thread(attempt, stack=stack, actions=(TypeText(text="one"), Finish()))
    check = await run_in_db_thread(checked, stack=stack, episode=episode)
    assert (check.status, check.done, check.total) == ("done", 2, 2)
    assert check.report.executable
    assert check.report.verdict.success is True


async def test_another_end_than_the_recorded_one_is_told(stack: Stack) -> None:
    episode = await run_in_db_thread(attempt, stack=stack, actions=(Click(x=10, y=10), Finish()))
    check = await run_in_db_thread(checked, stack=stack, episode=episode)
    assert (check.status, check.report.executable, check.report.verdict.success) == ("done", False, False)


async def test_a_mended_step_is_what_is_done_again(stack: Stack) -> None:
    episode = await run_in_db_thread(attempt, stack=stack, actions=(Click(x=10, y=10), Finish()))

    def mend() -> None:
        services.step_fix(
            user=stack.world.rosa,
            episode_id=episode.id,
            index=0,
            base=0,
            thought="I type it.",
            action=TypeText(text="one"),
            reason="",
        )

    await run_in_db_thread(mend)
    check = await run_in_db_thread(checked, stack=stack, episode=episode)
    assert check.report.executable


async def test_an_act_that_cannot_be_done_ends_it(stack: Stack) -> None:
    episode = await run_in_db_thread(attempt, stack=stack, actions=(Click(x=5_000, y=10), TypeText(text="one")))
    check = await run_in_db_thread(checked, stack=stack, episode=episode)
    assert (check.report.executable, check.report.departs_at, len(check.report.steps)) == (False, 0, 1)
    assert check.report.steps[0].error


async def test_without_a_bridge_the_check_fails_and_says_why(stack: Stack, settings: Any) -> None:
    episode = await run_in_db_thread(attempt, stack=stack, actions=(TypeText(text="one"), Finish()))
    settings.ENV = settings.ENV.model_copy(update={"bridge_url": "http://127.0.0.1:9"})
    check = await run_in_db_thread(checked, stack=stack, episode=episode)
    assert check.status == "failed"
    assert "did not answer" in check.error


async def test_a_check_cancelled_before_it_begins_takes_no_machine(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs.check_job, "delay", lambda *given: None)
    episode = await run_in_db_thread(attempt, stack=stack, actions=(TypeText(text="one"), Finish()))
    job = await run_in_db_thread(jobs.check_start, user=stack.world.rosa, episode_id=episode.id)
    await run_in_db_thread(services.job_cancel, user=stack.world.rosa, job_id=job.id)
    await run_in_db_thread(check_run, job_id=job.id, episode_id=episode.id)
    check = (await run_in_db_thread(review_details, user=stack.world.rosa, episode_id=episode.id)).check
    assert check is not None
    assert (check.status, check.done, check.report) == ("cancelled", 0, None)
