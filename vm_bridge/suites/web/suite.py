"""A suite of task folders: each task's page, progress, verifier and expert."""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, JsonValue, ValidationError

from protocol.base import FrozenModel
from protocol.trajectory.observations import Verdict
from protocol.trajectory.tasks import Language, Task
from vm_bridge.browser import Request, Response, ScriptFailed, Session
from vm_bridge.errors import UnknownTask, VerifierFailed
from vm_bridge.machine import ExpertSuggestion
from vm_bridge.suites.web.responses import SiteResponder
from vm_bridge.suites.web.task_folder import TaskFolder, read_task_folders
from vm_bridge.suites.web.tasks import make_task, page_parameters, parse_variant, sizes_of
from vm_bridge.suites.web_suite import Scene, TaskProgress

STATE = "window.pilothouse && window.pilothouse.state ? window.pilothouse.state() : null"
DESCRIPTION = "window.pilothouse && window.pilothouse.describe ? window.pilothouse.describe() : null"
NOT_OPEN = "no page of the task is open"


class VerifierResult(FrozenModel):
    """What a verifier says of a state."""

    success: bool
    failure: bool
    done: bool
    score: float = Field(ge=0, le=1)
    level: int
    points: float | None = None
    reason: str


class FolderSite:
    """One task's site at its own host; every other host is not found."""

    def __init__(self, host: str, answers: SiteResponder) -> None:
        self._host, self._answers = host, answers

    async def answer(self, request: Request) -> Response:
        """Answer as the task's rules and files say."""
        parts = urlsplit(request.url)
        if parts.hostname != self._host:
            return Response(failure="NameNotResolved")
        found = self._answers.to(parts.path or "/")
        if found.abort:
            return Response(failure="ConnectionReset", delay_ms=found.delay_ms)
        return Response(
            status=found.status,
            headers={"content-type": found.media_type, "cache-control": "no-store"},
            body=found.body,
            delay_ms=found.delay_ms,
        )


class FolderSuite:
    """Implements `WebSuite` over the folders below one."""

    def __init__(self, name: str, home: Path, kit: Path | None = None) -> None:
        self._name, self._home, self.kit = name, home, kit
        """`kit` is what its pages share; None: what lies beside them."""

    @cached_property
    def folders(self) -> Mapping[str, TaskFolder]:
        """Every task's folder by name, read on first use."""
        return read_task_folders(self._home, self.kit)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Every task on its first level, in English, with the seed 0."""
        return tuple(make_task(self._name, folder) for folder in self.folders.values())

    def level_count(self, name: str) -> int:
        """How many levels a task has. Raises UnknownTask."""
        return len(self.folder(name).manifest.levels)

    def sizes(self, name: str) -> tuple[tuple[int, int], ...]:
        """The sizes that a task's screen is chosen from, its own first. Raises UnknownTask."""
        return sizes_of(self.folder(name))

    def make(
        self,
        name: str,
        *,
        seed: int = 0,
        level: int = 1,
        language: Language = "en",
        size: tuple[int, int] | None = None,
    ) -> Task:
        """One task as it is offered. Raises UnknownTask, InvalidAction."""
        return make_task(self._name, self.folder(name), seed=seed, level=level, language=language, size=size)

    def folder(self, name: str | None) -> TaskFolder:
        """The folder of a task. Raises UnknownTask."""
        found = self.folders.get(name or "")
        if found is None:
            raise UnknownTask(f"there is no task {name} in the suite {self._name}")
        return found

    def scene(self, task: Task) -> Scene:
        """Where the task is played, with a site that has answered nothing yet."""
        folder = self.folder(task.name)
        terms = parse_variant(folder, task)
        host = f"{folder.manifest.name.replace('_', '-')}.pilothouse.test"
        rules = (*folder.manifest.level(terms.level).responses, *folder.manifest.responses)
        return Scene(
            site=FolderSite(host, SiteResponder(folder, page_parameters(folder, terms), rules)),
            url=f"http://{host}{folder.manifest.start}",
            size=terms.size,
            step_ms=folder.manifest.step_ms,
            files=folder.files,
            limit_ms=folder.manifest.limits.game_ms,
        )

    async def set_up(self, task: Task, session: Session) -> None:
        """Nothing: the page sets itself up from its /task.js, as it does when it is loaded again."""

    async def progress(self, task: Task, session: Session) -> TaskProgress:
        """Progress of the task; unknown while no page of it is open."""
        found = await self.find(task, session, None)
        if found is None:
            return TaskProgress()
        ended = found.success if found.done else None
        return TaskProgress(
            score=found.score,
            level=found.level,
            done=found.done,
            success=ended,
            description=await self.describe(task, session),
        )

    async def describe(self, task: Task, session: Session) -> str | None:
        """What the page shows, in words; None where the page has no description or the task does not ask for one.
        Raises ScriptFailed."""
        if not parse_variant(self.folder(task.name), task).described:
            return None
        words = await session.evaluate(DESCRIPTION)
        return words if isinstance(words, str) else None

    async def judge(self, task: Task, session: Session, answer: str) -> Verdict:
        """The verifier's word on the present state."""
        found = await self.find(task, session, answer)
        folder = self.folder(task.name)
        judged_by = {"verifier": folder.checksum, "version": folder.manifest.version}
        if found is None:
            return Verdict(success=False, score=0.0, reason=NOT_OPEN, **judged_by)
        return Verdict(success=found.success, score=found.score, reason=found.reason, points=found.points, **judged_by)

    async def find(self, task: Task, session: Session, answer: str | None) -> VerifierResult | None:
        """All the verifier says; None while no page of the task is open. Raises ScriptFailed, VerifierFailed."""
        state = await session.evaluate(STATE)
        return None if state is None else await self.find_in(task, session, state, answer)

    async def find_in(self, task: Task, session: Session, state: JsonValue, answer: str | None) -> VerifierResult:
        """What the verifier says of this state, in a world of its own that the page's scripts cannot reach.

        Raises VerifierFailed.
        """
        folder = self.folder(task.name)
        given = [state, page_parameters(folder, parse_variant(folder, task)), answer]
        try:
            said = await session.evaluate(_call_expression(folder.verifier, "verify", given), world="own")
            return VerifierResult.model_validate(said)
        except ScriptFailed as error:
            raise VerifierFailed(f"the verifier of {task.name} threw {error}") from error
        except ValidationError as error:
            raise VerifierFailed(f"the verifier of {task.name} gave {json.dumps(said)[:200]}: {error}") from error

    async def suggest_expert_action(self, task: Task, session: Session) -> ExpertSuggestion | None:
        """What the expert would do now; None where there is none, or no page of the task is open."""
        folder = self.folder(task.name)
        state = await session.evaluate(STATE)
        if state is None or not folder.expert:
            return None
        terms = parse_variant(folder, task)
        said = await session.evaluate(
            _call_expression(folder.expert, "advise", [state, page_parameters(folder, terms)]), world="own"
        )
        try:
            match said:
                case {"thought": {"en": _, "zh": _} as thoughts, "action": action}:
                    return ExpertSuggestion.model_validate({"thought": thoughts[terms.language], "action": action})
                case None:
                    return None
        except ValidationError as error:
            raise ScriptFailed(f"the expert of {task.name} gave {json.dumps(said)[:200]}: {error}") from error
        raise ScriptFailed(f"the expert of {task.name} gave {json.dumps(said)[:200]}")


def _call_expression(source: str, name: str, given: list[JsonValue]) -> str:
    """A call of a function in a script; JSON is a JavaScript expression."""
    arguments = ", ".join(json.dumps(one, ensure_ascii=False) for one in given)
    return f"(() => {{ {source}\nreturn {name}({arguments}); }})()"
