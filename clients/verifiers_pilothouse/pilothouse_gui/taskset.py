"""The tasks of a server, and how a policy plays one: a turn with the screen, a reply with one action."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import verifiers.v1 as vf

from pilothouse_gui.client import InvalidReply, Session, Step, list_tasks, session

MAX_INVALID_REPLIES = 3
"""So many replies in a row without an action end an episode."""
DEFAULT_URL = "http://127.0.0.1:8030"


class PilothouseData(vf.TaskData):
    """A task of the server."""

    base_url: str
    task: str
    seed: int | None = None


class PilothouseConfig(vf.TasksetConfig):
    """Which server, and which of its tasks. The token is in PILOTHOUSE_OPENENV_TOKEN."""

    base_url: str = DEFAULT_URL
    tasks: list[str] = []
    """Ids or names; none: every task."""
    seeds: list[int] = []
    """One episode of each task for each of them; none: the server's own seed."""


class PilothouseTask(vf.Task[PilothouseData]):
    """A task; the episode itself gives the reward."""


class PilothouseTaskset(vf.Taskset[PilothouseTask, PilothouseConfig]):
    """The tasks of a server."""

    def load(self) -> Iterator[PilothouseTask]:
        config = self.config
        seeds: list[int | None] = [*config.seeds] or [None]
        for task in list_tasks(config.base_url):
            if config.tasks and not {task["id"], task["name"]} & set(config.tasks):
                continue
            for seed in seeds:
                name = task["name"] or task["id"]
                data = PilothouseData(
                    name=f"{name} seed {seed}" if seed is not None else name,
                    id=task["id"],
                    prompt=None,
                    base_url=config.base_url,
                    task=name if seed is not None else task["id"],
                    seed=seed,
                )
                yield PilothouseTask(data, config.task)


class PilothouseEnvConfig(vf.EnvConfig):
    """The policy's seat."""

    player: vf.AgentConfig = vf.AgentConfig()


class PilothouseEnv(vf.Env[PilothouseEnvConfig]):
    """One episode on a leased machine; the task's verifier gives the reward.

    A server that fails raises, so that the episode is an error and no sample.
    """

    async def run(self, task: PilothouseTask, agents: vf.Agents) -> None:
        data = task.data
        async with session(data.base_url) as machine:
            step = await machine.start(data.task, data.seed)
            tools = await machine.tools()
            async with agents.player.interaction(task) as interaction:
                await _play(machine, step, introduction(step, tools), interaction)


async def _play(machine: Session, step: Step, opening: str, interaction: Any) -> None:
    trace = interaction.trace
    total, invalid = 0.0, 0
    text, picture = opening, step.picture
    while not step.done:
        segment = await interaction.turn([user_turn(text, picture)])
        if segment.terminated:
            break
        try:
            step = await machine.act(parse_reply(segment.last_reply))
        except InvalidReply as error:
            invalid += 1
            if invalid >= MAX_INVALID_REPLIES:
                trace.stop("no_action")
                break
            text, picture = f"That is no action: {error}", None
            continue
        invalid = 0
        total += step.reward
        text, picture = describe(step), step.picture
    trace.info["steps"] = step.observation.get("steps", 0)
    trace.info["task"] = step.observation["task"]
    trace.record_reward("verifier", total)


def introduction(step: Step, tools: list[dict[str, Any]]) -> str:
    """The first turn: the instruction, the actions and the form of a reply."""
    actions = "\n".join(f"- {tool['name']}: {json.dumps(tool['inputSchema'].get('properties', {}))}" for tool in tools)
    width, height = step.observation["width"], step.observation["height"]
    return (
        f"{step.observation['instruction']}\n\n"
        f"The screen has {width} x {height} pixels. Reply with one JSON object and nothing else, for example\n"
        '{"kind": "click", "x": 10, "y": 20}\nor {"kind": "finish", "answer": ""} when you are done.\n'
        "Kinds and fields:\n"
        f"{actions}\n\n{describe(step)}"
    )


def describe(step: Step) -> str:
    """The texts of an observation."""
    seen = step.observation
    error = seen.get("error")
    lines = [f"Step {seen['steps']} of {seen['max_steps']}."]
    if error is not None:
        lines.append(f"The action failed: {error['message']}")
    if seen.get("text"):
        lines.append(seen["text"])
    return "\n".join(lines)


def user_turn(text: str, picture: str | None) -> vf.UserMessage:
    """A turn with the screen, where there is one."""
    parts: list[Any] = [vf.TextContentPart(text=text)]
    if picture is not None:
        parts.append(vf.ImageUrlContentPart(image_url=vf.ImageUrlSource(url=picture)))
    return vf.UserMessage(content=parts)


def parse_reply(text: str) -> Mapping[str, Any]:
    """The action of a reply: its last JSON object with a kind. Raises InvalidReply."""
    found: Mapping[str, Any] | None = None
    decoder, start = json.JSONDecoder(), text.find("{")
    while start >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            found = value if isinstance(value, dict) and "kind" in value else found
        start = text.find("{", end)
    if found is None:
        raise InvalidReply("the reply has no JSON object with a kind")
    return found
