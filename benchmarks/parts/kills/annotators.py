"""Scripted annotators: take a task, act, finish, take the next, whatever is killed meanwhile."""

import asyncio
import contextlib
import json
import random
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from benchmarks.parts.figures import print_progress
from benchmarks.parts.kills.episode_client import ENDED, Command, EpisodeClient
from benchmarks.parts.kills.machine_logs import MachineLogReader, log_command

RETRY_SECONDS = 0.2
THINKING_SECONDS = 0.1
"""Between two acts: quicker than any person."""
OUTCOME_TIMEOUT_SECONDS = 60.0
"""A command without an answer for so long has no fate."""
BURST = 3
"""Most acts that are sent before the first of them is answered."""
HTTP_SECONDS = 15.0
FORM_FIELDS = 2
"""Fewest fields of the browser's task (`seed.py`); after so many Tabs the cursor would be on its button."""
READ_FIELDS_SCRIPT = (
    "JSON.stringify([document.URL, [...document.querySelectorAll('input')].map(field => field.value).join(' ')])"
)


@dataclass(eq=False, slots=True)
class Episode:
    """What one annotator knows of one episode after leaving it."""

    id: str
    kind: str
    commands: list[Command]
    status: str
    error: str
    complete: bool
    """Whether the witness inside its machine was read when all its acts were done."""
    failed_at: float | None = None


@dataclass(eq=False, slots=True)
class Annotator:
    """One person; `limit` is how many acts an episode of theirs has."""

    name: str
    kind: str
    pool: int
    session: str
    addresses: tuple[str, ...]
    origin: str
    run: str
    machine_logs: MachineLogReader
    limit: int
    rng: random.Random
    episode_client: EpisodeClient | None = None
    episodes: list[Episode] = field(default_factory=list)
    acted: float = 0.0
    """When the last act was sent of those that are stored (`time.monotonic`)."""
    steps: int = 0
    over: bool = False
    idle: str = ""
    """What keeps this person from acting."""

    async def work(self) -> None:
        """Episode after episode, until `over`."""
        while not self.over:
            self.idle = "asks for a task"
            episode = await self._next()
            if episode is None:
                await asyncio.sleep(RETRY_SECONDS)
                continue
            self.episode_client = EpisodeClient(episode, self.session, self.addresses, self.origin, self.rng)
            running = asyncio.create_task(self.episode_client.run())
            try:
                self.episodes.append(await self._play(self.episode_client))
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)
                self.episode_client = None

    async def _play(self, episode_client: EpisodeClient) -> Episode:
        self.idle = "waits for a machine"
        await self._until(episode_client, lambda: episode_client.status != "warming" and episode_client.has_control)
        done, complete, failed_at = 0, False, None
        if self.kind == "browser":
            await self._focus_field(episode_client)
        while done < self.limit and not self.over and episode_client.status == "running":
            burst = min(self.rng.randint(1, BURST), self.limit - done)
            done += burst
            await self._act(episode_client, burst)
            await asyncio.sleep(self.rng.random() * 2 * THINKING_SECONDS)
        if episode_client.status == "running":
            complete = await self._read(episode_client)
            await self._end(episode_client, {"type": "finish", "outcome": "success"})
        else:
            failed_at = time.monotonic()
            await self._end(episode_client, {"type": "leave", "how": "broken", "reason": episode_client.error[:200]})
        commands = list(episode_client.commands.values())
        return Episode(
            episode_client.episode,
            self.kind,
            commands,
            episode_client.status,
            episode_client.error,
            complete,
            failed_at,
        )

    async def _focus_field(self, episode_client: EpisodeClient) -> None:
        """Press Tab until one press is stored as done: after an unknown outcome no field may have the cursor."""
        for _ in range(FORM_FIELDS):
            (pressed,) = await self._do(episode_client, [{"kind": "press_keys", "keys": ["Tab"]}])
            if pressed.step is not None and pressed.step["error"] is None:
                return

    async def _act(self, episode_client: EpisodeClient, count: int) -> None:
        names = [f"a{secrets.token_hex(5)}" for _ in range(count)]
        if self.kind == "browser":
            actions = [{"kind": "type_text", "text": f"{name} "} for name in names]
        else:
            actions = [
                {"kind": "run_command", "command": log_command(self.run, episode_client.episode, name)}
                for name in names
            ]
        await self._do(episode_client, actions, names)

    async def _do(
        self, episode_client: EpisodeClient, actions: list[dict[str, Any]], names: list[str] | None = None
    ) -> list[Command]:
        """Send acts and wait until each is stored or refused, or the episode has failed; those commands."""
        self.idle = "waits for what came of an act"
        began = time.monotonic()
        given = names or [f"b{secrets.token_hex(5)}" for _ in actions]
        sent = [
            episode_client.send({"type": "act", "thought": "on", "action": action}, name)
            for action, name in zip(actions, given, strict=True)
        ]
        await self._until(
            episode_client, lambda: all(_has_outcome(command) for command in sent) or episode_client.status != "running"
        )
        if stored := [command for command in sent if command.step is not None]:
            self.acted, self.steps = began, self.steps + len(stored)
        return sent

    async def _end(self, episode_client: EpisodeClient, body: dict[str, Any]) -> None:
        """End the episode; a refusal is heard, and it is tried again."""
        while episode_client.status not in ENDED:
            self.idle = f"ends the episode ({episode_client.status})"
            await self._until(episode_client, lambda: episode_client.has_control or episode_client.status in ENDED)
            command = episode_client.send(body)
            await self._until(
                episode_client, lambda command=command: bool(command.fate) or episode_client.status in ENDED
            )
            if command.fate == "acknowledged":
                await self._until(episode_client, lambda: episode_client.status in ENDED, seconds=5.0)
            elif command.fate:
                if episode_client.status == "failed":
                    body = {"type": "leave", "how": "broken"}
                await asyncio.sleep(RETRY_SECONDS)
        await self._until(episode_client, lambda: not episode_client.waiting)

    async def _until(
        self, episode_client: EpisodeClient, true: Any, *, seconds: float = OUTCOME_TIMEOUT_SECONDS
    ) -> None:
        """Return when `true()` is, or when a bound has passed: what has no fate by then is counted as such."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not true():
                    episode_client.changed.clear()
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(1.0):
                            await episode_client.changed.wait()

    # --- what a person does besides

    async def _next(self) -> str | None:
        """The episode to work on. None where nothing answered."""
        told = await self._post("queue/next", {"pool_id": self.pool})
        return told["episode_id"] if told else None

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        address = self.rng.choice(self.addresses)
        cookies = {"sessionid": self.session}
        try:
            async with httpx.AsyncClient(
                base_url=f"http://{address}/api/", cookies=cookies, trust_env=False, timeout=HTTP_SECONDS
            ) as client:
                token = (await client.get("session")).raise_for_status().json()["csrf"]
                headers = {"X-CSRFToken": token, "Origin": self.origin}
                answer = (await client.post(path, json=body, headers=headers)).raise_for_status()
                found: dict[str, Any] = answer.json()
                return found
        except (httpx.HTTPError, ValueError):
            return None

    async def _read(self, episode_client: EpisodeClient) -> bool:
        """Read the witness inside the machine while the episode still has it."""
        if self.kind != "browser":
            await asyncio.to_thread(self.machine_logs.read_all)
            return True
        for _ in range(3):
            told = await self._post(f"episodes/{episode_client.episode}/tickets", {"kind": "cdp"})
            if told is None:
                continue
            with contextlib.suppress(OSError, WebSocketException, TimeoutError, KeyError):
                page, text = await _field_values(told["url"])
                if not text.strip():
                    tabs = [
                        (command.fate, command.step and command.step["error"])
                        for command in episode_client.commands.values()
                        if command.body.get("action", {}).get("keys")
                    ]
                    print_progress(f"the fields of {page} are empty in episode {episode_client.episode}; Tab: {tabs}")
                self.machine_logs.typed[episode_client.episode] = text.split()
                return True
        return False


def _has_outcome(command: Command) -> bool:
    """Whether it is known what came of an act."""
    return command.step is not None or command.fate not in ("", "acknowledged", "recorded")


async def _field_values(url: str) -> tuple[str, str]:
    """The address of a browser's page and what its fields hold, over its debugging protocol."""
    async with asyncio.timeout(10), connect(url, proxy=None, max_size=None) as socket:
        targets = await _cdp_call(socket, "Target.getTargets")
        page = next(each["targetId"] for each in targets["targetInfos"] if each["type"] == "page")
        session = (await _cdp_call(socket, "Target.attachToTarget", targetId=page, flatten=True))["sessionId"]
        found = await _cdp_call(socket, "Runtime.evaluate", session, expression=READ_FIELDS_SCRIPT)
        page, text = json.loads(found["result"]["value"])
        return page, text


async def _cdp_call(socket: Any, method: str, session: str | None = None, **given: object) -> dict[str, Any]:
    await socket.send(
        json.dumps({"id": 1, "method": method, "params": given} | ({"sessionId": session} if session else {}))
    )
    while (told := json.loads(await socket.recv())).get("id") != 1:
        pass
    result: dict[str, Any] = told["result"]
    return result
