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

from benchmarks.parts.kills.desk import ENDED, Command, Desk
from benchmarks.parts.kills.witnesses import Witnesses, line_of

RETRY_SECONDS = 0.2
THOUGHT_SECONDS = 0.1
"""Between two acts: quicker than any person."""
FATE_SECONDS = 60.0
"""A command without an answer for so long has no fate."""
BURST = 3
"""Most acts that are sent before the first of them is answered."""
HTTP_SECONDS = 15.0
READ = "JSON.stringify([...document.querySelectorAll('input')].map(field => field.value).join(' '))"


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
    witnesses: Witnesses
    limit: int
    chance: random.Random
    desk: Desk | None = None
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
            self.desk = Desk(episode, self.session, self.addresses, self.origin, self.chance)
            running = asyncio.create_task(self.desk.run())
            try:
                self.episodes.append(await self._play(self.desk))
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)
                self.desk = None

    async def _play(self, desk: Desk) -> Episode:
        self.idle = "waits for a machine"
        await self._until(desk, lambda: desk.status != "warming" and desk.steers)
        done, complete, failed_at = 0, False, None
        if self.kind == "browser":
            await self._do(desk, [{"kind": "press_keys", "keys": ["Tab"]}])
        while done < self.limit and not self.over and desk.status == "running":
            burst = min(self.chance.randint(1, BURST), self.limit - done)
            done += burst
            await self._act(desk, burst)
            await asyncio.sleep(self.chance.random() * 2 * THOUGHT_SECONDS)
        if desk.status == "running":
            complete = await self._read(desk)
            await self._end(desk, {"type": "finish", "outcome": "success"})
        else:
            failed_at = time.monotonic()
            await self._end(desk, {"type": "leave", "how": "broken", "reason": desk.error[:200]})
        commands = list(desk.commands.values())
        return Episode(desk.episode, self.kind, commands, desk.status, desk.error, complete, failed_at)

    async def _act(self, desk: Desk, count: int) -> None:
        names = [f"a{secrets.token_hex(5)}" for _ in range(count)]
        if self.kind == "browser":
            actions = [{"kind": "type_text", "text": f"{name} "} for name in names]
        else:
            actions = [{"kind": "run_command", "command": line_of(self.run, desk.episode, name)} for name in names]
        await self._do(desk, actions, names)

    async def _do(self, desk: Desk, actions: list[dict[str, Any]], names: list[str] | None = None) -> None:
        """Send acts and wait until each is stored or refused, or the episode has failed."""
        self.idle = "waits for what came of an act"
        began = time.monotonic()
        given = names or [f"b{secrets.token_hex(5)}" for _ in actions]
        sent = [
            desk.send({"type": "act", "thought": "on", "action": action}, name)
            for action, name in zip(actions, given, strict=True)
        ]
        await self._until(desk, lambda: all(_settled(command) for command in sent) or desk.status != "running")
        if stored := [command for command in sent if command.step is not None]:
            self.acted, self.steps = began, self.steps + len(stored)

    async def _end(self, desk: Desk, body: dict[str, Any]) -> None:
        """End the episode; a refusal is heard, and it is tried again."""
        while desk.status not in ENDED:
            self.idle = f"ends the episode ({desk.status})"
            await self._until(desk, lambda: desk.steers or desk.status in ENDED)
            command = desk.send(body)
            await self._until(desk, lambda command=command: bool(command.fate) or desk.status in ENDED)
            if command.fate == "acknowledged":
                await self._until(desk, lambda: desk.status in ENDED, seconds=5.0)
            elif command.fate:
                if desk.status == "failed":
                    body = {"type": "leave", "how": "broken"}
                await asyncio.sleep(RETRY_SECONDS)
        await self._until(desk, lambda: not desk.waiting)

    async def _until(self, desk: Desk, true: Any, *, seconds: float = FATE_SECONDS) -> None:
        """Return when `true()` is, or when a bound has passed: what has no fate by then is counted as such."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not true():
                    desk.changed.clear()
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(1.0):
                            await desk.changed.wait()

    # --- what a person does besides

    async def _next(self) -> str | None:
        """The episode to work on. None where nothing answered."""
        told = await self._post("queue/next", {"pool_id": self.pool})
        return told["episode_id"] if told else None

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        address = self.chance.choice(self.addresses)
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

    async def _read(self, desk: Desk) -> bool:
        """Read the witness inside the machine while the episode still has it."""
        if self.kind != "browser":
            await asyncio.to_thread(self.witnesses.look)
            return True
        for _ in range(3):
            told = await self._post(f"episodes/{desk.episode}/tickets", {"kind": "cdp"})
            if told is None:
                continue
            with contextlib.suppress(OSError, WebSocketException, TimeoutError, KeyError):
                self.witnesses.typed[desk.episode] = (await _value(told["url"])).split()
                return True
        return False


def _settled(command: Command) -> bool:
    """Whether it is known what came of an act."""
    return command.step is not None or command.fate not in ("", "acknowledged", "recorded")


async def _value(url: str) -> str:
    """What the fields of a browser's page hold, over its debugging protocol."""
    async with asyncio.timeout(10), connect(url, proxy=None, max_size=None) as socket:
        targets = await _asked(socket, "Target.getTargets")
        page = next(each["targetId"] for each in targets["targetInfos"] if each["type"] == "page")
        session = (await _asked(socket, "Target.attachToTarget", targetId=page, flatten=True))["sessionId"]
        found = await _asked(socket, "Runtime.evaluate", session, expression=READ)
        value: str = json.loads(found["result"]["value"])
        return value


async def _asked(socket: Any, method: str, session: str | None = None, **given: object) -> dict[str, Any]:
    await socket.send(
        json.dumps({"id": 1, "method": method, "params": given} | ({"sessionId": session} if session else {}))
    )
    while (told := json.loads(await socket.recv())).get("id") != 1:
        pass
    result: dict[str, Any] = told["result"]
    return result
