"""Plays a made game on its page by clicks and keys, and watches what the page reaches for."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import JsonValue, TypeAdapter, ValidationError

from protocol.actions.types import Action, Click, PressKeys
from protocol.trajectory.tasks import Task
from task_factory.games.faults import Fault
from task_factory.games.harness import Harness
from vm_bridge.browser import Engine, Request, Response, ScriptFailed, Site
from vm_bridge.suites.web import FolderSuite
from vm_bridge.suites.web.episodes import TaskEpisode
from vm_bridge.suites.web.suite import STATE, VerifierResult
from vm_bridge.suites.web.task_folder import TaskFolder
from vm_bridge.suites.web_suite import Scene

TRAPS = (Path(__file__).parent / "js" / "traps.js").read_text(encoding="utf-8")
CONTROL = TypeAdapter[Click | PressKeys](Click | PressKeys)


class WatchedSite:
    """A game's site that notes requests for anything but its files, and puts traps into its page."""

    def __init__(self, site: Site, host: str, key: str) -> None:
        self._site, self._host, self._key = site, host, key
        self.strange: list[str] = []
        """Requests that a made game does not send."""

    async def answer(self, request: Request) -> Response:
        response = await self._site.answer(request)
        known = urlsplit(request.url).hostname == self._host and response.status == 200 and not response.failure
        if not known or request.kind not in ("Document", "Script", "Stylesheet"):
            self.strange.append(f"{request.kind} {request.url[:200]}")
        if request.kind != "Document":
            return response
        script = f"<head><script>{TRAPS.replace('__KEY__', self._key)}</script>".encode()
        return replace(response, body=response.body.replace(b"<head>", script, 1))


class WatchedSuite(FolderSuite):
    """A suite of one game whose sites are watched; `site` is that of the last scene."""

    site: WatchedSite
    key: str

    def __init__(self, folder: TaskFolder) -> None:
        super().__init__("made_games", folder.path.parent, folder.kit)
        self._folder = folder

    @cached_property
    def folders(self) -> Mapping[str, TaskFolder]:
        """The one game: what else lies beside it is not read."""
        return {self._folder.manifest.name: self._folder}

    def scene(self, task: Task) -> Scene:
        """Where the task is played, with traps in its page."""
        scene = super().scene(task)
        self.key = f"traps_{secrets.token_hex(8)}"
        self.site = WatchedSite(scene.site, urlsplit(scene.url).hostname or "", self.key)
        return replace(scene, site=self.site)


class PagePlay:
    """One episode on the page. Made by `begin`, ended by `close`; notes a row a move."""

    def __init__(self, suite: WatchedSuite, episode: TaskEpisode, harness: Harness) -> None:
        self.suite, self.episode, self.harness = suite, episode, harness
        self.history: tuple[str, ...] = ()
        self.hashes: list[str] = []
        """Of the start, and of the state after each move."""
        self.faults: list[Fault] = []

    @classmethod
    async def begin(cls, engine: Engine, suite: WatchedSuite, task: Task, source: str) -> "PagePlay":
        """The start, at rest. Raises BrowserFailed."""
        episode = await TaskEpisode.begin(engine, suite, task)
        play = cls(suite, episode, Harness(episode.session, source))
        await play.look(most=0)
        return play

    async def close(self) -> None:
        """End the episode."""
        await self.episode.close()

    async def state(self) -> dict[str, JsonValue]:
        """What the page says its state is; empty where it gives none."""
        try:
            found = await self.episode.session.evaluate(STATE)
        except ScriptFailed as failed:
            self._note("page_fails", str(failed)[:200])
            return {}
        return found if isinstance(found, dict) else {}

    async def look(self, *, most: int = 1) -> None:
        """Take note of the moves since the last look; more than `most` were not made by acts."""
        state = await self.state()
        history = state.get("history")
        if not isinstance(history, list) or "game" not in state:
            return self._note("page_fails", "the page has no state")
        made = tuple(str(one) for one in history)
        if made[: len(self.history)] != self.history:
            return self._note("record_end", "moves that were made are gone")
        if len(made) - len(self.history) > most:
            return self._note("record_action", "the page tells of moves that no act made")
        if len(made) > len(self.history) or not self.hashes:
            self.hashes.append(await self.harness.state_hash(state["game"]))
        elif await self.harness.state_hash(state["game"]) != self.hashes[-1]:
            self._note("record_state", "the state changed without a move")
        self.history = made

    async def act(self, action: Action) -> None:
        """Do one act and take note of what came of it."""
        await self.episode.act(action)
        await self.look()

    async def make(self, move: str) -> bool:
        """Make a move by the act that the page has for it; whether there is one."""
        controls = (await self.state()).get("controls")
        if not isinstance(controls, dict) or move not in controls:
            return False
        try:
            await self.act(CONTROL.validate_python(controls[move]))
        except ValidationError:
            return False
        return True

    async def judge(self) -> VerifierResult:
        """What the verifier says now. Raises ScriptFailed, VerifierFailed."""
        return await self.episode.verifier_result()

    async def find_reached(self) -> Sequence[Fault]:
        """What the page reached for, and what it threw."""
        reached = await self.episode.session.evaluate(f"window.{self.suite.key} ? window.{self.suite.key}() : []")
        faults = [Fault(one.split(" ")[0], f"the page reaches for {one.split(' ')[1]}") for one in reached]
        faults += [Fault("network", f"the page asks for {one}") for one in self.suite.site.strange[:3]]
        events = self.episode.session.take_events()
        return faults + [Fault("page_fails", one.text[:200]) for one in events if one.kind in ("page_error", "crashed")]

    def _note(self, code: str, text: str) -> None:
        self.faults.append(Fault(code, text))
