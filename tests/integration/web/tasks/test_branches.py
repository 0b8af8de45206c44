"""Attempts that begin at a state of an earlier one: asked for by an admin, or brought in by need."""

from uuid import UUID

import pytest

from annotation_app.audit.models import AuditEntry
from annotation_app.episodes import services
from annotation_app.episodes.models import Branch, Episode
from annotation_app.episodes.selectors import trajectories
from annotation_app.policies.models import PolicyRevision
from annotation_app.tasks.models import Sampling, Task, TaskState
from protocol.trajectory.trajectories import Branch as BranchValue
from tests.integration.web.conftest import World
from tests.integration.web.tasks.test_task_sampling import activate, create_episode, ended, kinds, root_make


@pytest.fixture
def policy(world: World) -> PolicyRevision:
    kinds(world.pool, "snake")
    return activate(world.pool, "1")


def request_branch_status(world: World, episode: Episode, step: int, *, who: str = "root") -> int:
    """The answer's status when somebody asks for the state before a step."""
    client = world.client(root_make() if who == "root" else world.ada)
    path = f"/api/episodes/{episode.id}/branch"
    return client.post(path, {"step": step}, content_type="application/json").status_code


def claimed(world: World) -> Episode:
    episode = services.episode_next(user=world.ben)
    assert episode is not None
    return episode


class TestAskedFor:
    def test_the_next_attempt_begins_there(self, world: World, policy: PolicyRevision) -> None:
        first = ended(create_episode(world.ada, policy, "accept", "accept", "override", undo=1))
        assert request_branch_status(world, first, 2) == 204
        second = claimed(world)
        assert second.desk.branch_of == BranchValue(episode=str(first.id), steps=1)
        (step,) = trajectories.branch_steps(episode_id=second.id)
        assert step == first.steps.get(index=0).document
        assert trajectories.episode_state(episode_id=second.id).branch_of == second.desk.branch_of
        assert AuditEntry.objects.filter(verb="episode.branched", subject=f"episode:{first.id}").count() == 1

    def test_it_waits_until_an_attempt_from_there_is_finished(self, world: World, policy: PolicyRevision) -> None:
        first = ended(create_episode(world.ada, policy, "accept", "override"))
        request_branch_status(world, first, 1)
        left = claimed(world)
        services.episode_change(episode_id=left.id, token=None, fields={"status": "left"})
        second = claimed(world)
        assert second.desk.branch_of is not None
        ended(second)
        assert not Branch.objects.get().open
        assert trajectories.episode_trajectory(episode_id=second.id).branch_of == second.desk.branch_of

    def test_the_state_before_the_first_step_is_the_start(self, world: World, policy: PolicyRevision) -> None:
        first = ended(create_episode(world.ada, policy, "override"))
        assert request_branch_status(world, first, 0) == 204
        assert claimed(world).desk.branch_of is None

    @pytest.mark.parametrize("step", [1, 7])
    def test_a_step_that_does_not_stand(self, world: World, policy: PolicyRevision, step: int) -> None:
        first = ended(create_episode(world.ada, policy, "accept", "override", undo=1))
        assert request_branch_status(world, first, step) == 404
        assert Task.objects.get(pk=first.task_id).state == TaskState.DONE

    def test_an_episode_that_goes_on(self, world: World, policy: PolicyRevision) -> None:
        assert request_branch_status(world, create_episode(world.ada, policy, "override"), 0) == 409

    def test_it_is_for_admins(self, world: World, policy: PolicyRevision) -> None:
        assert request_branch_status(world, ended(create_episode(world.ada, policy, "override")), 0, who="ada") == 403

    def test_an_episode_nobody_knows(self, world: World, policy: PolicyRevision) -> None:
        assert request_branch_status(world, Episode(id=UUID(int=7)), 0) == 404


class TestRefreshed:
    def test_needed_states_come_in_once(self, world: World, policy: PolicyRevision) -> None:
        first = ended(create_episode(world.ada, policy, "accept", "override"))
        assert services.branches_refresh() == 0, "only where tasks are drawn by need"
        world.pool.sampling = Sampling.BY_NEED
        world.pool.save()
        assert (services.branches_refresh(), services.branches_refresh()) == (1, 0)
        sources = AuditEntry.objects.filter(verb__in=("task.reopened", "episode.branched")).values_list(
            "source", flat=True
        )
        assert list(sources) == ["part:sampling"] * 2
        second = claimed(world)
        assert second.desk.branch_of == BranchValue(episode=str(first.id), steps=1)
        ended(second)
        assert services.branches_refresh() == 0, "it was begun at before"

    def test_only_what_the_active_revision_proposed(self, world: World, policy: PolicyRevision) -> None:
        ended(create_episode(world.ada, policy, "accept", "override"))
        world.pool.sampling = Sampling.BY_NEED
        activate(world.pool, "2")
        world.pool.save()
        assert services.branches_refresh() == 0

    def test_what_is_being_done_is_left_alone(self, world: World, policy: PolicyRevision) -> None:
        create_episode(world.ada, policy, "accept", "override")
        world.pool.sampling = Sampling.BY_NEED
        world.pool.save()
        assert services.branches_refresh() == 0
