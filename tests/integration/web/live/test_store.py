"""The store's contract over PostgreSQL, and what only a database can promise."""

import asyncio
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction

from agent_backend.errors import CommandRejected, EpisodeFenced
from agent_backend.interfaces import EpisodeStore
from annotation_app.episodes import services
from annotation_app.episodes.models import Episode, Proposal, Step
from annotation_app.episodes.selectors import trajectories
from annotation_app.live.store import DjangoStore, run_in_db_thread
from protocol.trajectory.steps import Step as StepValue
from tests.contract.test_store import DIGEST, POLICY, NewStore, StoreContract, Writer, intent, look, proposal, step
from tests.integration.web.conftest import World


def driven(world: World) -> tuple[UUID, int]:
    """A new episode of Ada's, and the fencing token of who drives it."""
    episode = services.episode_next(user=world.ada)
    assert episode is not None
    return episode.id, services.runner_take_over(episode_id=episode.id, runner="here:1:a", seconds=60)


class TestDjangoStore(StoreContract):
    @pytest.fixture
    def new_store(self, committed: World) -> NewStore:
        async def new() -> EpisodeStore:
            episode_id, token = await run_in_db_thread(driven, world=committed)
            return DjangoStore(episode_id, token)

        return new

    async def test_another_runner_ends_every_writer(self, write: Writer) -> None:
        store = write.store
        assert isinstance(store, DjangoStore)
        episode_id = UUID((await store.load()).id)
        before = await store.load()
        await store.check_fence()
        await run_in_db_thread(services.runner_take_over, episode_id=episode_id, runner="there:2:b", seconds=60)
        with pytest.raises(EpisodeFenced):
            await store.check_fence()
        with pytest.raises(EpisodeFenced):
            await store.begin_act(intent(), DIGEST)
        with pytest.raises(EpisodeFenced):
            await store.append_step(step())
        with pytest.raises(EpisodeFenced):
            await store.add_proposals((proposal(1),), POLICY)
        with pytest.raises(EpisodeFenced):
            await store.withdraw_proposals("resampled")
        with pytest.raises(EpisodeFenced):
            await store.mark_proposal("proposal-1", "wrong")
        with pytest.raises(EpisodeFenced):
            await store.change({"status": "paused"})
        with pytest.raises(EpisodeFenced):
            await store.record_command("command-7", DIGEST)
        assert await store.load() == before

    async def test_a_command_of_another_episode_is_a_conflict(self, write: Writer, committed: World) -> None:
        await write.store.record_command("command-1", DIGEST)
        other = await run_in_db_thread(services.episode_next, user=committed.ben)
        assert other is not None
        token = await run_in_db_thread(services.runner_take_over, episode_id=other.id, runner="here:1:a", seconds=60)
        known = await DjangoStore(other.id, token).find_command("command-1")
        assert known is not None
        assert known.digest != DIGEST, "it must not pass for a resend"
        with pytest.raises(CommandRejected) as refused:
            await DjangoStore(other.id, token).begin_act(intent(), DIGEST)
        assert refused.value.code == "command_conflict"
        assert (await DjangoStore(other.id, token).load()).version == 0

    async def test_a_step_out_of_order_is_refused(self, write: Writer) -> None:
        with pytest.raises(ValueError, match="cannot follow"):
            await write.store.append_step(step(1))

    async def test_offers_not_taken_are_kept_with_their_marks(self, write: Writer) -> None:
        await write(lambda s: s.add_proposals((proposal(1), proposal(2)), POLICY))
        await write(lambda s: s.mark_proposal("proposal-2", "wrong"))
        await write(lambda s: s.withdraw_proposals("resampled"))
        await write(lambda s: s.add_proposals((proposal(3, rank=1),), POLICY))
        await write(lambda s: s.begin_act(intent(), DIGEST))
        await write(lambda s: s.append_step(step(proposal_id="proposal-3")))
        rows = await run_in_db_thread(
            lambda: list(Proposal.objects.order_by("key").values_list("key", "mark", "open", "index"))
        )
        assert rows == [("proposal-1", "", False, 0), ("proposal-2", "wrong", False, 0), ("proposal-3", "", False, 0)]

    async def test_texts_no_database_likes_are_kept(self, write: Writer) -> None:
        odd = step(
            thought="nul \x00 and a lone quote ' and 中", before=step().before.model_copy(update={"text": "\x00"})
        )
        await write(lambda s: s.begin_act(intent(), DIGEST))
        await write(lambda s: s.append_step(odd))
        assert (await write.store.load()).steps == (odd,)

    async def test_a_state_is_of_one_moment(self, write: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
        await write(lambda s: s.begin_act(intent(), DIGEST))
        await write(lambda s: s.append_step(step()))
        before = await write.store.load()
        loop, steps_of = asyncio.get_running_loop(), trajectories.steps_of

        def overtaken(episode: Episode) -> tuple[StepValue, ...]:
            """What is done between the reading of the episode's row and that of its steps."""
            undone = asyncio.run_coroutine_threadsafe(write.store.undo_step(0, look("before")), loop)
            undone.result(timeout=60)
            return steps_of(episode)

        with monkeypatch.context() as patched:
            patched.setattr(trajectories, "steps_of", overtaken)
            assert await write.store.load() == before
        after = await write.store.load()
        assert (after.observation, after.steps[0].undone) == (look("before"), True)


@pytest.mark.django_db(transaction=True)
class TestImmutability:
    def stored_step(self, world: World) -> Episode:
        episode_id, token = driven(world)
        services.step_append(episode_id=episode_id, token=token, step=step())
        return Episode.objects.get(pk=episode_id)

    def test_steps_are_never_changed(self, committed: World) -> None:
        self.stored_step(committed)
        with pytest.raises(IntegrityError, match="never changed"):
            Step.objects.update(decision="accept")
        with pytest.raises(IntegrityError, match="never changed"):
            Step.objects.all().delete()

    def test_an_index_is_used_once(self, committed: World) -> None:
        episode = self.stored_step(committed)
        again = Step(episode=episode, index=0, command_id="another", actor="human", decision="auto", document=step())
        with pytest.raises(IntegrityError, match="step_once"), transaction.atomic():
            again.save(force_insert=True)

    def test_the_audit_log_is_never_changed(self, committed: World) -> None:
        self.stored_step(committed)
        with pytest.raises(IntegrityError, match="never changed"), connection.cursor() as cursor:
            cursor.execute("UPDATE audit_auditentry SET verb = 'nothing'")
