"""Claiming: one task, one person; what is left goes back."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.episodes import services
from annotation_app.episodes.jobs import leases_expire_job
from annotation_app.episodes.models import Episode
from annotation_app.errors import Forbidden
from annotation_app.tasks.models import Assignment, AssignmentState, Pool, Task, TaskState
from annotation_app.tasks.services import pool_ensure, tasks_add
from tests.integration.web.conftest import World, task_named


def claimed(user: User, **options: object) -> Episode:
    """What this person gets next."""
    episode = services.episode_next(user=user, **options)  # type: ignore[arg-type]
    assert episode is not None
    return episode


def together(*users: User) -> list[Episode | None]:
    """What each gets when all ask at the same moment."""
    barrier = Barrier(len(users))

    def claim(user: User) -> Episode | None:
        barrier.wait(10)
        try:
            return services.episode_next(user=user)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(users)) as threads:
        return list(threads.map(claim, users))


def run_out(episode: Episode) -> None:
    """Let the lease on an episode's task lie in the past."""
    Assignment.objects.filter(pk=episode.assignment_id).update(expires_at=timezone.now() - timedelta(seconds=1))


def leave(episode: Episode, **fields: object) -> None:
    services.episode_change(episode_id=episode.id, token=None, fields={"status": "left", **fields})


@pytest.mark.django_db(transaction=True)
class TestRaces:
    def test_many_claims_at_once_share_nothing(self, committed: World) -> None:
        people = [user_ensure(username=f"p{n}", password="x", name=f"P{n}", roles=["annotator"]) for n in range(6)]
        committed.pool.members.add(*people)
        got = [episode for episode in together(*people) if episode is not None]
        assert len(got) == 3, "as many as there are tasks"
        assert len({episode.task_id for episode in got}) == 3

    def test_one_person_clicking_twice_gets_one_episode(self, committed: World) -> None:
        first, second = together(committed.ada, committed.ada)
        assert first is not None
        assert second is not None
        assert first.id == second.id
        assert Episode.objects.count() == 1


class TestClaims:
    def test_tasks_come_in_order_from_ones_own_pools(self, world: World) -> None:
        stranger = user_ensure(username="eve", password="x", name="Eve", roles=["annotator"])
        assert services.episode_next(user=stranger) is None
        assert claimed(world.ada).task.key == "one"
        assert claimed(world.ben).task.key == "two"

    def test_only_annotators_claim(self, world: World) -> None:
        with pytest.raises(Forbidden):
            services.episode_next(user=world.rosa)

    def test_a_paused_pool_gives_nothing(self, world: World) -> None:
        Pool.objects.filter(pk=world.pool.pk).update(paused=True)
        assert services.episode_next(user=world.ada) is None

    def test_practice_comes_only_when_asked_for_and_again(self, world: World) -> None:
        first = claimed(world.ada, practice=True)
        assert first.task.key == "try"
        services.episode_change(episode_id=first.id, token=None, fields={"status": "finished", "outcome": "success"})
        again = claimed(world.ada, practice=True)
        assert again.id != first.id
        assert again.task_id == first.task_id

    def test_the_next_task_comes_from_the_pool_of_the_last(self, world: World) -> None:
        other = pool_ensure(name="a pool before the other", members=[world.ada])
        tasks_add(pool=other, definitions=[task_named("elsewhere")])
        first = claimed(world.ada, pool_id=world.pool.pk)
        services.episode_change(episode_id=first.id, token=None, fields={"status": "finished", "outcome": "success"})
        ada = world.client(world.ada)
        body = {"after": str(first.id)}
        answer = ada.post("/api/queue/next", json.dumps(body), "application/json").json()
        assert Episode.objects.get(pk=answer["episode_id"]).task.pool_id == world.pool.pk
        ben = world.client(world.ben).post("/api/queue/next", json.dumps(body), "application/json")
        assert ben.status_code == 404, "nothing is told of another's episode"

    def test_what_is_finished_is_done(self, world: World) -> None:
        episode = claimed(world.ada)
        services.episode_change(episode_id=episode.id, token=None, fields={"status": "finished", "outcome": "failure"})
        assert Task.objects.get(pk=episode.task_id).state == TaskState.DONE
        assert claimed(world.ada).task.key == "two"

    def test_what_is_skipped_goes_to_others_but_not_back(self, world: World) -> None:
        leave(claimed(world.ada), outcome="skipped")
        assert claimed(world.ada).task.key == "two"
        assert claimed(world.ben).task.key == "one"

    def test_what_is_released_may_come_back(self, world: World) -> None:
        leave(claimed(world.ada))
        assert claimed(world.ada).task.key == "one"

    def test_what_is_broken_waits_for_an_admin(self, world: World) -> None:
        episode = claimed(world.ada)
        leave(episode, outcome="broken")
        assert Task.objects.get(pk=episode.task_id).state == TaskState.BROKEN
        assert claimed(world.ben).task.key == "two"


class TestLeases:
    def test_abandoned_work_returns_to_its_pool(self, world: World) -> None:
        episode = claimed(world.ada)
        run_out(episode)
        leases_expire_job()
        assert Episode.objects.get(pk=episode.id).status == "left"
        assert Task.objects.get(pk=episode.task_id).state == TaskState.WAITING
        assert Assignment.objects.get(pk=episode.assignment_id).state == AssignmentState.EXPIRED

    def test_who_would_get_nothing_gets_what_was_abandoned(self, world: World) -> None:
        Task.objects.filter(pool=world.pool).exclude(key="one").update(state=TaskState.BROKEN)
        run_out(claimed(world.ada))
        assert claimed(world.ben).task.key == "one"

    def test_who_comes_back_before_a_task_is_given_back_goes_on(self, world: World) -> None:
        episode = claimed(world.ada)
        run_out(episode)
        assert claimed(world.ada).id == episode.id

    def test_a_claim_takes_nine_queries(self, world: World) -> None:
        with CaptureQueriesContext(connection) as queries:
            claimed(world.ada)
        questions = [asked["sql"] for asked in queries if not asked["sql"].startswith(("SAVEPOINT", "RELEASE"))]
        assert len(questions) == 9, questions

    def test_whoever_drove_it_is_fenced(self, world: World) -> None:
        episode = claimed(world.ada)
        token = services.runner_take_over(episode_id=episode.id, runner="here:1:a", seconds=60)
        run_out(episode)
        leases_expire_job()
        with pytest.raises(services.RunnerFenced):
            services.episode_change(episode_id=episode.id, token=token, fields={"status": "paused"})

    def test_a_fresh_lease_is_left_alone_and_an_old_one_stretched(self, world: World) -> None:
        episode = claimed(world.ada)
        assert not services.lease_renew(episode_id=episode.id)
        soon = timezone.now() + timedelta(minutes=1)
        Assignment.objects.filter(pk=episode.assignment_id).update(expires_at=soon)
        assert services.lease_renew(episode_id=episode.id)
        assert Assignment.objects.get(pk=episode.assignment_id).expires_at > soon + timedelta(minutes=20)

    def test_a_pause_keeps_the_lease_for_hours(self, world: World) -> None:
        episode = claimed(world.ada)
        services.episode_change(episode_id=episode.id, token=None, fields={"status": "paused"})
        assignment = Assignment.objects.get(pk=episode.assignment_id)
        assert assignment.expires_at > timezone.now() + timedelta(hours=7)
