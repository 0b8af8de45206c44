"""An interrupted run goes on where it was: nothing is made or asked twice, and nothing of a half-made site stays."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agent_backend.errors import PolicyUnavailable
from protocol.trajectory.tasks import Task
from task_factory.__main__ import main
from task_factory.language_models import Message, TranscribedModel
from task_factory.sites import command
from task_factory.sites.crawler import Crawl
from task_factory.sites.folders import PAGES, REFUSED, REPORT, TASKS, TRANSCRIPT, write_site
from task_factory.sites.progress import PROGRESS, Progress
from task_factory.sites.records import KeptTask, Refusal, SiteReport
from tests.unit.task_factory.sites.pages import make_element, make_page

FILES = (TASKS, REFUSED, PAGES, REPORT)


def made_of(site: str) -> tuple[SiteReport, Crawl]:
    task = Task(id=f"site_tasks/{site}/one", instruction=f"Open {site}.", platform="browser")
    report = SiteReport(site=site, pages=1, proposed=2, passed={"proven": 1})
    report.kept.append(KeptTask(task=task, judged_by="check", acts=2))
    report.refusals.append(Refusal(id="two", filter="safe", code="pay"))
    report.pages_by_code["static"] += 1
    return report, Crawl(pages=[make_page(make_element("link", site))])


class Model:
    """Replies with how often it was asked; `fails` are numbers of questions that have no reply."""

    name = "model"

    def __init__(self, *fails: int) -> None:
        self.asked, self._fails = list[str](), fails

    async def complete(self, messages: Sequence[Message]) -> str:
        self.asked.append(str(messages[0].content))
        if len(self.asked) in self._fails:
            raise PolicyUnavailable("the server has ended")
        return f"reply to {messages[0].content}"

    async def aclose(self) -> None:
        """Nothing is open."""


@pytest.fixture
def chain(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A chain that asks two questions a site, in the place of the one with a browser."""
    state: dict[str, Any] = {"model": Model(), "sites": []}

    async def make(engine: Any, source: str, model: TranscribedModel, **_: Any) -> tuple[SiteReport, Crawl]:
        state["sites"].append(source)
        for part in ("functions", "tasks"):
            reply = await model.complete([Message(role="user", content=f"{source} {part}")])
            assert reply == f"reply to {source} {part}"
        return made_of(source)

    @asynccontextmanager
    async def engine() -> AsyncIterator[tuple[None, Path]]:
        yield None, Path("/nowhere")

    @asynccontextmanager
    async def site(name: str, *_: Any) -> AsyncIterator[str]:
        yield name

    monkeypatch.setattr(command, "make_site_tasks", make)
    monkeypatch.setattr(command, "open_engine", engine)
    monkeypatch.setattr(command, "_open_site", site)
    monkeypatch.setattr(command, "_open_served", lambda _: state["model"])
    return state


def run(out: Path, *words: str) -> int:
    return main(["sites", "make", *words, "--model-url", "http://m.test/v1", "--model", "model", "--out", str(out)])


def test_an_interrupted_run_ends_as_one_that_was_not(chain: dict[str, Any], tmp_path: Path) -> None:
    assert run(tmp_path / "whole", "shop", "mail", "kanban") == 0
    whole = chain["model"].asked

    chain["model"], out = Model(4), tmp_path / "cut"
    assert run(out, "shop", "mail", "kanban") == 2
    assert chain["model"].asked == whole[:4]
    write_site(out, *made_of("mail"))  # as if it had ended after it wrote the site and before it noted it
    for name in (TRANSCRIPT, PROGRESS):
        with (out / name).open("a") as file:
            file.write('{"half":')

    chain["model"], chain["sites"] = Model(), []
    assert run(out, "shop", "mail", "kanban") == 0
    assert chain["sites"] == ["mail", "kanban"]
    assert chain["model"].asked == whole[3:], "what had a reply is not asked again"
    for name in (*FILES, TRANSCRIPT, PROGRESS):
        assert (out / name).read_text() == (tmp_path / "whole" / name).read_text(), name

    chain["sites"] = []
    assert run(out, "shop", "mail", "kanban") == 0
    assert chain["sites"] == []
    assert run(out, "shop", "notes") == 0
    assert chain["sites"] == ["notes"]
    assert json.loads((out / REPORT).read_text())["sites"] == 4


def test_a_folder_of_other_options_is_left_alone(
    chain: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "shop") == 0
    before = (tmp_path / TASKS).read_bytes()
    assert run(tmp_path, "shop", "--seed", "4") == 2
    assert "was begun with other options" in capsys.readouterr().err
    (tmp_path / PROGRESS).unlink()
    assert run(tmp_path, "shop") == 2
    assert "has tasks already" in capsys.readouterr().err
    assert (tmp_path / TASKS).read_bytes() == before


def test_without_a_server_the_transcript_begins_the_site_again(tmp_path: Path) -> None:
    progress = Progress.open(tmp_path, {"seed": 1}, keeps_transcript=False)
    (tmp_path / TRANSCRIPT).write_text("one\n")
    write_site(tmp_path, *made_of("shop"))
    progress.add("shop", made_of("shop")[0])
    (tmp_path / TRANSCRIPT).write_text("one\ntwo\n")
    again = Progress.open(tmp_path, {"seed": 1}, keeps_transcript=False)
    assert (tmp_path / TRANSCRIPT).read_text() == "one\n"
    assert again.reports == {"shop": made_of("shop")[0]}
