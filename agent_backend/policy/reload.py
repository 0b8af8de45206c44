"""Loads new weights or another LoRA adapter into a running model server, in a safe order.

    python -m agent_backend.policy.reload --server http://127.0.0.1:8000 --weights checkpoints/r12 --version r12

vLLM has to run with VLLM_SERVER_DEV_MODE=1 (`trainer.serve` with its own switch). If weights change during a reply, or
caches keep results of the old weights, the server answers wrongly or crashes at the next cached picture. So this
program pauses the server until it is idle, loads the weights and their name, clears the caches, and always resumes it.
With `--freeze` it does not wait: running replies continue with the new weights. After SIGTERM it still resumes the
server. With `--asked` nothing is changed: it only reports whether the server has these weights. A server that requires
a key gets PILOTHOUSE_POLICY_API_KEY. Activate the new revision afterwards: proposals of the old one are then withdrawn
at the next decision point.
"""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import httpx

from agent_backend.errors import PolicyError, PolicyRejected, PolicyUnavailable

CACHES = ("/reset_prefix_cache", "/reset_mm_cache", "/reset_encoder_cache")
"""Caches that hold results of old weights, or must agree with such a cache."""
CALL_TIMEOUT_SECONDS = 120.0
"""Seconds one call may take: a paused server first finishes its requests."""
CONNECT_TIMEOUT_SECONDS = 10.0
MAX_ERROR_CHARACTERS = 300


class ModelServerClient:
    """The part of a vLLM-like server that changes weights. It must not be reachable from outside: no key protects
    it."""

    def __init__(
        self,
        root: str,
        *,
        api_key: str = "",
        transport: httpx.AsyncBaseTransport | None = None,
        within: float = CALL_TIMEOUT_SECONDS,
    ) -> None:
        self._client = httpx.AsyncClient(
            base_url=root.rstrip("/").removesuffix("/v1"),
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=httpx.Timeout(within, connect=CONNECT_TIMEOUT_SECONDS),
            # vLLM hangs up after an error it did not expect: the next call would meet a dead connection.
            limits=httpx.Limits(max_keepalive_connections=0),
            transport=transport,
            trust_env=False,
        )
        self._within = within

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def weight_version(self) -> str:
        """The name of the server's weights. Raises PolicyError."""
        return str((await self._call("GET", "/weight_info")).get("weight_version", ""))

    async def reload(self, weights: str, version: str, *, freeze: bool = False) -> None:
        """Exchange all weights for those of a checkpoint folder the server can read.

        Running answers are finished with the old weights, so that none spans two. With `freeze` they continue with the
        new ones. Raises PolicyError on failure; the server resumes in any case.
        """
        async with self._paused("keep" if freeze else "wait"):
            call = {"method": "reload_weights", "kwargs": {"weights_path": weights}, "timeout": int(self._within)}
            await self._call("POST", "/collective_rpc", json=call)
            await self._call("POST", "/update_weight_version", json={"new_version": version})
        await self.expect(version)

    async def expect(self, version: str) -> None:
        """Raises PolicyRejected if the server has other weights, and PolicyUnavailable if it does not answer."""
        current = await self.weight_version()
        if current != version:
            raise PolicyRejected(f"the server has the weights {current!r}, not {version!r}")

    async def adapt(self, name: str, adapter: str) -> None:
        """Load a LoRA adapter, in place of an earlier one of this name; requests select it as the model `name`. Raises
        PolicyError."""
        async with self._paused("wait"):
            body = {"lora_name": name, "lora_path": adapter, "load_inplace": True}
            await self._call("POST", "/v1/load_lora_adapter", json=body)
        if name not in (model_ids := await self.models()):
            raise PolicyRejected(f"the server does not know the adapter {name!r}, only {', '.join(model_ids)}")

    async def models(self) -> list[str]:
        """The models that the server offers, adapters included. Raises PolicyError."""
        cards = (await self._call("GET", "/v1/models")).get("data", [])
        return [card["id"] for card in cards]

    @asynccontextmanager
    async def _paused(self, mode: Literal["wait", "keep"]) -> AsyncIterator[None]:
        """Pause the server while the block runs: it is idle, or its answers are frozen. Afterwards its caches are
        cleared and it resumes in any case. Raises PolicyError."""
        async with AsyncExitStack() as after:
            after.push_async_callback(self._call, "POST", "/resume")
            await self._call("POST", "/pause", params={"mode": mode})
            for path in CACHES:
                after.push_async_callback(self._call, "POST", path)
            yield

    async def _call(self, method: str, path: str, **asked: Any) -> dict[str, Any]:
        try:
            response = await self._client.request(method, path, **asked)
        except httpx.HTTPError as error:
            raise PolicyUnavailable(
                f"the model server does not answer {path}: {error or type(error).__name__}"
            ) from None
        if not response.is_success:
            error_text = " ".join(response.text.split())[
                :MAX_ERROR_CHARACTERS
            ]  # in one line: programs read the last one of a log
            raise PolicyRejected(f"the model server refused {path} ({response.status_code}): {error_text}")
        try:
            answer = response.json() if response.content else {}
        except ValueError:
            answer = {}
        return answer if isinstance(answer, dict) else {}


async def reload(arguments: argparse.Namespace) -> None:
    """Do what the command line requests. SIGTERM cancels it."""
    if (this := asyncio.current_task()) is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
    key = os.environ.get("PILOTHOUSE_POLICY_API_KEY", "")
    server = ModelServerClient(arguments.server, api_key=key, within=arguments.within)
    try:
        if arguments.asked:
            await server.expect(arguments.version)
        elif arguments.adapter:
            await server.adapt(arguments.version, str(arguments.adapter))
        else:
            await server.reload(str(arguments.weights), arguments.version, freeze=arguments.freeze)
    finally:
        await server.aclose()


def main(argv: Sequence[str] | None = None) -> int:
    """Exchange the weights; returns 1 on failure."""
    parser = argparse.ArgumentParser(prog="python -m agent_backend.policy.reload", description="Exchange weights.")
    parser.add_argument("--server", required=True, help="the server's address, without /v1")
    parser.add_argument("--version", required=True, help="what the weights are called; the name of an adapter")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--weights", type=Path, help="a whole checkpoint, as the server finds it")
    what.add_argument("--adapter", type=Path, help="a LoRA adapter, as the server finds it")
    what.add_argument("--asked", action="store_true", help="change nothing; 1 where the server has other weights")
    parser.add_argument("--within", type=float, default=CALL_TIMEOUT_SECONDS, help="seconds that one call may take")
    parser.add_argument("--freeze", action="store_true", help="do not wait for replies; they go on with new weights")
    arguments = parser.parse_args(argv)
    if not arguments.weights and arguments.freeze:
        parser.error("--freeze needs whole checkpoints, not adapters")
    try:
        asyncio.run(reload(arguments))
    except PolicyError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    except asyncio.CancelledError:
        print("policy_error: stopped by a signal", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
