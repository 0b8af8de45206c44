"""What a crawl concludes from its pages, which of them are shown to a model, and what may be clicked to see more."""

import json
from pathlib import Path
from typing import Any

import pytest

from protocol.site_tasks import BundledSite
from protocol.trajectory.tasks import Task
from task_factory.__main__ import main
from task_factory.sites.crawler import Crawl
from task_factory.sites.exploration import choose_clicks
from task_factory.sites.folders import read_replies, read_task_file, summarize, write_report, write_site
from task_factory.sites.pipeline import choose_pages
from task_factory.sites.records import FILTERS, KeptTask, Refusal, SiteReport
from task_factory.sites.sources import BoundedSite, host_of, open_bundled
from tests.unit.task_factory.sites.pages import make_element, make_page, make_view
from vm_bridge.browser import Request, Response

FIELD, BUTTON, LINK = make_element("textbox", "Town"), make_element("button", "Show"), make_element("link", "About")


def rejected(code: str | None, **fields: Any) -> Any:
    return make_page(BUTTON).model_copy(update={"rejected": code, "reason": code or "", **fields})


@pytest.mark.parametrize(
    ("codes", "wanted"),
    [
        ([None, "dead_error"], None),
        (["dead_error"], "dead_error"),
        (["static", "static"], "static"),
        (["static", "login_gated"], "login_gated"),
        (["static", "repeated"], "repeated"),
        ([], "dead_empty"),
    ],
)
def test_a_site_is_rejected_where_no_page_is_of_use(codes: list[str | None], wanted: str | None) -> None:
    rejection = Crawl(pages=[rejected(code) for code in codes]).rejection
    assert (rejection[0] if rejection else None) == wanted


def test_a_model_sees_pages_with_other_controls() -> None:
    first, same, other = make_page(FIELD, LINK), make_page(FIELD, BUTTON, LINK), make_page(BUTTON, FIELD)
    dead = rejected("dead_error")
    assert choose_pages(Crawl(pages=[dead, first, same, other])) == [first, same]


def test_only_what_is_harmless_is_clicked_to_see_more() -> None:
    days = [make_element("button", str(day)) for day in (1, 2, 3)]
    menu = make_element("button", "Sort", expanded=False)
    view = make_view(
        *days, menu, LINK, FIELD, make_element("button", "Delete"), make_element("button", "x", shown=False)
    )
    assert [one.name for one in choose_clicks(view, live=False)] == ["1", "Sort"]
    assert [one.name for one in choose_clicks(view, live=True)] == ["Sort"]


class OnePage:
    async def answer(self, request: Request) -> Response:
        return Response(200, b"x" * 600)


@pytest.mark.parametrize(("read_only", "failure"), [(True, "BlockedByClient"), (False, "")])
async def test_a_crawl_loads_no_more_than_its_bound_and_changes_nothing(read_only: bool, failure: str) -> None:
    site = BoundedSite(OnePage(), max_bytes=1_000, read_only=read_only)
    post = await site.answer(Request("POST", "http://a.test/", {}, b"", "Document"))
    assert (post.failure, site.writes) == (failure, ["POST http://a.test/"])
    answers = [await site.answer(Request("GET", "http://a.test/", {}, b"", "Document")) for _ in range(3)]
    assert [bool(one.failure) for one in answers] == ([False, False, True] if read_only else [False, True, True])
    assert site.statuses == {"http://a.test/": 200}


def test_a_bundled_site_is_one_world() -> None:
    source = open_bundled("shop", seed=3, language="zh")
    assert source.reference == BundledSite(name="shop", seed=3, language="zh")
    assert (source.is_live, source.host, source.hosts) == (False, "shop.pilothouse.test", ())


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://lab.example/a", "lab.example"),
        ("http://lab.example:80/", "lab.example"),
        ("https://user@Lab.example:8443/", "lab.example:8443"),
        ("chrome-error://chromewebdata/", "chromewebdata"),
        ("http://lab.example:99999/", ""),
        ("http://[lab/", ""),
    ],
)
def test_a_site_is_its_host(url: str, host: str) -> None:
    assert host_of(url) == host


def test_a_folder_holds_tasks_refusals_and_figures(tmp_path: Path) -> None:
    task = Task(id="site_tasks/shop/hat", instruction="Show the hat.", platform="browser")
    refusal = Refusal(id="nice", filter="objective", code="vague")
    made = SiteReport(site="shop", proposed=2, passed={"readable": 2}, refusals=[refusal])
    made.kept.append(KeptTask(task=task, judged_by="check", acts=2))
    made.pages_by_code["static"] += 2
    page = make_page(BUTTON)
    write_site(tmp_path, made, Crawl(pages=[page], pictures={page.url: b"jpeg"}))
    told = write_report(tmp_path, [made, SiteReport(site="empty", rejected="static")], "model")
    assert read_task_file(tmp_path / "tasks.jsonl") == [task]
    assert json.loads((tmp_path / "report.json").read_text()) == told
    assert told["by_site"][0]["pages_by_code"] == {"static": 2}
    assert (told["kept"], told["sites_with_tasks"], told["sites_rejected"]) == (1, 1, {"static": 1})
    assert list(told["dropped_by_filter"]) == list(FILTERS)
    assert summarize([made])["dropped_by_filter"]["objective"] == 1
    assert len(list((tmp_path / "pictures").iterdir())) == 1


def test_replies_are_read_from_recorded_files_and_transcripts_alike(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text('{"asked": "tasks", "reply": "one"}\n\n{"model": "m", "messages": [], "reply": "two"}\n')
    assert read_replies(file) == ["one", "two"]
    file.write_text('{"answer": "one"}\n')
    with pytest.raises(ValueError, match="without a reply"):
        read_replies(file)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["make", "shop", "--out", "{}"], "--replies"),
        (["make", "shop", "--model-url", "http://models/v1", "--out", "{}"], "needs --model"),
        (["make", "shop", "--model-url", "http://m/v1", "--replies", "x", "--out", "{}"], "either"),
        (["check", "{}/nothing.jsonl"], "nothing.jsonl"),
    ],
)
def test_the_command_says_what_it_lacks(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sites", *(word.format(tmp_path) for word in words)]) == 2
    assert said in capsys.readouterr().err
