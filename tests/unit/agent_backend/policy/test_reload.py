"""Weights are exchanged in the one order that is safe, and the server goes on whatever happened."""

import json
from typing import Any

import httpx
import pytest

from agent_backend.errors import PolicyRejected, PolicyUnavailable
from agent_backend.policy.reload import CACHES, ModelServerClient, main


class Server:
    """A model server that falls over, as vLLM does, when it goes on with caches of other weights."""

    def __init__(self, **broken: int) -> None:
        self.calls: list[str] = []
        self.bodies: dict[str, Any] = {}
        self.paused = self.stale = False
        self.version, self.weights = "r1", "one"
        self.models = ["base"]
        self._broken = broken

    @property
    def client(self) -> ModelServerClient:
        return ModelServerClient("http://model/v1", transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        self.calls.append(path + (f"?{request.url.query.decode()}" if request.url.query else ""))
        self.bodies[path] = json.loads(request.content) if request.content else None
        if status := self._broken.get(path.strip("/").replace("/", "_")):
            return httpx.Response(status, text="it does not work")
        return httpx.Response(200, json=self._do(path))

    def _do(self, path: str) -> dict[str, Any]:
        body = self.bodies[path]
        match path:
            case "/pause":
                self.paused = True
            case "/collective_rpc" | "/v1/load_lora_adapter":
                assert self.paused, "weights change only while nothing is asked"
                self.stale = True
                self.weights = str(body)
                self.models += [body["lora_name"]] if "lora_name" in body else []
            case "/v1/models":
                return {"data": [{"id": name} for name in self.models]}
            case "/update_weight_version":
                self.version = body["new_version"]
            case "/reset_encoder_cache":
                self.stale = False
            case "/resume":
                assert not self.stale, "the server would fall over"
                self.paused = False
        return {"weight_version": self.version}


async def test_the_safe_order() -> None:
    server = Server()
    await server.client.reload("/checkpoints/r2", "r2")
    assert server.calls == [
        *("/pause?mode=wait", "/collective_rpc", "/update_weight_version"),
        *(*reversed(CACHES), "/resume", "/weight_info"),
    ]
    assert server.bodies["/collective_rpc"]["kwargs"] == {"weights_path": "/checkpoints/r2"}
    assert (server.version, server.paused) == ("r2", False)


async def test_replies_may_be_frozen_instead_of_waited_for() -> None:
    server = Server()
    await server.client.reload("/checkpoints/r2", "r2", freeze=True)
    assert (server.calls[0], server.calls[-2], server.version) == ("/pause?mode=keep", "/resume", "r2")


def test_an_adapter_is_never_exchanged_under_a_reply(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--server", "http://127.0.0.1:9", "--adapter", "r2", "--version", "r2", "--freeze"])
    assert "--freeze needs whole checkpoints, not adapters" in capsys.readouterr().err


async def test_another_adapter_in_its_place() -> None:
    server = Server()
    await server.client.adapt("tuned", "/adapters/2")
    assert server.bodies["/v1/load_lora_adapter"] == {
        "lora_name": "tuned",
        "lora_path": "/adapters/2",
        "load_inplace": True,
    }
    assert server.calls[0] == "/pause?mode=wait"
    assert (server.calls[-2:], server.paused) == (["/resume", "/v1/models"], False)


async def test_an_adapter_nobody_can_ask_for_is_no_success() -> None:
    server = Server()
    server._do = lambda path: {"data": [{"id": "base"}]}  # type: ignore[method-assign]  # it says yes to everything
    with pytest.raises(PolicyRejected, match="'tuned', only base"):
        await server.client.adapt("tuned", "/adapters/2")


@pytest.mark.parametrize("broken", ["pause", "collective_rpc", "update_weight_version", "reset_prefix_cache"])
async def test_the_server_goes_on_whatever_failed(broken: str) -> None:
    server = Server(**{broken: 500})
    with pytest.raises(PolicyRejected, match=broken):
        await server.client.reload("/checkpoints/r2", "r2")
    assert server.calls[-1] == "/resume"
    assert not server.paused


async def test_weights_that_keep_their_old_name_are_no_success() -> None:
    server = Server()
    server._do = lambda path: {"weight_version": "r1"}  # type: ignore[method-assign]  # it says yes to everything
    with pytest.raises(PolicyRejected, match="'r1', not 'r2'"):
        await server.client.reload("/checkpoints/r2", "r2")


async def test_a_server_is_asked_what_it_has_and_told_nothing() -> None:
    server = Server()
    await server.client.expect("r1")
    with pytest.raises(PolicyRejected, match="'r1', not 'r2'"):
        await server.client.expect("r2")
    assert server.calls == ["/weight_info"] * 2


async def test_what_a_server_refuses_with_is_one_line() -> None:
    server = Server(collective_rpc=500)
    server._answer = lambda request: httpx.Response(500, text="it does\n  not work")  # type: ignore[method-assign]
    with pytest.raises(PolicyRejected, match="it does not work"):
        await server.client.reload("/checkpoints/r2", "r2")


async def test_a_server_that_is_not_there() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    client = ModelServerClient("http://model", transport=httpx.MockTransport(refuse))
    with pytest.raises(PolicyUnavailable, match="refused"):
        await client.reload("/checkpoints/r2", "r2")


def test_the_command_says_why_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--server", "http://127.0.0.1:9", "--weights", "r2", "--version", "r2"]) == 1
    assert "policy_unavailable: the model server does not answer" in capsys.readouterr().err
