"""Policies of hosted models: registered with a provider and a key, asked within a pool's budget."""

from typing import Any

import pytest
from pydantic import SecretStr

from agent_backend.errors import BudgetSpent
from agent_backend.policy.hosted import HostedPolicy
from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.audit.models import AuditEntry
from annotation_app.episodes import selectors, services
from annotation_app.errors import Conflict
from annotation_app.live import policy_clients
from annotation_app.live.policy_clients import PolicyClients, PoolBudget
from annotation_app.policies.models import PolicyRevision, ProviderKey
from annotation_app.policies.selectors import PolicyServer, provider_key_of
from annotation_app.tasks.models import PolicySpending
from annotation_app.tasks.services import spending_reserve, spending_settle
from protocol.trajectory.proposals import PolicyRef
from tests.integration.web.conftest import PASSWORD, World

KEY = "sk-ant-very-secret-0123456789"
EDGE = {"provider_settings": {"image_edge": 900}}
CLAUDE = {"name": "claude", "revision": "5.5", "provider": "anthropic", "model": "claude-opus-5-5"}


def root_of() -> User:
    return user_ensure(username="root", password=PASSWORD, name="Root", roles=["admin"])


def register(world: World, **body: Any) -> Any:
    return world.client(root_of()).post("/api/policies", body, content_type="application/json")


def test_a_providers_model_needs_a_name_and_a_key(world: World) -> None:
    assert register(world, **CLAUDE, api_key=KEY).json()["new"]
    revision = PolicyRevision.objects.get(name="claude")
    assert (revision.base_url, revision.dialect, revision.teacher) == ("https://api.anthropic.com", "anthropic", True)
    (listed,) = (row for row in world.client(root_of()).get("/api/policies").json() if row["id"] == revision.pk)
    assert (listed["provider"], listed["key_hint"], listed["policy"]["teacher"]) == ("anthropic", "6789", True)


def test_the_key_is_sealed_and_told_to_nobody(world: World) -> None:
    register(world, **CLAUDE, api_key=KEY)
    stored = ProviderKey.objects.get()
    assert KEY not in stored.sealed
    assert KEY not in world.client(root_of()).get("/api/policies").content.decode()
    assert not any(KEY in str(entry.details) for entry in AuditEntry.objects.all())
    refused = register(world, **{**CLAUDE, "revision": "6", "provider": "nobody"}, api_key=KEY)
    assert refused.status_code == 422
    assert KEY not in refused.content.decode()


def test_a_key_belongs_to_one_origin_and_is_replaced(world: World) -> None:
    register(world, **CLAUDE, api_key=KEY)
    assert provider_key_of("https://api.anthropic.com:443/v1") == KEY
    for other in ("https://api.openai.com/v1", "http://api.anthropic.com", "https://api.anthropic.com.evil.example"):
        assert provider_key_of(other) == ""
    register(world, **{**CLAUDE, "revision": "5.6"}, api_key=f"{KEY}-new")
    assert provider_key_of("https://api.anthropic.com") == f"{KEY}-new"
    register(world, **{**CLAUDE, "revision": "5.7"})
    assert provider_key_of("https://api.anthropic.com") == f"{KEY}-new"


def test_a_key_that_no_present_key_opens_counts_as_none(world: World) -> None:
    ProviderKey.objects.create(origin="https://api.anthropic.com:443", sealed="nonsense", hint="")
    assert provider_key_of("https://api.anthropic.com") == ""


@pytest.mark.parametrize(
    "body",
    [
        {"dialect": "ui_tars_1_5"},
        {"scripted": True},
        {"provider_settings": {"computer_tool": "computer_use_preview"}},
        {"provider_settings": {"image_edge": 1}},
        {"provider_settings": {"prices": {"input": -1, "output": 2}}},
        {"provider": "openai_compatible", "dialect": "ui_tars_1_5"},
        {"provider": "openai_compatible", "dialect": "json_calls", "base_url": "http://m/v1", **EDGE},
    ],
)
def test_what_does_not_fit_the_provider_is_refused(world: World, body: dict[str, Any]) -> None:
    assert register(world, **{**CLAUDE, **body}).status_code == 422
    assert not PolicyRevision.objects.filter(name="claude").exists()


def test_only_admins_enter_keys(world: World) -> None:
    answer = world.client(world.ada).post("/api/policies", {**CLAUDE, "api_key": KEY}, content_type="application/json")
    assert answer.status_code == 403
    assert not ProviderKey.objects.exists()


async def test_a_client_is_opened_for_each_key_and_pool() -> None:
    ref = PolicyRef(name="claude", revision="1", dialect="anthropic", teacher=True)
    server = PolicyServer(
        ref=ref,
        base_url="https://api.anthropic.com",
        model="m",
        sampling="{}",
        memory="{}",
        candidates=2,
        provider="anthropic",
        api_key=SecretStr(KEY),
        pool=1,
    )
    clients = PolicyClients()
    first, again = clients.of(server), clients.of(server.model_copy())
    other = clients.of(server.model_copy(update={"pool": 2}))
    changed = clients.of(server.model_copy(update={"api_key": SecretStr("another")}))
    assert first is again
    assert len({id(one) for one in (first, other, changed)}) == 3
    assert isinstance(first, HostedPolicy)
    assert first.ref == ref
    await clients.close()


def test_an_episode_is_asked_within_its_pools_budget(world: World) -> None:
    register(world, **CLAUDE, api_key=KEY, provider_settings={"prices": {"input": 5, "output": 25}})
    world.pool.policy = PolicyRevision.objects.get(name="claude")
    world.pool.policy_budget = 1.5
    world.pool.save()
    episode = services.episode_next(user=world.ada)
    assert episode is not None
    server = selectors.policy_server_of(episode_id=episode.id)
    assert server is not None
    assert (server.pool, server.budget_limited, server.api_key.get_secret_value()) == (world.pool.pk, True, KEY)
    assert KEY not in repr(server)


def test_what_is_spent_is_counted_and_bounded(world: World) -> None:
    world.pool.policy_budget = 0.01
    world.pool.save()
    spending_reserve(pool_id=world.pool.pk, microdollars=6_000)
    with pytest.raises(Conflict, match="is spent") as refused:
        spending_reserve(pool_id=world.pool.pk, microdollars=6_000)
    assert refused.value.code == "budget_spent"
    spending_settle(pool_id=world.pool.pk, reserved=6_000, spent=4_000)
    assert PolicySpending.objects.get().microdollars == 4_000
    spending_reserve(pool_id=world.pool.pk, microdollars=6_000)
    row = world.client(root_of()).get(f"/api/pools/{world.pool.pk}").json()
    assert (row["policy_spent"], row["settings"]["policy_budget"]) == (0.01, 0.01)


def test_without_a_budget_costs_are_counted_alone(world: World) -> None:
    spending_reserve(pool_id=world.pool.pk, microdollars=10**12)
    spending_settle(pool_id=world.pool.pk, reserved=10**12, spent=5)
    assert PolicySpending.objects.get().microdollars == 5


async def test_a_spent_budget_is_told_with_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: int) -> None:
        raise Conflict("The budget is spent.", code="budget_spent")

    monkeypatch.setattr(policy_clients, "spending_reserve", refuse)
    with pytest.raises(BudgetSpent, match=r"The budget is spent\.") as spent:
        await PoolBudget(1, limited=True).reserve(1)
    assert spent.value.code == "budget_spent"
