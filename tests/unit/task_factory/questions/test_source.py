"""A wiki that is read over HTTP: bounds, robots, faults with their codes, its search, and pages that change."""

import asyncio
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from benchmarks.parts.factory.zim_wiki import write_pages
from protocol.site_tasks import ClickStep, ElementRef, find_site_task
from task_factory.language_models import RecordedModel
from task_factory.questions.closed_book import guess_by_model, guess_common, is_guessed
from task_factory.questions.filters import check_not_by_shared_words
from task_factory.questions.freshness import check_freshness
from task_factory.questions.pipeline import open_wiki
from task_factory.questions.records import KeptQuestion
from task_factory.questions.source import WIKI_BOUNDS, SourceUnusable, WikiSource, read_wiki
from task_factory.questions.tasks import keep_question, make_question_task
from tests.unit.task_factory.questions.wikis import SEARCH, FolderWiki, as_source
from vm_bridge.browser import Response
from vm_bridge.suites.questions.composer import NAME, Hop, Question, compose
from vm_bridge.suites.questions.filters import first_objection

FIELD = ElementRef(role="searchbox", name="Search")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("wiki") / "pages"
    write_pages(made, ("river", "town"))
    return made


def first_kept(source: WikiSource, hops: int) -> Question:
    draw = Random(5)
    for _ in range(200):
        question = compose(source, draw, hops)
        if first_objection(source, question) is None and check_not_by_shared_words(source, question) is None:
            return question
    raise AssertionError("no question was kept")


def test_a_wiki_that_the_proxy_refuses_says_why(folder: Path) -> None:
    wiki = FolderWiki(folder)
    wiki.failures["/index.html"] = Response(403, b"no", {"X-Pilothouse-Refusal": "address_not_public"})
    with pytest.raises(SourceUnusable, match="site_down: no page came: address_not_public"):
        asyncio.run(open_wiki(as_source(wiki), SEARCH))


def unusable(wiki: FolderWiki, search: str = SEARCH) -> str:
    with pytest.raises(SourceUnusable) as raised:
        asyncio.run(open_wiki(as_source(wiki), search))
    return raised.value.code


async def test_a_kept_question_becomes_a_task_with_its_way_and_what_it_relies_on(folder: Path) -> None:
    wiki = FolderWiki(folder)
    site = as_source(wiki)
    opened = await open_wiki(site, SEARCH)
    source, search, reading = opened.source, opened.search, opened.reading
    assert set(source.kinds) == {"river", "town"}
    assert source.kinds["town"].relations["River"].kind == "river"
    question = await asyncio.to_thread(first_kept, source, 1)
    assert search.asked > 0
    kept = keep_question(source, site, question, reading.read_at)
    task = await asyncio.to_thread(make_question_task, source, site, kept, FIELD)
    given = find_site_task(task)
    assert given is not None
    assert [step.kind for step in given.script] == ["type", "click", "click", "answer"]
    assert question.answer not in task.instruction
    first = source.entities[question.hops[0].entity]
    assert given.script[1] == ClickStep(element=ElementRef(role="link", name=first.title))
    again = KeptQuestion.model_validate_json(kept.model_dump_json())
    assert [one.state for one in await check_freshness(site, [again])] == ["fresh"]

    relied = kept.pages[0]
    path = folder / relied.url.removeprefix("http://wiki.test/").replace("%20", " ")
    before = path.read_text()
    try:
        path.write_text(before.replace("</body>", "<p>Another sentence.</p></body>"))
        (fresh,) = await check_freshness(site, [kept])
        assert (fresh.state, fresh.changed_pages) == ("fresh", (relied.url,))
        label, text = next(iter(relied.rows.items()))
        path.write_text(before.replace(f"<td>{text}<", "<td>else<").replace(f">{text}</a>", ">else</a>"))
        (stale,) = await check_freshness(site, [kept])
        assert stale.state == "stale"
        assert f"says else for {label}, not {text}" in stale.reasons[0]
        path.unlink()
        (gone,) = await check_freshness(site, [kept])
        assert (gone.state, gone.reasons) == ("stale", (f"{relied.url} is gone",))
    finally:
        path.write_text(before)
    wiki.failures[relied.url.removeprefix("http://wiki.test").replace("%20", " ")] = Response(failure="TimedOut")
    wiki.failures[relied.url.removeprefix("http://wiki.test")] = Response(failure="TimedOut")
    assert [one.state for one in await check_freshness(site, [kept])] == ["unknown"]


async def test_an_exact_number_in_a_question_is_found(folder: Path) -> None:
    source = (await open_wiki(as_source(FolderWiki(folder)), SEARCH)).source
    question = await asyncio.to_thread(first_kept, source, 1)
    exact = source.entities[question.hops[0].entity].facts["Population"]
    spoiled = question.model_copy(update={"text": f"{question.text} It is {exact}."})
    why = await asyncio.to_thread(check_not_by_shared_words, source, spoiled)
    assert why is not None
    assert f"{exact}” finds {question.hops[0].entity}" in why


async def test_a_question_that_is_guessed_is_told(folder: Path) -> None:
    source = (await open_wiki(as_source(FolderWiki(folder)), SEARCH)).source
    question = await asyncio.to_thread(first_kept, source, 1)
    assert await is_guessed(question, guess_by_model(RecordedModel(["No idea", f" {question.answer}."] * 4)))
    assert not await is_guessed(question, guess_by_model(RecordedModel(["No idea"] * 8)))


async def test_a_common_value_is_guessed(folder: Path) -> None:
    source = (await open_wiki(as_source(FolderWiki(folder)), SEARCH)).source
    emblems = Counter(str(one.facts["Emblem"]) for one in source.entities.values() if one.kind == "town")
    town = next(one.id for one in source.entities.values() if one.kind == "town")
    question = (await asyncio.to_thread(first_kept, source, 1)).model_copy(
        update={"asked": "Emblem", "hops": (Hop(entity=town),), "answer": emblems.most_common(1)[0][0]}
    )
    assert await is_guessed(question, guess_common(source))
    assert not await is_guessed(question.model_copy(update={"answer": "a walrus"}), guess_common(source))
    assert not await is_guessed(question.model_copy(update={"asked": NAME}), guess_common(source))


async def test_pages_are_read_within_bounds_and_by_the_site_s_rules(folder: Path) -> None:
    wiki = FolderWiki(folder, robots="User-agent: *\nDisallow: /wiki/M")
    some = await read_wiki(as_source(wiki), WIKI_BOUNDS.model_copy(update={"pages": 10}))
    assert (len(some.pages), some.stopped) == (10, "pages")
    everything = await read_wiki(as_source(wiki))
    assert everything.stopped is None
    assert everything.left_out["robots"] > 0
    assert not [path for path in wiki.asked if path.startswith("/wiki/M")]
    small = await read_wiki(as_source(wiki), WIKI_BOUNDS.model_copy(update={"max_bytes": 20_000}))
    assert small.stopped == "bytes"


def test_a_wiki_of_no_use_says_why(folder: Path, tmp_path: Path) -> None:
    assert unusable(FolderWiki(folder), "http://wiki.test/nothing?q={words}") == "no_search"
    assert unusable(FolderWiki(folder, robots="User-agent: *\nDisallow: /")) == "robots"
    down, slow = FolderWiki(folder), FolderWiki(folder)
    down.failures["/index.html"] = Response(failure="ConnectionFailed")
    assert unusable(down) == "site_down"
    slow.failures["/index.html"] = Response(failure="TimedOut")
    assert unusable(slow) == "site_slow"
    write_pages(tmp_path / "german", ("river",), language="de")
    assert unusable(FolderWiki(tmp_path / "german")) == "language"
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "index.html").write_text('<html lang="en"><h1>Empty</h1><p>Nothing is in this wiki yet.</p>')
    assert unusable(FolderWiki(tmp_path / "bare")) == "no_pages"
    for number in range(9):
        (tmp_path / "bare" / f"{number}.html").write_text(
            f'<html lang="en"><h1>Town{number}</h1><p>Town{number} is a town in the north.</p>'
        )
    links = "".join(f'<a href="/{number}.html">Town{number}</a>' for number in range(9))
    (tmp_path / "bare" / "index.html").write_text(f'<html lang="en"><h1>Towns</h1>{links}')
    assert unusable(FolderWiki(tmp_path / "bare")) == "no_facts"
