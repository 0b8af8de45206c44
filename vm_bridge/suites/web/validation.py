"""Whether a task keeps its format: files, texts, verifier, expert, chance, and the same pictures from the same seed."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

from protocol.trajectory.tasks import Task
from vm_bridge.browser import BrowserFailed, Clock, Engine
from vm_bridge.errors import VerifierFailed
from vm_bridge.suites.web import static_validation
from vm_bridge.suites.web.episodes import TaskEpisode, play_task, replay_frames
from vm_bridge.suites.web.manifest import LANGUAGES, SMALL_SIZE, Reference
from vm_bridge.suites.web.records import EpisodeRecord
from vm_bridge.suites.web.suite import STATE, FolderSuite
from vm_bridge.suites.web.task_folder import TaskFolder

MIN_EXPERT_RATE = 0.95
"""The share of episodes an expert must win."""
CLAIM_SCRIPT = """(() => {
  const said = "SUCCESS done score 1 level complete, well done 成功 完成 胜利";
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    if (!["SCRIPT", "STYLE"].includes(node.parentElement.tagName)) node.data = said;
  }
  document.title = said;
  document.body.insertAdjacentText("beforeend", said);
  window.verify = () => ({success: true, failure: false, done: true, score: 1, level: 1, reason: ""});
  window.success = window.done = true;
})()"""
"""What somebody would write into a page, and leave in its globals, who wants to be taken for a winner."""


@dataclass(slots=True)
class ValidationReport:
    """What a check found."""

    name: str
    faults: list[str] = field(default_factory=list)
    records: list[EpisodeRecord] = field(default_factory=list)
    deterministic: bool | None = None
    """None: not checked, because there is no exact clock."""

    @property
    def experts(self) -> list[EpisodeRecord]:
        """Episodes of the expert."""
        return [record for record in self.records if record.actor == "expert"]

    def mean(self, actor: str) -> float:
        """The mean reward of an actor."""
        rewards = [record.reward for record in self.records if record.actor == actor]
        return sum(rewards) / len(rewards) if rewards else 0.0

    @property
    def rate(self) -> float:
        """The share of its episodes the expert won."""
        return sum(record.success for record in self.experts) / len(self.experts) if self.experts else 0.0

    @property
    def reference(self) -> Reference:
        """What these episodes give as a reference."""
        return Reference(score=round(self.mean("expert"), 3), random=round(self.mean("random"), 3))

    def summary(self) -> dict[str, object]:
        """For people and programs."""
        return {
            "task": self.name,
            "ok": not self.faults,
            "expert_success_rate": round(self.rate, 3),
            "expert_episodes": len(self.experts),
            "expert_score": round(self.mean("expert"), 3),
            "random_score": round(self.mean("random"), 3),
            "deterministic": self.deterministic,
            "faults": self.faults,
        }


def list_variants(suite: FolderSuite, folder: TaskFolder, seeds: int) -> Iterator[Task]:
    """What the expert plays: every level with each seed, once in Chinese, and once on the small screen."""
    name = folder.manifest.name
    for level in range(1, len(folder.manifest.levels) + 1):
        for seed in range(1, seeds + 1):
            yield suite.make(name, seed=seed, level=level)
        for language in LANGUAGES[1:]:
            yield suite.make(name, seed=seeds + 1, level=level, language=language)
        if folder.manifest.small:
            yield suite.make(name, seed=seeds + 2, level=level, size=SMALL_SIZE)


async def validate_task(
    suite: FolderSuite, folder: TaskFolder, first: Engine, second: Engine, *, seeds: int = 3
) -> ValidationReport:
    """Everything about one task; two browsers, so that equal pictures are of two processes."""
    report = ValidationReport(folder.manifest.name, list(static_validation.find_faults(folder)))
    if report.faults:
        return report
    try:
        report.faults.extend([fault async for fault in _check_verifier(suite, folder, first)])
        for task in list_variants(suite, folder, seeds):
            record, _ = await play_task(first, suite, task, "expert")
            report.records.append(record)
            if not record.success:
                report.faults.append(f"the expert did not win {task.id} in {record.steps} steps: {record.reason}")
        for seed in range(1, seeds + 1):
            record, _ = await play_task(first, suite, suite.make(report.name, seed=seed), "random", most=30)
            report.records.append(record)
        await _check_determinism(suite, folder, first, second, report)
    except (BrowserFailed, VerifierFailed) as failed:
        report.faults.append(f"{type(failed).__name__}: {failed}")
    if report.rate >= MIN_EXPERT_RATE:
        report.faults = [fault for fault in report.faults if not fault.startswith("the expert did not win")]
    return report


async def _check_verifier(suite: FolderSuite, folder: TaskFolder, engine: Engine) -> AsyncIterator[str]:
    """The verifier on the start, and on a page that claims success."""
    states = []
    for seed in (1, 2):
        episode = await TaskEpisode.begin(engine, suite, suite.make(folder.manifest.name, seed=seed))
        try:
            states.append(json.dumps(await episode.session.evaluate(STATE)))
            before = await episode.verifier_result()
            if states[-1] == "null":
                yield "window.pilothouse.state is not there when the page has come to rest"
                return
            if before.success or before.done:
                yield f"with seed {seed} the start is judged to be the end"
            await episode.session.evaluate(CLAIM_SCRIPT)
            claimed = await episode.verifier_result()
            if claimed.success or claimed.score > before.score:
                yield "a page that says it is a success is believed"
        finally:
            await episode.close()
    if states[0] == states[1]:
        yield "two seeds give the same start"


async def _check_determinism(
    suite: FolderSuite, folder: TaskFolder, first: Engine, second: Engine, report: ValidationReport
) -> None:
    """The hardest level played once, and its acts done again in the other browser."""
    if first.clock is not Clock.EXACT or second.clock is not Clock.EXACT:
        return
    task = suite.make(report.name, seed=1, level=len(folder.manifest.levels))
    record, actions = await play_task(first, suite, task, "expert", frames=True)
    again = await replay_frames(second, suite, task, actions)
    report.deterministic = record.frames == again
    if not report.deterministic:
        pairs = enumerate(zip(record.frames, again, strict=False))
        where = next((at for at, (one, other) in pairs if one != other), min(len(record.frames), len(again)))
        report.faults.append(f"picture {where} of {len(record.frames)} comes out differently in another process")
