"""Which questions are kept: each filter says what is wrong with a question, or nothing.

A question is dropped where it has several answers, says more than it needs, can be shortened, gives its answer away,
is answered by one search, or cannot be answered on the site at all.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable

from protocol.base import FrozenModel
from vm_bridge.suites.questions.composer import NAME, Question
from vm_bridge.suites.questions.conditions import entities_of, matching_entities, possible_entities
from vm_bridge.suites.questions.schema import Entity, KnowledgeSource

SEARCH_DEPTH = 10
"""How many results of one search must not hold the answer's page, nor the page that the question starts from."""
FINDABLE_DEPTH = 20
"""Within how many results of a search for a word that is meant the first page must be."""
MAX_PAGES_READ = 20
"""Most pages that are read until the first page of the way is found."""
LEAKED_WORDS = 6
"""A run of so many words that question and answer page share gives the page away."""
LEAST_TOKEN = 4
"""Shorter words of a title are common ones (letters)."""
WORD_PATTERN = re.compile(r"\w+")


def check_unique(source: KnowledgeSource, question: Question) -> str | None:
    """Exactly one thing satisfies the conditions, and it leads to the answer. No other one may satisfy them by what no
    page says."""
    found = matching_entities(source, question.kind, question.conditions)
    if len(found) != 1:
        return f"{len(found)} things satisfy the conditions"
    possible = possible_entities(source, question.kind, question.conditions)
    if len(possible) != 1:
        return f"{len(possible) - 1} other things may satisfy the conditions: their pages do not say"
    answers = answers_from(source, question, found)
    return None if answers == {question.answer} else f"the conditions lead to {', '.join(sorted(answers))}"


def check_conditions_needed(source: KnowledgeSource, question: Question) -> str | None:
    """Without any one of the conditions, several answers are left."""
    for place, dropped in enumerate(question.conditions):
        rest = (*question.conditions[:place], *question.conditions[place + 1 :])
        if len(answers_from(source, question, matching_entities(source, question.kind, rest))) == 1:
            return f"the condition on {dropped.attribute} is not needed"
    return None


def check_hops_needed(source: KnowledgeSource, question: Question) -> str | None:
    """Each relation of the chain is needed: what it leads to is no guess, and no page links past it."""
    for place, hop in enumerate(question.hops[:-1]):
        reached = source.entities[question.hops[place + 1].entity]
        others = entities_of(source, reached.kind)
        if len({answer for one in others for answer in _answers(source, question, one, place + 1)}) == 1:
            return f"without the relation {hop.relation} the answer is the same"
        far = {one.entity for one in question.hops[place + 2 :]}
        if far & set(source.entities[hop.entity].links.values()):
            return f"the page of {hop.entity} links past {reached.id}"
    return None


def check_no_leak(source: KnowledgeSource, question: Question) -> str | None:
    """The question has no word of a title on the way, not the answer, and no long run of words of the answer's page."""
    said = [word.lower() for word in WORD_PATTERN.findall(question.text)]
    for hop in question.hops:
        title = WORD_PATTERN.findall(source.entities[hop.entity].title)
        for word in title:
            if len(word) >= LEAST_TOKEN and word.lower() in said:
                return f"the question says {word}, of the title of {hop.entity}"
    if normalize_answer(question.answer) in {normalize_answer(word) for word in said}:
        return "the question says the answer"
    page = [word.lower() for word in WORD_PATTERN.findall(source.text(question.hops[-1].entity))]
    shared = _runs(said, LEAKED_WORDS) & _runs(page, LEAKED_WORDS)
    return f"question and answer page share “{' '.join(sorted(shared)[0])}”" if shared else None


def check_not_in_one_search(source: KnowledgeSource, question: Question) -> str | None:
    """Neither the question nor one of its conditions, as a search, finds the answer's page or the first one."""
    ends = {question.hops[0].entity, question.hops[-1].entity}
    for words in (question.text, *(one.obscured for one in question.conditions)):
        found = source.search(words, SEARCH_DEPTH)
        if hit := next((one for one in found if one in ends), None):
            return f"a search for “{words}” finds {hit} at place {found.index(hit) + 1}"
    return None


def check_findable(source: KnowledgeSource, question: Question) -> str | None:
    """A reader finds the first page: by a search for a word that a condition may mean, and within a bound of pages."""
    pages = 0
    own = [one for one in question.conditions if not one.relation]
    elsewhere = len(question.conditions) - len(own)
    for words in searches_for(question):
        for entity in map(source.entities.__getitem__, source.search(words, FINDABLE_DEPTH)):
            if entity.kind == question.kind and all(one.holds_for(source, entity) for one in own):
                pages += 1 + elsewhere
            if entity.id == question.hops[0].entity:
                return None if pages <= MAX_PAGES_READ else f"{pages} pages have to be read to find the first one"
    return "no search for a word that it may mean finds the first page"


def searches_for(question: Question) -> tuple[str, ...]:
    """What a reader searches for: each word that the first condition about a word of the page itself may mean."""
    return next((one.words for one in question.conditions if one.words and not one.relation), ())


FILTERS: dict[str, Callable[[KnowledgeSource, Question], str | None]] = {
    "unique": check_unique,
    "conditions_needed": check_conditions_needed,
    "hops_needed": check_hops_needed,
    "no_leak": check_no_leak,
    "not_in_one_search": check_not_in_one_search,
    "findable": check_findable,
}
"""Every filter by name, in the order in which they are asked."""


class FilterReport(FrozenModel):
    """How many questions each filter saw and dropped, in order."""

    composed: int
    kept: int
    dropped: dict[str, int]


def first_objection(source: KnowledgeSource, question: Question) -> tuple[str, str] | None:
    """The first filter that drops a question, and why; None for one that is kept."""
    for name, check in FILTERS.items():
        if (why := check(source, question)) is not None:
            return name, why
    return None


def report_filters(source: KnowledgeSource, questions: Iterable[Question]) -> FilterReport:
    """What becomes of many questions."""
    objections = [first_objection(source, one) for one in questions]
    dropped = Counter(one[0] for one in objections if one is not None)
    return FilterReport(
        composed=len(objections), kept=objections.count(None), dropped={name: dropped[name] for name in FILTERS}
    )


def answers_from(source: KnowledgeSource, question: Question, starts: Iterable[Entity]) -> set[str]:
    """The answers that the chain leads to from several starts."""
    return {answer for one in starts for answer in _answers(source, question, one, 0)}


def normalize_answer(answer: str) -> str:
    """An answer as it is compared: lower case, its words alone, without an article before or a unit after a number."""
    words = [word for word in WORD_PATTERN.findall(answer.lower().replace(",", "").replace("’", "'"))]
    if words and words[0] in ("the", "a", "an"):
        words = words[1:]
    if words and words[0].isdecimal():
        words = words[:1]
    return " ".join(words)


def _answers(source: KnowledgeSource, question: Question, start: Entity, place: int) -> tuple[str, ...]:
    """The answer that the chain leads to from an entity at one of its places; none where no page says it."""
    entity = start
    for relation in question.relations[place:]:
        if relation not in entity.links:
            return ()
        entity = source.entities[entity.links[relation]]
    if question.asked != NAME and question.asked not in entity.facts:
        return ()
    return (entity.title if question.asked == NAME else str(entity.facts[question.asked]),)


def _runs(words: list[str], length: int) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}
