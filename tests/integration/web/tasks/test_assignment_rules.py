"""Overlap, gold, hours and order: who is given which task, and who sees what of it."""

from datetime import UTC, datetime, time, timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.episodes import services
from annotation_app.episodes.jobs import leases_expire_job
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors import episode_of, episodes_visible
from annotation_app.errors import Conflict, NotFound
from annotation_app.pools.schemas import PoolRef
from annotation_app.pools.services import pools_change
from annotation_app.tasks.active_hours import ActiveHours
from annotation_app.tasks.models import Assignment, Pool, Task, TaskState
from annotation_app.tasks.selectors import pools_of, review_wanted, tasks_blinded_for
from annotation_app.tasks.services import gold_set, pool_ensure, tasks_add
from tests.integration.web.conftest import PASSWORD, World, task_named
from tests.integration.web.tasks.test_claims import claimed, leave, run_out, together


def finish(episode: Episode) -> None:
    services.episode_change(episode_id=episode.id, token=None, fields={"status": "finished", "outcome": "success"})


def configure(pool: Pool, **settings: object) -> None:
    Pool.objects.filter(pk=pool.pk).update(**settings)


def admin() -> User:
    return user_ensure(username="alex", password=PASSWORD, name="Alex", roles=["admin", "annotator"])


class TestOverlap:
    def test_each_task_goes_to_so_many_people_and_to_none_twice(self, world: World) -> None:
        configure(world.pool, overlap=2)
        first, second = claimed(world.ada), claimed(world.ben)
        assert first.task_id == second.task_id
        third = admin()
        world.pool.members.add(third)
        assert claimed(third).task.key == "two"
        finish(first)
        assert claimed(world.ada).task.key == "two", "not the one they have done"
        assert Task.objects.get(pk=first.task_id).state == TaskState.CLAIMED
        finish(second)
        assert Task.objects.get(pk=first.task_id).state == TaskState.DONE

    def test_what_one_of_them_leaves_waits_again(self, world: World) -> None:
        configure(world.pool, overlap=2)
        first, second = claimed(world.ada), claimed(world.ben)
        leave(first, outcome="skipped")
        task = Task.objects.get(pk=first.task_id)
        assert (task.state, task.held, task.finished) == (TaskState.WAITING, 1, 0)
        finish(second)
        task.refresh_from_db()
        assert (task.state, task.held, task.finished) == (TaskState.WAITING, 0, 1)

    def test_nobody_sees_the_others_work_before_all_are_done(self, world: World) -> None:
        configure(world.pool, overlap=2)
        alex = admin()
        theirs = claimed(world.ada)
        finish(theirs)
        assert episode_of(user=alex, episode_id=theirs.id), "who does not work there sees it"
        world.pool.members.add(alex)
        with pytest.raises(NotFound):
            episode_of(user=alex, episode_id=theirs.id)
        mine = claimed(alex)
        assert mine.task_id == theirs.task_id
        assert list(episodes_visible(alex)) == [mine]
        finish(mine)
        assert episode_of(user=alex, episode_id=theirs.id)

    def test_another_overlap_recounts_what_is_there(self, world: World) -> None:
        finish(claimed(world.ada))
        alex, pool = admin(), world.pool
        pools_change(user=alex, pools=(PoolRef(id=pool.pk, version=1),), changes={"overlap": 2})
        assert Task.objects.get(pool=pool, key="one").state == TaskState.WAITING
        pools_change(user=alex, pools=(PoolRef(id=pool.pk, version=2),), changes={"overlap": 1})
        assert Task.objects.get(pool=pool, key="one").state == TaskState.DONE


@pytest.mark.django_db(transaction=True)
def test_whether_work_is_hidden_is_read_from_indexes(committed: World) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        plan = tasks_blinded_for(committed.ada).explain()
    assert "task_gold" in plan


def test_a_crowd_claims_overlapping_tasks_without_one_too_many(committed: World) -> None:
    configure(committed.pool, overlap=3, open_to_all=True)
    people = [user_ensure(username=f"p{n}", password="x", name=f"P{n}", roles=["annotator"]) for n in range(12)]
    got = [episode for episode in together(*people) if episode is not None]
    assert len(got) == 9, "three tasks for three people each"
    for task in Task.objects.filter(pool=committed.pool):
        assert (task.held, task.state) == (3, TaskState.CLAIMED)
        assert len(set(task.assignments.values_list("annotator", flat=True))) == 3


class TestGold:
    def test_gold_is_mixed_in_once_for_each_and_stays_as_it_is(self, world: World) -> None:
        reference = claimed(world.ada)
        finish(reference)
        gold_set(user=admin(), task_id=reference.task_id, episode_id=reference.id)
        configure(world.pool, gold_percent=100)
        waiting = [pool.waiting for pool in pools_of(user=world.ben) if pool.id == world.pool.pk]
        assert waiting == [2]
        measured = claimed(world.ben)
        assert measured.task_id == reference.task_id
        finish(measured)
        task = Task.objects.get(pk=reference.task_id)
        assert (task.state, task.done) == (TaskState.DONE, 2)
        assert claimed(world.ben).task.key == "two", "once is enough"
        assert claimed(world.ada).task.key == "three", "not their own"

    def test_only_a_finished_episode_of_the_task_measures_others(self, world: World) -> None:
        episode = claimed(world.ada)
        with pytest.raises(Conflict) as refused:
            gold_set(user=admin(), task_id=episode.task_id, episode_id=episode.id)
        assert refused.value.code == "no_reference"


class TestWhenAndWhich:
    def test_a_pool_with_a_higher_priority_comes_first(self, world: World) -> None:
        urgent = pool_ensure(name="urgent", members=[world.ada], priority=5)
        tasks_add(pool=urgent, definitions=[task_named("now")])
        assert claimed(world.ada).task.key == "now"
        assert claimed(world.ben).task.key == "one"

    def test_outside_its_hours_a_pool_gives_nothing_and_says_when(self, world: World) -> None:
        day = datetime.now(UTC).weekday()
        Pool.objects.filter(pk=world.pool.pk).update(
            hours=ActiveHours(days=((day + 3) % 7,), start=time(0), end=time(0))
        )
        assert services.episode_next(user=world.ada) is None
        (shown,) = [pool for pool in pools_of(user=world.ada) if pool.id == world.pool.pk]
        assert shown.opens_at is not None
        assert timezone.now() < shown.opens_at < timezone.now() + timedelta(days=4)

    def test_a_time_limit_is_where_the_lease_ends(self, world: World) -> None:
        configure(world.pool, minutes=5)
        episode = claimed(world.ada)
        services.episode_change(episode_id=episode.id, token=None, fields={"status": "paused"})
        lease = Assignment.objects.get(pk=episode.assignment_id)
        assert lease.expires_at <= lease.created_at + timedelta(minutes=5)
        assert not services.lease_renew(episode_id=episode.id)
        run_out(episode)
        leases_expire_job()
        assert claimed(world.ben).task_id == episode.task_id

    def test_a_sample_is_always_the_same(self, world: World) -> None:
        episode = claimed(world.ada)
        pool = Pool(review_mode="sample", review_percent=50)
        assert review_wanted(pool, episode.id) == review_wanted(pool, episode.id)
        assert not review_wanted(Pool(review_mode="none"), episode.id)
        assert review_wanted(Pool(review_mode="all"), episode.id)
