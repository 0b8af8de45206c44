"""One episode at a time on a leased machine, as TRL's `environment_factory` wants it: the public methods are the tools
of the policy, and `get_reward` is the verifier's word."""

import base64
import contextlib
import io
import itertools
import os
from collections.abc import Callable, Mapping
from typing import Any

import httpx
from PIL import Image

TOKEN_VARIABLE = "PILOTHOUSE_OPENENV_TOKEN"  # noqa: S105 - the name of a variable
TIMEOUT_SECONDS, CLOSE_SECONDS = 180.0, 5.0
ENDED = "The episode has ended."
POLICY_ERRORS = ("invalid_request", "unknown_tool", "episode_done")
"""Reasons that are the policy's own; any other is the server's."""
ToolResult = str | list[dict[str, Any]]


class ServerError(Exception):
    """The server, the machine or the verifier failed."""


class PilothouseEnvironment:
    """A session of `./pilothouse openenv`. TRL makes one for each rollout of a batch, and resets it again and again.

    An episode that the server, the machine or the verifier failed has no reward: TRL leaves it out.
    """

    def __init__(self, base_url: str, *, pictures: bool = True) -> None:
        self._http = httpx.Client(
            base_url=base_url,
            headers={"Authorization": f"Bearer {os.environ.get(TOKEN_VARIABLE, '')}"},
            timeout=TIMEOUT_SECONDS,
        )
        self._pictures = pictures
        self._numbers = itertools.count(1)
        self._reward = 0.0
        self._done = self._lost = False

    def reset(self, task: str = "", seed: int | None = None, **_: object) -> str:
        """Begin an episode of a task.

        Args:
            task: Its id or name; none: the server chooses.
            seed: Of tasks that are made of one.

        Returns:
            The instruction and the size of the screen, for the end of the prompt.

        Raises:
            ServerError: No episode could be begun.
        """
        self._reward, self._done, self._lost = 0.0, False, False
        arguments = {name: value for name, value in (("task", task), ("seed", seed)) if value not in ("", None)}
        if "Mcp-Session-Id" not in self._http.headers:
            self._open()
        try:
            step = self._request("start_task", arguments)
        except ServerError:  # the session has ended: another one
            self._open()
            step = self._request("start_task", arguments)
        seen = step["structuredContent"]["observation"]
        return f"{seen['instruction']}\nThe screen has {seen['width']} x {seen['height']} pixels."

    def get_reward(self) -> float | None:
        """The sum of the episode's rewards, 0 to 1. An episode that goes on is judged as it stands. None: it was
        lost."""
        if not (self._done or self._lost):
            with contextlib.suppress(ServerError):
                self.finish()
        return None if self._lost else self._reward

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):
            self._close()

    def _close(self) -> None:
        """Give the machine back; a public method would be a tool of the policy. Idempotent."""
        if not self._http.is_closed:
            with contextlib.suppress(httpx.HTTPError):
                self._http.delete("/mcp", timeout=CLOSE_SECONDS)
            self._http.close()

    def click(self, x: int, y: int) -> ToolResult:
        """
        Click the left mouse button, or touch the screen.

        Args:
            x: Pixels from the left edge of the screen.
            y: Pixels from the top edge of the screen.

        Returns:
            The screen after it.
        """
        return self._act("click", {"x": x, "y": y})

    def double_click(self, x: int, y: int) -> ToolResult:
        """
        Click twice.

        Args:
            x: Pixels from the left edge of the screen.
            y: Pixels from the top edge of the screen.

        Returns:
            The screen after it.
        """
        return self._act("double_click", {"x": x, "y": y})

    def drag(self, from_x: int, from_y: int, to_x: int, to_y: int) -> ToolResult:
        """
        Press the mouse button at one point and release it at another.

        Args:
            from_x: Where it is pressed, pixels from the left.
            from_y: Where it is pressed, pixels from the top.
            to_x: Where it is released, pixels from the left.
            to_y: Where it is released, pixels from the top.

        Returns:
            The screen after it.
        """
        return self._act("drag", {"start": {"x": from_x, "y": from_y}, "end": {"x": to_x, "y": to_y}})

    def scroll(self, direction: str, amount: int = 5) -> ToolResult:
        """
        Turn the wheel.

        Args:
            direction: up, down, left or right.
            amount: How many notches.

        Returns:
            The screen after it.
        """
        return self._act("scroll", {"direction": direction, "amount": amount})

    def type_text(self, text: str) -> ToolResult:
        """
        Type text where the cursor is.

        Args:
            text: What is typed.

        Returns:
            The screen after it.
        """
        return self._act("type_text", {"text": text})

    def press_keys(self, keys: list[str]) -> ToolResult:
        """
        Press keys together, such as ctrl and s.

        Args:
            keys: Names of the keys, in the order in which they are pressed.

        Returns:
            The screen after it.
        """
        return self._act("press_keys", {"keys": keys})

    def wait(self, seconds: float) -> ToolResult:
        """
        Let time pass.

        Args:
            seconds: How long.

        Returns:
            The screen after it.
        """
        return self._act("wait", {"seconds": seconds})

    def run_command(self, command: str) -> ToolResult:
        """
        Run a command line, on machines with a terminal.

        Args:
            command: The command line.

        Returns:
            What it printed, and the screen after it.
        """
        return self._act("run_command", {"command": command})

    def finish(self, answer: str = "") -> ToolResult:
        """
        End the episode: the task is done.

        Args:
            answer: The answer, where the task asks for one.

        Returns:
            That it has ended.
        """
        return self._act("finish", {"answer": answer})

    def _act(self, kind: str, arguments: Mapping[str, Any]) -> ToolResult:
        if self._done or self._lost:
            return ENDED
        try:
            result = self._request(kind, arguments)
        except ServerError:
            self._lost = True
            raise
        if isinstance(result, str):
            return result
        step = result["structuredContent"]
        self._reward += step.get("reward") or 0.0
        self._done = step["done"]
        return self._describe(step["observation"], result["content"])

    def _describe(self, seen: Mapping[str, Any], content: list[dict[str, Any]]) -> ToolResult:
        lines = [f"Step {seen['steps']} of {seen['max_steps']}."]
        if seen.get("error"):
            lines.append(f"The action failed: {seen['error']['message']}")
        if seen.get("text"):
            lines.append(seen["text"])
        if self._done:
            lines.append(ENDED)
        pictures = [part["data"] for part in content if part["type"] == "image"] if self._pictures else []
        if not pictures:
            return "\n".join(lines)
        image = Image.open(io.BytesIO(base64.b64decode(pictures[0])))
        return [{"type": "image", "image": image}, {"type": "text", "text": "\n".join(lines)}]

    def _open(self) -> None:
        self._http.headers.pop("Mcp-Session-Id", None)
        response = self._post("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})
        self._http.headers["Mcp-Session-Id"] = response.headers["mcp-session-id"]

    def _request(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """The result of a tool, or why the policy may not call it so. Raises ServerError."""
        body = self._post("tools/call", {"name": name, "arguments": dict(arguments)}).json()
        if "error" not in body:
            return body["result"]
        message: str = body["error"]["message"]
        if name == "start_task" or body["error"].get("data", {}).get("reason", "") not in POLICY_ERRORS:
            raise ServerError(message)
        return f"That is no action: {message}"

    def _post(self, method: str, params: Mapping[str, Any]) -> httpx.Response:
        request = {"jsonrpc": "2.0", "id": next(self._numbers), "method": method, "params": params}
        try:
            response = self._http.post("/mcp", json=request)
        except httpx.HTTPError as error:
            raise ServerError(f"the server does not answer: {error or type(error).__name__}") from error
        if response.status_code != httpx.codes.OK:
            raise ServerError(f"the server answers {response.status_code}: {response.text[:300]}")
        return response


def environment_factory(base_url: str, *, pictures: bool = True) -> Callable[[], PilothouseEnvironment]:
    """What `GRPOTrainer(environment_factory=…)` takes.

    Args:
        base_url: Of the server. Its token is in PILOTHOUSE_OPENENV_TOKEN.
        pictures: Whether tools return the screen; without them a policy that reads text alone can be trained.
    """
    return lambda: PilothouseEnvironment(base_url, pictures=pictures)


DEFAULT_PROMPT = "Do the task on this machine by calling its tools."


def task_rows(base_url: str, *, prompt: str = DEFAULT_PROMPT) -> list[dict[str, Any]]:
    """The rows of a training set: a prompt, and the task that `reset` begins. Raises httpx.HTTPError."""
    headers = {"Authorization": f"Bearer {os.environ.get(TOKEN_VARIABLE, '')}"}
    with httpx.Client(base_url=base_url, headers=headers, timeout=TIMEOUT_SECONDS) as http:
        response = http.post("/pilothouse/tasks", json={"split": "all"})
        response.raise_for_status()
        tasks = response.json()["tasks"]
    return [{"prompt": [{"role": "user", "content": prompt}], "task": task["id"]} for task in tasks]
