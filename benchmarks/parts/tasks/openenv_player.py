"""Plays tasks through OpenEnv's own client: `python openenv_player.py URL EPISODES`, in OpenEnv's environment.

EPISODES is a JSON list of {task, seed, actions}. Prints a JSON object: the outcome of each episode, whether MCP clients
get tools and pictures, and how long each of many steps took. The token is in PILOTHOUSE_OPENENV_TOKEN.
"""

import asyncio
import base64
import json
import os
import sys
import time
from typing import Any

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from openenv.core.generic_client import GenericEnvClient
from openenv.core.mcp_client import MCPToolClient

HEADERS = {"Authorization": f"Bearer {os.environ['PILOTHOUSE_OPENENV_TOKEN']}"}
MESSAGE_TIMEOUT_SECONDS = 120.0


async def play(url: str, episode: dict[str, Any]) -> dict[str, Any]:
    """One episode by the given actions; the sum of its rewards, and whether each step had a picture."""
    total, pictures, result = 0.0, 0, None
    async with GenericEnvClient(url, headers=HEADERS, message_timeout_s=MESSAGE_TIMEOUT_SECONDS) as env:
        result = await env.reset(task=episode["task"], seed=episode["seed"])
        for action in episode["actions"]:
            result = await env.step(action)
            total += result.reward or 0.0
            screenshot = result.observation["screenshot"]
            pictures += screenshot is not None and len(base64.b64decode(screenshot["data"])) > 0
            if result.done:
                break
        state = await env.state()
    return {
        "task": episode["task"],
        "reward": round(total, 6),
        "success": result.observation["success"],
        "done": result.done,
        "steps": state["step_count"],
        "pictures": pictures,
    }


async def measure_steps(url: str, episode: dict[str, Any]) -> None:
    """Take as many steps as each line of standard input says, all the same action, and print a line with their seconds.

    Where the steps would reach the end of the task, a new episode begins first.
    """
    async with GenericEnvClient(url, headers=HEADERS, message_timeout_s=MESSAGE_TIMEOUT_SECONDS) as env:
        left = 0
        while line := await asyncio.to_thread(sys.stdin.readline):
            count, taken = int(line), []
            if count >= left:
                result = await env.reset(task=episode["task"], seed=episode["seed"])
                left = result.observation["max_steps"]
            left -= count
            for _ in range(count):
                began = time.perf_counter()
                await env.step(episode["step"])
                taken.append(time.perf_counter() - began)
            print(json.dumps(taken), flush=True)


async def official_mcp_works(url: str, task: str) -> bool:
    """Whether the client of the package `mcp` begins a task and gets a picture and tools."""
    async with (
        streamablehttp_client(f"{url}/mcp", headers=HEADERS) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        begun = await session.call_tool("start_task", {"task": task})
        tools = await session.list_tools()
        kinds = {part.type for part in begun.content}
        return kinds == {"text", "image"} and any(tool.name == "finish" for tool in tools.tools)


async def openenv_mcp_works(url: str, task: str) -> bool:
    """Whether OpenEnv's client of tools shares a session between its socket and HTTP."""
    async with MCPToolClient(url, headers=HEADERS, message_timeout_s=MESSAGE_TIMEOUT_SECONDS) as env:
        await env.reset(task=task)
        tools = await env.list_tools()
        shown = await env.call_tool("screenshot")
        return any(tool.name == "click" for tool in tools) and shown["content"][1]["type"] == "image"


async def main(url: str, path: str) -> dict[str, Any]:
    """Everything; where the file has a `measure`, only the steps that standard input asks for."""
    with open(path) as file:  # noqa: ASYNC230 - a small file, before anything runs
        plan = json.load(file)
    if "measure" in plan:
        await measure_steps(url, plan["measure"])
        return {}
    episodes = [await play(url, episode) for episode in plan["episodes"]]
    task = plan["episodes"][0]["task"]
    return {
        "episodes": episodes,
        "mcp": await official_mcp_works(url, task),
        "openenv_mcp": await openenv_mcp_works(url, task),
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
