"""What a task's site answers: files, the task itself, delays and failures, and nothing outside."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.vm_bridge.suites.web.test_manifest import PLAIN
from vm_bridge.suites.web.manifest import ResponseRule
from vm_bridge.suites.web.responses import SiteResponder
from vm_bridge.suites.web.task_folder import TaskFolder


@pytest.fixture
def folder(tmp_path: Path) -> TaskFolder:
    page = tmp_path / "mail" / "page"
    page.mkdir(parents=True)
    (page / "index.html").write_text("<p>hello</p>")
    (page / "orders.json").write_text("[1]")
    (tmp_path / "mail" / "verifier.js").write_text("secret")
    (tmp_path / "mail" / "manifest.json").write_text(json.dumps(PLAIN))
    return TaskFolder.read(tmp_path / "mail")


def answers(folder: TaskFolder, *rules: dict[str, Any]) -> SiteResponder:
    return SiteResponder(
        folder, {"seed": 5, "word": "</script>"}, tuple(ResponseRule.model_validate(rule) for rule in rules)
    )


def test_files_and_what_all_pages_share_are_answered(folder: TaskFolder) -> None:
    site = answers(folder)
    assert site.to("/").body == b"<p>hello</p>"
    assert site.to("/").media_type == "text/html; charset=utf-8"
    assert site.to("/orders.json").media_type == "application/json"
    assert b"pilothouse" in site.to("/shared/runtime.js").body


def test_a_site_without_a_look_of_its_own_has_an_empty_one(folder: TaskFolder) -> None:
    plain = answers(folder).to("/site.css")
    assert (plain.status, plain.media_type, plain.body) == (200, "text/css", b"")
    (folder.path / "page" / "site.css").write_text("p {}")
    assert answers(folder).to("/site.css").body == b"p {}"


def test_the_page_is_told_its_task(folder: TaskFolder) -> None:
    told = answers(folder).to("/task.js").body.decode()
    assert told.startswith("const TASK = Object.freeze({")
    assert '"seed":5' in told


@pytest.mark.parametrize(
    "path",
    ["/nothing", "/../verifier.js", "/shared/../suite.py", "/shared/../../__init__.py", "//etc/passwd", "/shared"],
)
def test_nothing_else_is_there(folder: TaskFolder, path: str) -> None:
    assert answers(folder).to(path).status == 404


def test_a_rule_holds_as_often_as_it_says(folder: TaskFolder) -> None:
    site = answers(folder, {"path": "/orders.json", "times": 2, "status": 503, "delay_ms": 800, "body": {"no": 1}})
    first, second, third = (site.to("/orders.json") for _ in range(3))
    assert (first.status, first.delay_ms, first.body) == (503, 800, b'{"no":1}')
    assert second == first
    assert (third.status, third.delay_ms, third.body) == (200, 0, b"[1]")


def test_rules_come_one_after_another_and_a_connection_may_fail(folder: TaskFolder) -> None:
    rules = {"path": "/orders.json", "times": 1, "abort": True}, {"path": "/orders.json", "delay_ms": 50}
    site = answers(folder, *rules)
    assert site.to("/orders.json").abort
    later = [site.to("/orders.json") for _ in range(3)]
    assert all((one.status, one.delay_ms, one.body, one.abort) == (200, 50, b"[1]", False) for one in later)


def test_each_episode_counts_for_itself(folder: TaskFolder) -> None:
    rule = {"path": "/orders.json", "times": 1, "status": 500}
    for _ in range(2):
        assert answers(folder, rule).to("/orders.json").status == 500
