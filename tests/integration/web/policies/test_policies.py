"""The registry of policies: one revision is active in a pool, a newer one may be tried in a share of its episodes."""

import json
from uuid import UUID

import pytest
from django.http import HttpResponse

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.audit.models import AuditEntry
from annotation_app.episodes import selectors, services
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors import trajectories
from annotation_app.policies.expert import EXPERT_URL
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.selectors import policy_server
from annotation_app.policies.services import policy_ensure
from annotation_app.promotions.selectors import EXAMPLE_ACTION, EXAMPLE_SCREEN, EXAMPLE_THOUGHT
from annotation_app.tasks.selectors import revision_of
from protocol.dialects.dialect import ParsedReply
from protocol.dialects.families import get_dialect, list_dialects
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
    PolicyRevision.objects.update(base_url=EXPERT_URL)
    assert world.client(world.ada).get(path).json() is None, "the machine's own scripts have no server"


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


def change(world: World, revision: PolicyRevision, **body: object) -> HttpResponse:
    client = world.client(root_of())
    return client.patch(f"/api/policies/{revision.pk}", body, content_type="application/json")  # type: ignore[return-value]


def test_where_a_revision_is_served_is_changed(world: World, old: PolicyRevision) -> None:
    assert change(world, old, base_url="http://other:8000/v1", model="m2").status_code == 204
    assert change(world, old, model="m2").status_code == 204, "nothing is to be changed"
    old.refresh_from_db()
    assert (old.base_url, old.model, old.checkpoint) == ("http://other:8000/v1", "m2", "/c/1")
    entry = AuditEntry.objects.get(verb="policy.changed")
    assert entry.details["model"] == {"before": "m", "after": "m2"}
    refused = change(world, old, base_url="http://name:word@other/v1")
    assert refused.status_code == 422
    assert json.loads(refused.content)["extra"]["fields"][0]["field"] == "base_url"
    assert change(world, old, sampling={"temperature": 0}).status_code == 422, "what steps were drawn with stays"


def test_a_retired_revision_proposes_nowhere_until_it_is_brought_back(
    world: World, old: PolicyRevision, new: PolicyRevision
) -> None:
    refused = change(world, old, retired=True)
    assert refused.status_code == 409
    assert json.loads(refused.content)["code"] == "revision_proposes"
    assert json.loads(refused.content)["extra"] == {"pools": [world.pool.name]}
    assert change(world, new, retired=True).status_code == 204
    listed = {each["id"]: each["retired"] for each in world.client(root_of()).get("/api/policies").json()}
    assert listed == {old.pk: False, new.pk: True}
    assert post(world, root_of(), "policy", revision=new.pk) == 409
    assert post(world, root_of(), "canary", revision=new.pk, share=10) == 409
    assert change(world, new, retired=False).status_code == 204
    assert post(world, root_of(), "policy", revision=new.pk) == 204
    assert AuditEntry.objects.filter(verb__in=("policy.retired", "policy.brought_back")).count() == 2


def test_researchers_read_policies_without_keys(world: World, old: PolicyRevision) -> None:
    researcher = user_ensure(username="rey", password=PASSWORD, name="Rey", roles=["researcher"])
    client = world.client(researcher)
    for path in ("/api/policies", "/api/policies/pools", "/api/probes", "/api/first-replies", "/api/health/parts"):
        assert client.get(path).status_code == 200, path
    assert post(world, researcher, "policy", revision=None) == 403


def test_every_dialect_has_an_example_that_it_reads_itself(world: World) -> None:
    examples = {each["name"]: each for each in world.client(root_of()).get("/api/policies/dialects").json()}
    assert set(examples) == set(list_dialects())
    for name, example in examples.items():
        parsed = get_dialect(name).parse(example["reply"], EXAMPLE_SCREEN)
        assert isinstance(parsed, ParsedReply), name
        assert (parsed.thought, parsed.action) == (EXAMPLE_THOUGHT, EXAMPLE_ACTION), name


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
    assert trajectories.episode_trajectory(episode_id=episode.id).policies == ()
