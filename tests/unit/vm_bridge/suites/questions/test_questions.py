"""Questions that are kept have one answer that nothing gives away; planted bad ones are dropped."""

import asyncio
import re
from functools import cache

import pytest

from benchmarks.parts.factory.controls import Control, make_controls
from benchmarks.parts.factory.reader import facts_in
from protocol.trajectory.tasks import Language
from vm_bridge.browser import Request, Response
from vm_bridge.errors import InvalidAction, UnknownTask
from vm_bridge.suites.questions import QuestionSuite
from vm_bridge.suites.questions.composer import MAX_HOPS, NAME, Question
from vm_bridge.suites.questions.filters import FILTERS, normalize_answer
from vm_bridge.suites.questions.site import HOST, WikiSite
from vm_bridge.suites.questions.suite import SEEDS_PER_EDITION, TASK, make_kept_question
from vm_bridge.suites.questions.wiki import Wiki, make_wiki

SUITE = QuestionSuite()


@cache
def controls() -> list[Control]:
    return make_controls(make_wiki(0), make_kept_question(0, 2))


def test_an_edition_is_always_the_same_and_another_is_different() -> None:
    first, again, other = Wiki(0), Wiki(0), Wiki(1)
    assert dict(first.entities) == dict(again.entities)
    assert len({one.title for one in first.entities.values()}) == len(first.entities) == 440
    assert {one.title for one in first.entities.values()} != {one.title for one in other.entities.values()}


def test_years_of_what_is_linked_fit() -> None:
    wiki = make_wiki(0)
    misfits = 0
    for one in wiki.entities.values():
        for name, relation in wiki.kinds[one.kind].relations.items():
            if (gap := relation.gap) is not None:
                years = int(one.facts[gap.own]) - int(wiki.entities[one.links[name]].facts[gap.other])
                misfits += not gap.least <= years <= gap.most
    assert misfits <= 15, "the oldest people have no teacher of the right age, for one"


def answers_by_reading(wiki: Wiki, question: Question) -> set[str]:
    """All answers to a question, by reading every page's text: nothing of what composed it is used."""
    pages = {one: wiki.text(one) for one in wiki.entities}
    titles = {wiki.entities[one].title: one for one in pages}
    facts = {one: facts_in(wiki.kinds[one.rpartition("-")[0]], text) for one, text in pages.items()}

    def reached(page: str, relation: str) -> str:
        sentence = wiki.kinds[page.rpartition("-")[0]].relations[relation].sentence
        found = re.search(re.escape(sentence).replace(r"\{link\}", "([^.]+)"), pages[page])
        assert found is not None
        return titles[found[1]]

    answers = set()
    for page in pages:
        if page.rpartition("-")[0] != question.kind:
            continue
        told = [(facts[reached(page, one.relation) if one.relation else page], one) for one in question.conditions]
        if not all(
            said[one.attribute] in one.words
            if one.range is None
            else one.range[0] <= int(said[one.attribute]) <= one.range[1]
            for said, one in told
        ):
            continue
        for relation in question.relations:
            page = reached(page, relation)
        answers.add(wiki.entities[page].title if question.asked == NAME else str(facts[page][question.asked]))
    return answers


@pytest.mark.parametrize("hops", range(1, MAX_HOPS + 1))
def test_a_kept_question_has_one_answer_for_who_reads_every_page(hops: int) -> None:
    for seed in (0, 7, SEEDS_PER_EDITION):
        question = make_kept_question(seed, hops)
        assert answers_by_reading(make_wiki(seed // SEEDS_PER_EDITION), question) == {question.answer}
        assert len(question.hops) == hops + 1


@pytest.mark.parametrize("number", range(14))
def test_a_planted_defect_is_caught(number: int) -> None:
    assert len(controls()) == 14
    assert controls()[number].is_caught, controls()[number].defect


def test_every_filter_has_a_control() -> None:
    assert {one.caught_by for one in controls()} == set(FILTERS)


@pytest.mark.parametrize(
    ("answer", "as_compared"),
    [
        (" 1,234 kilometres ", "1234"),
        ("The Idle Fiddle.", "idle fiddle"),
        ("idle  FIDDLE", "idle fiddle"),
        ("", ""),
        ("The", ""),
        ("Mount Helellin", "mount helellin"),
    ],
)
def test_answers_are_compared_by_their_words(answer: str, as_compared: str) -> None:
    assert normalize_answer(answer) == as_compared


async def judged(answer: str) -> bool | None:
    task = SUITE.make(TASK, seed=3, level=2)
    return (await SUITE.judge(task, None, answer)).success  # type: ignore[arg-type]  # an answer needs no page


def test_only_the_right_answer_is_right() -> None:
    right = make_kept_question(3, 2).answer
    assert asyncio.run(judged(f" {right.upper()}. "))
    assert not asyncio.run(judged(""))
    assert not asyncio.run(judged(f"{right} or another"))


@pytest.mark.parametrize(
    ("level", "language", "size"), [(0, "en", None), (5, "en", None), (1, "zh", None), (1, "en", (320, 240))]
)
def test_what_the_suite_has_not_is_refused(level: int, language: Language, size: tuple[int, int] | None) -> None:
    with pytest.raises(InvalidAction):
        SUITE.make(TASK, level=level, language=language, size=size)
    with pytest.raises(UnknownTask):
        SUITE.make("atlas")


def test_a_task_says_neither_answer_nor_conditions() -> None:
    task = SUITE.make(TASK, seed=3, level=2)
    assert make_kept_question(3, 2).answer not in task.model_dump_json()
    assert task.parameters == {"level": 2, "language": "en"}


def ask(site: WikiSite, path: str, host: str = HOST) -> Response:
    return asyncio.run(site.answer(Request("GET", f"http://{host}{path}", {}, b"", "Document")))


def test_the_site_answers_with_pages_and_escapes_what_it_was_asked() -> None:
    wiki = make_wiki(0)
    site = WikiSite(wiki)
    person = wiki.entities["person-0"]
    assert person.title.encode() in ask(site, "/page/person-0").body
    found = ask(site, "/search?q=%3Cscript%3E%22&page=1").body
    assert b"<script>" not in found
    assert b"No page has any of these words." in found
    assert ask(site, "/search?q=cartographer&page=999999").status == 200
    assert b'data-read="person-0"' in ask(site, "/list/person?page=2").body
    assert ask(site, "/page/nobody").status == 404
    assert ask(site, "/", host="elsewhere.test").failure == "NameNotResolved"
