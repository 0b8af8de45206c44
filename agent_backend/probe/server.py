"""Finds out what an OpenAI-compatible server supports by asking the server."""

import base64
from typing import Any

import httpx

from agent_backend.policy.openai_chat import PolicyEndpoint
from agent_backend.probe.targets import probe_targets, screen_picture
from protocol.evaluation.probes import ServerAbilities

CALL_TIMEOUT_SECONDS = 20.0
IMAGE_COUNTS = (2, 4, 8)
"""How many pictures of one prompt are tried, one after the other."""


async def server_abilities(
    endpoint: PolicyEndpoint, *, transport: httpx.AsyncBaseTransport | None = None
) -> ServerAbilities:
    """Version, weights, models, context, several choices and pictures; what it does not report stays unknown."""
    version, weight_version = await server_identity(endpoint, transport=transport)
    async with _client(endpoint, transport) as client:
        cards = (await _get(client, f"{endpoint.base_url.rstrip('/')}/models")).get("data")
        models = [card for card in cards if isinstance(card, dict)] if isinstance(cards, list) else []
        own = next((card for card in models if card.get("id") == endpoint.model), {})
        context = own.get("max_model_len")
        return ServerAbilities(
            version=version,
            weight_version=weight_version,
            models=tuple(str(card.get("id"))[:200] for card in models[:50]),
            context_tokens=context if isinstance(context, int) else None,
            several_choices=await _several_choices(client, endpoint),
            images=await _images(client, endpoint),
        )


async def server_identity(
    endpoint: PolicyEndpoint, *, transport: httpx.AsyncBaseTransport | None = None
) -> tuple[str, str]:
    """The server's version and what it calls its weights; empty where it does not say, or does not answer."""
    root = endpoint.base_url.rstrip("/").removesuffix("/v1")
    async with _client(endpoint, transport) as client:
        version, weights = await _get(client, f"{root}/version"), await _get(client, f"{root}/weight_info")
    return str(version.get("version", ""))[:100], str(weights.get("weight_version", ""))[:200]


def _client(endpoint: PolicyEndpoint, transport: httpx.AsyncBaseTransport | None) -> httpx.AsyncClient:
    key = endpoint.api_key.get_secret_value()
    return httpx.AsyncClient(
        headers={"Authorization": f"Bearer {key}"} if key else {},
        timeout=CALL_TIMEOUT_SECONDS,
        transport=transport,
        trust_env=False,
    )


async def _several_choices(client: httpx.AsyncClient, endpoint: PolicyEndpoint) -> bool | None:
    answer = await _complete(client, endpoint, [{"role": "user", "content": "Say a word."}], n=2, temperature=1.0)
    return None if answer is None else len(answer.get("choices") or ()) == 2


async def _images(client: httpx.AsyncClient, endpoint: PolicyEndpoint) -> int | None:
    """The most pictures of one prompt that are answered; None where not even one is."""
    _, picture = screen_picture(probe_targets("small")[0].screen)
    part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64.b64encode(picture).decode()}"}}
    most = None
    for count in (1, *IMAGE_COUNTS):
        content = [*[part] * count, {"type": "text", "text": "Say a word."}]
        if await _complete(client, endpoint, [{"role": "user", "content": content}]) is None:
            break
        most = count
    return most


async def _complete(
    client: httpx.AsyncClient, endpoint: PolicyEndpoint, messages: list[dict[str, Any]], **fields: Any
) -> dict[str, Any] | None:
    """The answer of one token; None where there is none."""
    body = {"model": endpoint.model, "messages": messages, "max_tokens": 1, **fields}
    try:
        response = await client.post(f"{endpoint.base_url.rstrip('/')}/chat/completions", json=body)
        answer = response.json() if response.is_success else None
    except (httpx.HTTPError, ValueError):
        return None
    return answer if isinstance(answer, dict) and answer.get("choices") else None


async def _get(client: httpx.AsyncClient, url: str) -> dict[str, Any]:
    try:
        response = await client.get(url)
        answer = response.json() if response.is_success else None
    except (httpx.HTTPError, ValueError):
        return {}
    return answer if isinstance(answer, dict) else {}
