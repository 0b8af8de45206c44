"""What became of a policy's proposals is counted as episodes end, and tasks are drawn by it."""

from collections import Counter
from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.audit.models import AuditEntry
from annotation_app.episodes import services
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors import branch_candidates, episodes_page, episodes_recent
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.selectors import policy_of
from annotation_app.policies.services import policy_ensure
from annotation_app.promotions.services import evaluation_add
from annotation_app.tasks.models import Assignment, Pool, Sampling, Tally, Task, TaskState
from annotation_app.tasks.services import tasks_add
from protocol.actions.types import Click
from protocol.trajectory.observations import Verdict
from protocol.trajectory.steps import Decision
from protocol.trajectory.tasks import Task as Definition
from tests.integration.web.conftest import PASSWORD, World
from tests.unit.annotation_app.test_gate import report
from tests.unit.protocol.examples import step

COLUMNS = ("kind", "accepted", "overridden", "succeeded", "failed")


@pytest.fixture
def policy(world: World) -> PolicyRevision:
    """The pool's active revision."""
    return activate(world.pool, "1")


def activate(pool: Pool, name: str) -> PolicyRevision:
    revision = policy_ensure(name="tars", revision=name, dialect="ui_tars_1_5", base_url="http://model/v1", model="m")
    pool.policy = revision
    pool.save()
    return revision


def root_make() -> User:
    return user_ensure(username="root", password=PASSWORD, name="Root", roles=["admin"])


def kinds(pool: Pool, *names: str, seeds: int = 1) -> None:
    """Tasks of these kinds instead of the pool's own."""
    Task.objects.filter(pool=pool).delete()
    tasks_add(
        pool=pool,
        definitions=[
            Definition(id=f"{name}-{seed}", instruction="Do it", suite="games", name=name, seed=seed)
            for seed in range(seeds)
            for name in names
        ],
    )


def create_episode(user: User, policy: PolicyRevision, *decisions: Decision, undo: int | None = None) -> Episode:
    """An episode in which this was decided of what the policy proposed."""
    episode = services.episode_next(user=user)
    assert episode is not None
    token = services.runner_take_over(episode_id=episode.id, runner="here", seconds=60)
    for index, decision in enumerate(decisions):
        made = step(index, Click(x=1, y=1), decision=decision, policy=policy_of(policy))
        made = made.model_copy(update={"command_id": f"{episode.id}-{index}"})
        services.step_append(episode_id=episode.id, token=token, step=made)
    if undo is not None:
        services.step_undo(episode_id=episode.id, token=token, index=undo, observation=made.before)
    return episode


def ended(episode: Episode, **fields: object) -> Episode:
    fields = {"status": "finished", "outcome": "success", **fields}
    services.episode_change(episode_id=episode.id, token=None, fields=fields)
    return episode


def tallies() -> set[tuple[str, int, int, int, int]]:
    return set(Tally.objects.values_list(*COLUMNS))


def test_lists_of_episodes_begin_with_the_latest(world: World, policy: PolicyRevision) -> None:
    kinds(world.pool, "snake", seeds=4)
    made = [ended(create_episode(world.ada, policy, "accept", "accept", undo=1)) for _ in range(4)]
    for minute, number in enumerate((1, 3, 0, 2)):
        at = timezone.now() + timedelta(minutes=minute)
        Episode.objects.filter(pk=made[number].pk).update(finished_at=at)
    recent = [(row.id, row.steps) for row in episodes_recent(user=world.ada)]
    assert recent == [(made[number].id, 1) for number in (2, 0, 3, 1)]
    page = [row.id for row in episodes_page(user=world.ada).items]
    assert page == [episode.id for episode in reversed(made)]


class TestTallies:
    def test_an_episode_is_counted_as_it_ends(self, world: World, policy: PolicyRevision) -> None:
        kinds(world.pool, "snake")
        episode = create_episode(world.ada, policy, "accept", "override", "auto")
        assert tallies() == set()
        ended(episode, outcome="failure")
        assert tallies() == {("games/snake", 1, 1, 0, 1)}
        services.episode_change(episode_id=episode.id, token=None, fields={"help_requested": True})
        assert tallies() == {("games/snake", 1, 1, 0, 1)}, "once"

    def test_what_was_taken_back_is_not_counted(self, world: World, policy: PolicyRevision) -> None:
        kinds(world.pool, "snake")
        ended(create_episode(world.ada, policy, "accept", "accept", undo=1))
        assert tallies() == {("games/snake", 1, 0, 1, 0)}

    def test_the_verifiers_word_comes_first(self, world: World, policy: PolicyRevision) -> None:
        kinds(world.pool, "snake")
        ended(create_episode(world.ada, policy, "accept"), verdict=Verdict(success=False, score=0))
        assert tallies() == {("games/snake", 1, 0, 0, 1)}

    def test_what_was_left_has_decisions_and_no_end(self, world: World, policy: PolicyRevision) -> None:
        kinds(world.pool, "snake")
        ended(create_episode(world.ada, policy, "override"), status="left", outcome="skipped")
        assert tallies() == {("games/snake", 0, 1, 0, 0)}

    def test_rates_are_shown_with_their_intervals(self, world: World, policy: PolicyRevision) -> None:
        ended(create_episode(world.ada, policy, "accept", "accept", "override"))
        ended(create_episode(world.ada, policy, "accept"))
        (shown,) = world.client(root_make()).get("/api/policies").json()
        (rates,) = shown["rates"]
        assert (rates["pool"], rates["accepted"]["successes"], rates["accepted"]["attempts"]) == ("real", 3, 4)
        assert 0 < rates["accepted"]["low"] < 0.75 < rates["accepted"]["high"] < 1
        assert (rates["succeeded"]["successes"], rates["succeeded"]["attempts"]) == (1, 1)

    def test_the_pools_open_episodes_are_counted(self, world: World, policy: PolicyRevision) -> None:
        services.episode_next(user=world.ada)
        services.episode_next(user=world.ben)
        pools = {pool["name"]: pool for pool in world.client(root_make()).get("/api/policies/pools").json()}
        assert (pools["real"]["open_episodes"], pools["practice"]["open_episodes"]) == (2, 0)
        assert (pools["real"]["active"], pools["real"]["sampling"]) == (policy.pk, "in_order")


class TestDraws:
    def claimed_kinds(self, world: World, times: int = 60) -> Counter[str]:
        """The kinds of task that are claimed first, over many claims; each is given back."""
        found: Counter[str] = Counter()
        for _ in range(times):
            episode = services.episode_next(user=world.ada)
            assert episode is not None
            found[episode.task.kind] += 1
            services.episode_change(episode_id=episode.id, token=None, fields={"status": "left"})
        return found

    def test_in_order_unless_the_pool_says_otherwise(self, world: World, policy: PolicyRevision) -> None:
        kinds(world.pool, "easy", "hard")
        Tally.objects.create(pool=world.pool, revision=policy, kind="games/hard", overridden=50)
        assert self.claimed_kinds(world, 3) == {"games/easy": 3}

    def test_where_the_active_revision_is_overridden_comes_oftener(self, world: World, policy: PolicyRevision) -> None:
        kinds(world.pool, "easy", "hard")
        path = f"/api/pools/{world.pool.pk}/sampling"
        answer = world.client(root_make()).post(path, {"sampling": "by_need"}, content_type="application/json")
        assert answer.status_code == 204
        Tally.objects.create(pool=world.pool, revision=policy, kind="games/hard", overridden=50, failed=9)
        Tally.objects.create(pool=world.pool, revision=policy, kind="games/easy", accepted=200, succeeded=90)
        found = self.claimed_kinds(world)
        assert found["games/hard"] > 50
        activate(world.pool, "2")
        assert self.claimed_kinds(world)["games/easy"] > 10, "a new revision has its own counts"

    def test_what_an_evaluation_found_counts(self, world: World, policy: PolicyRevision) -> None:
        kinds(world.pool, "easy", "hard")
        Pool.objects.filter(pk=world.pool.pk).update(sampling=Sampling.BY_NEED)
        for kind in ("games/easy", "games/hard"):
            Tally.objects.create(pool=world.pool, revision=policy, kind=kind, accepted=200)
        found = report(policy_of(policy), {"games/easy": (90, 90), "games/hard": (0, 90)})
        evaluation_add(user=root_make(), revision_id=policy.pk, report=found)
        assert self.claimed_kinds(world)["games/hard"] > 50

    def test_one_that_somebody_has_is_passed_over(self, world: World, policy: PolicyRevision) -> None:
        Pool.objects.filter(pk=world.pool.pk).update(sampling=Sampling.BY_NEED)
        got = [services.episode_next(user=user) for user in (world.ada, world.ben)]
        assert len({episode.task_id for episode in got if episode}) == 2
        assert Assignment.objects.filter(state="active").count() == 2

    def test_a_draw_follows_from_the_record(self, world: World, policy: PolicyRevision) -> None:
        kinds(world.pool, "a", "b", "c", seeds=5)
        Pool.objects.filter(pk=world.pool.pk).update(sampling=Sampling.BY_NEED)
        again = []
        for _ in range(2):
            episode = services.episode_next(user=world.ada)
            assert episode is not None
            again.append(episode.task_id)
            Episode.objects.filter(pk=episode.pk).delete()
            episode.assignment.delete()
            Task.objects.update(state=TaskState.WAITING)
        assert again[0] == again[1]


class TestStates:
    def states(self, world: World) -> list[dict[str, object]]:
        answer = world.client(root_make()).get(f"/api/pools/{world.pool.pk}/states")
        assert answer.status_code == 200, answer.content
        found: list[dict[str, object]] = answer.json()
        return found

    def test_overridden_and_failed_states_are_listed_by_need(self, world: World, policy: PolicyRevision) -> None:
        kinds(world.pool, "easy", "hard", "failing")
        easy = ended(create_episode(world.ada, policy, "accept", "accept", "takeover"))
        hard = ended(create_episode(world.ada, policy, "override"))
        failing = ended(create_episode(world.ada, policy, "accept", "auto"), verdict=Verdict(success=False, score=0))
        states = self.states(world)
        assert {(state["episode"], state["step"], state["reason"]) for state in states} == {
            (str(easy.id), 2, "overridden"),
            (str(hard.id), 0, "overridden"),
            (str(failing.id), 1, "failed"),
        }
        weights = [state["weight"] for state in states]
        assert weights == sorted(weights, reverse=True)  # type: ignore[type-var]

    def test_those_of_another_revision_or_taken_back_are_not(self, world: World, policy: PolicyRevision) -> None:
        ended(create_episode(world.ada, policy, "accept", "override", undo=1))
        assert self.states(world) == []
        ended(create_episode(world.ada, policy, "override"))
        assert len(self.states(world)) == 1
        activate(world.pool, "2")
        assert self.states(world) == []

    def test_only_admins_see_them_and_open_tasks_again(self, world: World, policy: PolicyRevision) -> None:
        client, task = world.client(world.rosa), Task.objects.filter(pool=world.pool)[0]
        assert client.get(f"/api/pools/{world.pool.pk}/states").status_code == 403
        assert client.post(f"/api/tasks/{task.pk}/reopen").status_code == 403
        assert world.client(root_make()).get("/api/pools/99999/states").status_code == 404

    def test_a_task_is_opened_again_for_everybody(self, world: World, policy: PolicyRevision) -> None:
        kinds(world.pool, "snake")
        episode = ended(create_episode(world.ada, policy, "override"))
        assert services.episode_next(user=world.ada) is None
        client, path = world.client(root_make()), f"/api/tasks/{episode.task_id}/reopen"
        assert [client.post(path).status_code for _ in range(2)] == [204, 204]
        assert AuditEntry.objects.filter(verb="task.reopened").count() == 1
        assert self.states(world)[0]["waiting"] is True
        again = services.episode_next(user=world.ada)
        assert again is not None
        assert (again.task_id, again.id) != (episode.task_id, episode.id)
        assert Task.objects.get(pk=episode.task_id).done == 1
        ended(again)
        assert services.episode_next(user=world.ada) is None, "done since"

    def test_a_broken_task_stays_closed(self, world: World, policy: PolicyRevision) -> None:
        episode = services.episode_next(user=world.ada)
        assert episode is not None
        ended(episode, status="left", outcome="broken")
        answer = world.client(root_make()).post(f"/api/tasks/{episode.task_id}/reopen")
        assert (answer.status_code, answer.json()["code"]) == (409, "task_broken")
        assert world.client(root_make()).post("/api/tasks/99999/reopen").status_code == 404


def test_states_name_their_episode_as_the_replay_does(world: World, policy: PolicyRevision) -> None:
    episode = ended(create_episode(world.ada, policy, "override"))
    (state,) = branch_candidates.branch_candidates(user=root_make(), pool_id=world.pool.pk)
    assert (state.episode, state.step) == (UUID(str(episode.id)), 0)
