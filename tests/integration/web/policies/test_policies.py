"""The registry of policies: one revision is active in a pool, a newer one may be tried in a share of its episodes."""

from uuid import UUID

import pytest

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.audit.models import AuditEntry
from annotation_app.episodes import selectors, services
from annotation_app.episodes.models import Episode
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.selectors import policy_server
from annotation_app.policies.services import policy_ensure
from annotation_app.tasks.selectors import revision_of
from protocol.dialects.prompt_template import PromptTemplate
from tests.integration.web.conftest import PASSWORD, World


@pytest.fixture
def old(world: World) -> PolicyRevision:
    """The pool's active revision."""
    revision = revision_make("1")
    world.pool.policy = revision
    world.pool.save()
    return revision


@pytest.fixture
def new() -> PolicyRevision:
    return revision_make("2")


def revision_make(name: str) -> PolicyRevision:
    return policy_ensure(
        name="tars",
        revision=name,
        dialect="ui_tars_1_5",
        base_url="http://model/v1",
        model="m",
        checkpoint=f"/c/{name}",
    )


def root_of() -> User:
    return user_ensure(username="root", password=PASSWORD, name="Root", roles=["admin"])


def post(world: World, user: User, path: str, **body: object) -> int:
    path = f"/api/pools/{world.pool.pk}/{path}"
    return world.client(user).post(path, body, content_type="application/json").status_code


def test_a_revision_is_activated_and_says_where_it_proposes(
    world: World, old: PolicyRevision, new: PolicyRevision
) -> None:
    assert post(world, root_of(), "policy", revision=new.pk) == 204
    world.pool.refresh_from_db()
    assert world.pool.policy == new
    listed = {each["id"]: each for each in world.client(root_of()).get("/api/policies").json()}
    assert listed[new.pk]["active_in"] == [world.pool.name]
    assert (listed[new.pk]["checkpoint"], listed[old.pk]["active_in"]) == ("/c/2", [])
    entry = AuditEntry.objects.get(verb="policy.activated")
    assert entry.details == {"before": "tars 1", "after": "tars 2"}


def test_only_admins_decide_who_proposes(world: World, old: PolicyRevision, new: PolicyRevision) -> None:
    for user in (world.ada, world.rosa):
        assert post(world, user, "policy", revision=new.pk) == 403
        assert post(world, user, "canary", revision=new.pk, share=5) == 403
        assert world.client(user).get("/api/policies").status_code == 403
    world.pool.refresh_from_db()
    assert world.pool.policy == old


def test_the_desk_says_which_server_and_model_answer(world: World, old: PolicyRevision) -> None:
    episode = services.episode_next(user=world.ada)
    assert episode is not None
    path = f"/api/episodes/{episode.id}/proposer"
    assert world.client(world.ada).get(path).json() == {"server": "model", "model": "m", "weight_version": ""}
    assert world.client(world.ben).get(path).status_code == 404, "somebody else's"


def test_nobody_may_propose(world: World, old: PolicyRevision) -> None:
    assert post(world, root_of(), "policy", revision=None) == 204
    world.pool.refresh_from_db()
    assert world.pool.policy is None


@pytest.mark.parametrize("body", [{"revision": 99_999}, {"revision": 0}, {"revision": "x"}, {}])
def test_a_revision_that_is_not_there_changes_nothing(
    world: World, old: PolicyRevision, body: dict[str, object]
) -> None:
    assert post(world, root_of(), "policy", **body) in (404, 422)
    world.pool.refresh_from_db()
    assert world.pool.policy == old


MAKERS_PROMPT = {"prompt": "As its makers have it.", "task": "{instruction}"}


def test_a_revision_is_asked_with_the_prompt_it_was_registered_with(world: World) -> None:
    body = {"name": "qwen", "revision": "1", "dialect": "qwen_computer", "base_url": "http://model/v1", "model": "q"}
    client = world.client(root_of())
    for again in range(2):
        made = client.post("/api/policies", body | {"prompt": MAKERS_PROMPT}, content_type="application/json")
        assert made.json()["new"] is not bool(again)
    revision = PolicyRevision.objects.get(name="qwen")
    assert client.get("/api/policies").json()[0]["prompt"] == MAKERS_PROMPT
    server = policy_server(revision, candidates=3)
    assert server is not None
    assert server.prompt == PromptTemplate(**MAKERS_PROMPT)
    other = client.post("/api/policies", body | {"prompt": None}, content_type="application/json")
    assert (other.status_code, other.json()["code"]) == (409, "revision_exists")


def test_a_prompt_that_cannot_be_filled_in_is_refused_by_its_field(world: World) -> None:
    body = {"name": "qwen", "revision": "1", "dialect": "qwen_computer", "base_url": "http://model/v1", "model": "q"}
    refused = world.client(root_of()).post(
        "/api/policies", body | {"prompt": {"prompt": "{goal}"}}, content_type="application/json"
    )
    assert refused.status_code == 422
    (field,) = refused.json()["extra"]["fields"]
    assert field["field"] == "prompt"
    assert "{goal} is nothing that can be filled in" in field["message"]
    assert not PolicyRevision.objects.filter(name="qwen").exists()


def test_the_prompt_of_a_dialect_is_there_to_begin_from(world: World) -> None:
    client = world.client(root_of())
    assert "{actions}" in client.get("/api/policies/prompts/qwen_computer").json()["prompt"]
    assert client.get("/api/policies/prompts/nobodys").status_code == 404
    assert world.client(world.ada).get("/api/policies/prompts/qwen_computer").status_code == 403


@pytest.mark.parametrize("share", [-1, 101])
def test_a_share_is_a_percentage(world: World, old: PolicyRevision, new: PolicyRevision, share: int) -> None:
    assert post(world, root_of(), "canary", revision=new.pk, share=share) == 422


def test_a_share_of_the_episodes_tries_the_canary(world: World, old: PolicyRevision, new: PolicyRevision) -> None:
    assert post(world, root_of(), "canary", revision=new.pk, share=30) == 204
    world.pool.refresh_from_db()
    tried = [revision_of(world.pool, UUID(int=number)) == new for number in range(1_000)]
    assert sum(tried) == 300
    assert tried == [revision_of(world.pool, UUID(int=number)) == new for number in range(1_000)], "always the same"


def test_an_episode_of_the_canary_is_asked_of_it(world: World, old: PolicyRevision, new: PolicyRevision) -> None:
    assert post(world, root_of(), "canary", revision=new.pk, share=100) == 204
    episode = services.episode_next(user=world.ada)
    assert episode is not None
    assert episode.policy == new
    server = selectors.policy_server_of(episode_id=episode.id)
    assert server is not None
    assert server.ref.revision == "2"
    assert post(world, root_of(), "canary", revision=None, share=0) == 204
    server = selectors.policy_server_of(episode_id=episode.id)
    assert server is not None
    assert server.ref.revision == "1", "a trial that ended has ended for those under way"


def test_what_was_tried_and_is_activated_is_no_trial_any_more(
    world: World, old: PolicyRevision, new: PolicyRevision
) -> None:
    post(world, root_of(), "canary", revision=new.pk, share=30)
    post(world, root_of(), "policy", revision=new.pk)
    world.pool.refresh_from_db()
    assert (world.pool.policy, world.pool.canary, world.pool.canary_share) == (new, None, 0)


def test_an_episode_without_steps_names_no_policy(world: World, old: PolicyRevision) -> None:
    episode = services.episode_next(user=world.ada)
    assert isinstance(episode, Episode)
    assert selectors.episode_trajectory(episode_id=episode.id).policies == ()
