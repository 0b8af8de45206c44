"""Policy server clients that episodes share, and the pool budgets that limit their requests."""

import json
import logging

from pydantic import SecretStr

from agent_backend.errors import BudgetSpent
from agent_backend.interfaces import Policy
from agent_backend.policy.openai_chat import PolicyEndpoint, SamplingParams
from agent_backend.policy.providers import ClosablePolicy, open_policy
from annotation_app.errors import Conflict
from annotation_app.live.store import run_in_db_thread
from annotation_app.policies.api_keys import api_key_for
from annotation_app.policies.selectors import PolicyServer
from annotation_app.tasks.services import spending_reserve, spending_settle
from protocol.providers import ProviderSettings
from protocol.trajectory.memory import HistoryBudget

logger = logging.getLogger(__name__)


class PolicyClients:
    """One client for each policy server in use, shared by its episodes."""

    def __init__(self) -> None:
        self._by_server: dict[PolicyServer, ClosablePolicy] = {}

    def of(self, server: PolicyServer | None) -> Policy | None:
        """The client of a server; None for no server, and for one with invalid settings."""
        if server is None:
            return None
        if server not in self._by_server:
            try:
                self._by_server[server] = open_policy(_endpoint(server), _budget(server))
            except ValueError as error:
                logger.error("the policy %s %s cannot be reached: %s", server.ref.name, server.ref.revision, error)
                return None
        return self._by_server[server]

    async def close(self) -> None:
        """Close every connection."""
        for policy in self._by_server.values():
            await policy.aclose()


def _endpoint(server: PolicyServer) -> PolicyEndpoint:
    """Raises ValueError for unknown sampling or memory settings, or an unknown dialect."""
    return PolicyEndpoint(
        **server.ref.model_dump(),
        base_url=server.base_url,
        model=server.model,
        api_key=SecretStr(
            "" if server.ref.scripted else server.api_key.get_secret_value() or api_key_for(server.base_url)
        ),
        provider=server.provider,
        settings=ProviderSettings.model_validate_json(server.provider_settings),
        sampling=SamplingParams.model_validate({**json.loads(server.sampling), "n": server.candidates}),
        budget=HistoryBudget.model_validate_json(server.memory),
        prompt=server.prompt,
    )


def _budget(server: PolicyServer) -> "PoolBudget | None":
    """The budget of a provider's model; None for other policies."""
    return None if server.pool is None else PoolBudget(server.pool, limited=server.budget_limited)


class PoolBudget:
    """The money that hosted models may cost in a pool; see `agent_backend.policy.hosted_requests.Budget`."""

    def __init__(self, pool_id: int, *, limited: bool) -> None:
        self._pool_id = pool_id
        self.limited = limited

    async def reserve(self, amount: int) -> None:
        """Reserve the highest possible cost of a request (millionths of a US dollar). Raises BudgetSpent."""
        try:
            await run_in_db_thread(spending_reserve, pool_id=self._pool_id, microdollars=amount)
        except Conflict as error:
            raise BudgetSpent(str(error)) from None

    async def settle(self, reserved: int, spent: int) -> None:
        """Replace the reserved amount with the actual cost."""
        await run_in_db_thread(spending_settle, pool_id=self._pool_id, reserved=reserved, spent=spent)
