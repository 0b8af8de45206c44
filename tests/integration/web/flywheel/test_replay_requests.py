"""What a turn asks others for: checks and judgements that are refused, under way, away, or stopped in the middle."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

import protocol.evaluation.judgements
from annotation_app.accounts.models import User
from annotation_app.errors import Forbidden
from annotation_app.flywheel import engine
from annotation_app.flywheel.models import Played, Sample, Stage, Wheel
from annotation_app.flywheel.recipe import ReinforcementTraining
from annotation_app.flywheel.selectors import turns
from annotation_app.flywheel.services import ledger, replay_requests, samples
from annotation_app.imports.services import import_folder_run
from annotation_app.judges.models import Judge, Judgement, PoolJudge, Run
from annotation_app.judges.selectors import judge_server
from annotation_app.judges.services import run_request
from annotation_app.policies.models import PolicyRevision
from annotation_app.reviews import duplicates
from annotation_app.reviews.duplicates import find_duplicates
from annotation_app.reviews.models import Job
from annotation_app.reviews.schemas import CheckReport
from annotation_app.reviews.services import check_end, check_request, job_begin, job_fail
from protocol.trajectory.observations import Verdict
from tests.integration.web.flywheel.flywheel_helpers import create_wheel, import_attempts, run_turn, stop_after_stage
from tests.integration.web.reviews.test_judges import create_judge
from tests.unit.annotation_app.flywheel.test_trials import attempts_write

DONE = CheckReport(steps=(), departs_at=None, verdict=Verdict(success=True, score=1), executable=True)


@pytest.fixture
def wheel(admin: User, tmp_path: Path) -> Wheel:
    return create_wheel(admin, tmp_path)


def asks(wheel: Wheel, user: User, **more: Any) -> Wheel:
    """The wheel with more in its recipe."""
    recipe = wheel.recipe.model_copy(update=more)
    return ledger.wheel_set(user=user, name="main", pool="lights", recipe=recipe)


def checking(monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[UUID], None] = lambda _: None) -> list[UUID]:
    """Acts are done again without a machine, and well; those that were. `meanwhile` something else happens."""
    tried: list[UUID] = []

    def check_do(*, job_id: UUID, episode_id: UUID) -> None:
        tried.append(episode_id)
        assert job_begin(job_id=job_id, total=1)
        check_end(job_id=job_id, report=DONE)
        meanwhile(episode_id)

    monkeypatch.setattr(replay_requests, "check_run", check_do)
    return tried


def judge_of(wheel: Wheel) -> Judge:
    """A judge of the wheel's pool, for whom nobody answers."""
    judge = create_judge()
    PoolJudge.objects.create(pool=wheel.pool, judge=judge, threshold=0.5)
    return judge


def test_one_that_cannot_be_tried_does_not_end_the_checks_of_the_others(
    wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after_stage(monkeypatch, "route")
    tried = checking(monkeypatch)

    def requested(*, user: User, episode_id: UUID) -> Job:
        if Sample.objects.order_by("id").first().episode == episode_id:  # type: ignore[union-attr]
            raise Forbidden("It is your own work.", code="own_work")
        return check_request(user=user, episode_id=episode_id)

    monkeypatch.setattr(replay_requests, "check_request", requested)
    turn = run_turn(asks(wheel, admin, replay=True), admin)
    assert len(tried) == 6
    assert Stage.objects.get(turn=turn, name="check").result["unchecked"] == "own_work"
    assert Sample.objects.filter(turn=turn, executable=True).count() == 6


def test_a_check_that_a_dead_turner_left_is_waited_for_and_begun_again(
    wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after_stage(monkeypatch, "route")
    turn = ledger.turn_begin(user=admin, wheel_id=asks(wheel, admin, replay=True).pk)
    samples.collect(turns.turn_of(turn.pk))
    first = turn.samples.order_by("id")[0].episode
    left = check_request(user=admin, episode_id=first)
    assert job_begin(job_id=left.pk, total=1)
    tried = checking(monkeypatch)
    waited: list[float] = []

    def its_worker_is_found_gone(seconds: float) -> None:
        waited.append(seconds)
        job_fail(job_id=left.pk, error="Its worker went away.")

    monkeypatch.setattr("time.sleep", its_worker_is_found_gone)
    assert engine.turn_run(turn_id=turn.pk)
    assert len(waited) == 1
    assert len(tried) == 7
    assert Stage.objects.get(turn=turn, name="check").result["unchecked"] == ""


def test_a_turn_is_stopped_between_two_checks_and_goes_on_with_the_rest(
    wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after_stage(monkeypatch, "route")
    turn = ledger.turn_begin(user=admin, wheel_id=asks(wheel, admin, replay=True).pk)
    tried = checking(monkeypatch, meanwhile=lambda _: ledger.turn_cancel(user=admin, turn_id=turn.pk))
    assert engine.turn_run(turn_id=turn.pk)
    assert len(tried) == 1
    assert Stage.objects.get(turn=turn, name="check").state == "begun"
    checking(monkeypatch)
    ledger.turn_resume(user=admin, turn_id=turn.pk)
    assert engine.turn_run(turn_id=turn.pk)
    assert turn.samples.filter(executable=True).count() == 7
    assert Job.objects.count() == 7, "what was done again before was not once more"


def test_a_search_for_duplicates_that_was_stopped_says_nothing_of_them(
    wheel: Wheel, admin: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after_stage(monkeypatch, "route")
    import_attempts(tmp_path / "again", {0: True})
    turn = ledger.turn_begin(user=admin, wheel_id=wheel.pk)

    def stopped(episodes: tuple[UUID, ...], *, should_continue: Callable[[int], bool]) -> Any:
        ledger.turn_cancel(user=admin, turn_id=turn.pk)
        return find_duplicates(episodes, should_continue=should_continue)

    with monkeypatch.context() as patched:
        patched.setattr(duplicates, "find_duplicates", stopped)
        assert engine.turn_run(turn_id=turn.pk)
    assert Stage.objects.get(turn=turn, name="check").state == "begun"
    ledger.turn_resume(user=admin, turn_id=turn.pk)
    assert engine.turn_run(turn_id=turn.pk)
    assert turn.samples.filter(reason="duplicate").count() == 1


def test_a_judge_that_does_not_answer_fails_the_turn_and_its_samples_are_routed_once_it_does(
    wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after_stage(monkeypatch, "route")
    judge_of(wheel)
    turn = ledger.turn_begin(user=admin, wheel_id=asks(wheel, admin, judge=True).pk)
    assert engine.turn_run(turn_id=turn.pk)
    stage = Stage.objects.get(turn=turn, name="value")
    assert (stage.state, stage.code) == ("failed", "judge_failed")
    assert "does not answer" in stage.error
    assert set(turn.samples.values_list("route", flat=True)) == {""}
    PoolJudge.objects.all().delete()
    ledger.turn_resume(user=admin, turn_id=turn.pk)
    assert engine.turn_run(turn_id=turn.pk)
    assert turn.samples.exclude(route="").count() == 7


def test_what_a_judge_that_judges_here_will_not_have_fails_no_turn(
    wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after_stage(monkeypatch, "route")
    judge = judge_of(wheel)

    def refuses(*, run_id: UUID, **_: object) -> None:
        Run.objects.filter(pk=run_id).update(status="failed", total=1, refused=1, error="The prompt is too long.")

    monkeypatch.setattr(replay_requests, "run_execute", refuses)
    turn = ledger.turn_begin(user=admin, wheel_id=asks(wheel, admin, judge=True).pk)
    assert engine.turn_run(turn_id=turn.pk)
    assert Stage.objects.get(turn=turn, name="value").code == "judge_failed", "it has never judged here"
    (first, *_) = turn.samples.values_list("episode", flat=True)
    said = {"trajectory": str(first), "judge": judge_server(judge).ref, "score": 1, "judged_at": timezone.now()}
    document = protocol.evaluation.judgements.Judgement.model_validate(said)
    Judgement.objects.create(episode_id=first, judge=judge, score=1, document=document)
    ledger.turn_resume(user=admin, turn_id=turn.pk)
    assert engine.turn_run(turn_id=turn.pk)
    assert turn.samples.exclude(route="").count() == 7


def test_a_judge_that_others_have_judge_is_waited_for_as_long_as_it_takes(
    wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after_stage(monkeypatch, "route")
    judge = judge_of(wheel)
    others = run_request(user=admin, pool_id=wheel.pool_id, judge_id=judge.pk)
    clock = [0.0]

    def waits(_: float) -> None:
        clock[0] += replay_requests.CHECK_TIMEOUT_SECONDS
        if clock[0] > 3 * replay_requests.CHECK_TIMEOUT_SECONDS:
            Run.objects.filter(pk=others.pk).update(status="done")

    monkeypatch.setattr("time.sleep", waits)
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    monkeypatch.setattr(
        replay_requests,
        "run_execute",
        lambda *, run_id, should_continue: Run.objects.filter(pk=run_id).update(status="done"),
    )
    turn = run_turn(asks(wheel, admin, judge=True), admin)
    assert turn.samples.exclude(route="").count() == 7


def test_judging_ends_with_its_turn(wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch) -> None:
    judge_of(wheel)
    turn = ledger.turn_begin(user=admin, wheel_id=asks(wheel, admin, judge=True).pk)

    def stopped(**fields: Any) -> Run:
        ledger.turn_cancel(user=admin, turn_id=turn.pk)
        return run_request(**fields)

    monkeypatch.setattr(replay_requests, "run_request", stopped)
    assert engine.turn_run(turn_id=turn.pk)
    assert Run.objects.get().status == "cancelled"
    assert Stage.objects.get(turn=turn, name="value").state == "begun"


def test_how_often_the_active_revision_succeeds_is_told_by_its_own_attempts(
    wheel: Wheel, admin: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after_stage(monkeypatch, "route")
    told = {"dialect": "ui_tars_1_5", "base_url": "http://127.0.0.1:9/v1", "model": "toy"}
    wheel.pool.policy = PolicyRevision.objects.create(name="toy", revision="start", **told)
    wheel.pool.save()
    attempts_write(tmp_path / "older", {50: True, 51: True, 52: True}, revision="older")
    assert import_folder_run(folder=tmp_path / "older", pool="lights").imported == 3
    turn = run_turn(asks(wheel, admin, rl=ReinforcementTraining(updates=1, between=(0.1, 0.9))), admin)
    (played,) = Played.objects.filter(turn=turn)
    assert (played.succeeded, played.attempts) == (5, 7), "three of another revision say nothing of this one"
