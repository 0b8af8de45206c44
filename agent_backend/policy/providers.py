"""Opens policies by their server: an own server, or a provider of hosted models."""

from collections.abc import Callable
from typing import Protocol

from agent_backend.interfaces import Policy
from agent_backend.policy import anthropic, gemini, openai_responses
from agent_backend.policy.hosted import HostedModel, HostedPolicy
from agent_backend.policy.hosted_requests import Budget, ProviderClient
from agent_backend.policy.openai_chat import OpenAIPolicy, PolicyEndpoint
from protocol.dialects.families import get_dialect
from protocol.dialects.tool_calls import ToolDialect
from protocol.providers import DIALECTS, Provider
from protocol.trajectory.proposals import PolicyRef

_CLIENTS: dict[Provider, Callable[..., ProviderClient]] = {
    "anthropic": anthropic.AnthropicClient,
    "openai": openai_responses.OpenAIResponsesClient,
    "gemini": gemini.GeminiClient,
}


class ClosablePolicy(Policy, Protocol):
    """A policy with connections of its own."""

    async def aclose(self) -> None:
        """Close them."""
        ...


def open_policy(endpoint: PolicyEndpoint, budget: Budget | None = None) -> ClosablePolicy:
    """The policy at an endpoint. Raises ValueError for a dialect that its provider does not speak."""
    if endpoint.provider == "openai_compatible":
        return OpenAIPolicy(endpoint)
    dialect = get_dialect(endpoint.dialect, endpoint.prompt)
    settings = endpoint.settings
    if not isinstance(dialect, ToolDialect) or endpoint.dialect != DIALECTS[endpoint.provider]:
        raise ValueError(f"{endpoint.provider} speaks the dialect {DIALECTS[endpoint.provider]}")
    model = HostedModel(
        ref=PolicyRef(name=endpoint.name, revision=endpoint.revision, dialect=endpoint.dialect, teacher=True),
        provider=endpoint.provider,
        model=endpoint.model,
        dialect=dialect.with_tool(settings.computer_tool).scaled(settings.image_edge, settings.image_pixels),
        sampling=endpoint.sampling,
        timeouts=endpoint.timeouts,
        history=endpoint.budget,
        settings=settings,
        language=endpoint.language,
    )
    client = _CLIENTS[endpoint.provider](endpoint.base_url, endpoint.api_key, endpoint.timeouts, settings)
    return HostedPolicy(model, client, budget)
