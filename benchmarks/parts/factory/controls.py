"""Planted bad questions, each with the filter that has to catch it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from vm_bridge.suites.questions.composer import NAME, Hop, Question, make_question
from vm_bridge.suites.questions.conditions import Condition, conditions_of, matching_entities
from vm_bridge.suites.questions.filters import FILTERS, MAX_PAGES_READ, searches_for
from vm_bridge.suites.questions.schema import Entity, KnowledgeSource, NumberAttribute


@dataclass(frozen=True, slots=True)
class Control:
    """A good question that was spoiled in one way."""

    defect: str
    caught_by: str
    question: Question
    source: KnowledgeSource

    @property
    def is_caught(self) -> bool:
        """Whether the filter that is meant objects."""
        return FILTERS[self.caught_by](self.source, self.question) is not None


class SameForAll:
    """A source in which one number is the same for all of a kind."""

    def __init__(self, source: KnowledgeSource, kind: str, attribute: str, value: int) -> None:
        self.version, self.kinds = source.version, source.kinds
        self.text, self.search = source.text, source.search
        self.entities: Mapping[str, Entity] = {
            one.id: replace(one, facts={**one.facts, attribute: value}) if one.kind == kind else one
            for one in source.entities.values()
        }


def make_controls(source: KnowledgeSource, good: Question) -> list[Control]:
    """Every defect, planted into a question that was kept. Raises StopIteration where the source has no example."""
    first, last = (source.entities[hop.entity] for hop in (good.hops[0], good.hops[-1]))
    page, others = source.text(last.id), (*good.conditions, _false(source, first))
    exact = {"text": good.literal_text + page}
    planted = {
        "two answers": ("unique", _again(source, good, good.conditions[:-1])),
        "no answer": ("unique", _again(source, good, others)),
        "a wrong answer": ("unique", good.model_copy(update={"answer": "Nowhere"})),
        "a condition too many": ("conditions_needed", _again(source, good, _with_another(source, good, first))),
        "a condition twice": ("conditions_needed", _again(source, good, good.conditions * 2)),
        "a page that links past a hop": ("hops_needed", _with_shortcut(source, good)),
        "a title": ("no_leak", _saying(good, f"It has to do with {first.title}.")),
        "the answer": ("no_leak", _saying(good, f"It is not {good.answer}, or is it?")),
        "a sentence of the answer's page": ("no_leak", _saying(good, page)),
        "exact words": ("not_in_one_search", good.model_copy(update=exact)),
        "a condition in exact words": ("not_in_one_search", _with_exact_condition(source, good, first)),
        "nothing to search for": ("findable", _without_words(source, good)),
        "too much to read": ("findable", _with_much_to_read(source)),
    }
    controls = [Control(defect, by, question, source) for defect, (by, question) in planted.items()]
    year = next(name for name, one in source.kinds[last.kind].attributes.items() if isinstance(one, NumberAttribute))
    flat = SameForAll(source, last.kind, year, 1)
    asked = make_question(flat, good.hops, good.conditions, year)
    return [*controls, Control("an answer that every chain has", "hops_needed", asked, flat)]


def _again(source: KnowledgeSource, good: Question, conditions: tuple[Condition, ...]) -> Question:
    return make_question(source, good.hops, conditions, good.asked)


def _saying(good: Question, words: str) -> Question:
    return good.model_copy(update={"text": f"{good.text} {words}"})


def _false(source: KnowledgeSource, entity: Entity) -> Condition:
    """A statement about another of the kind that is not true of this one."""
    others = (one for one in source.entities.values() if one.kind == entity.kind)
    offered = (condition for other in others for condition in conditions_of(source, other))
    return next(one for one in offered if not one.holds_for(source, entity))


def _with_another(source: KnowledgeSource, good: Question, entity: Entity) -> tuple[Condition, ...]:
    another = next(one for one in conditions_of(source, entity) if one not in good.conditions)
    return (*good.conditions, another)


def _ways(source: KnowledgeSource, fits: Callable[[tuple[Entity, Entity, Entity]], bool]) -> Iterator[tuple[Hop, ...]]:
    for first in source.entities.values():
        for name, second_id in first.links.items():
            second = source.entities[second_id]
            for other, third_id in second.links.items():
                if fits((first, second, source.entities[third_id])):
                    hops = ((first.id, name), (second_id, other), (third_id, ""))
                    yield tuple(Hop(entity=entity, relation=relation) for entity, relation in hops)


def _with_shortcut(source: KnowledgeSource, good: Question) -> Question:
    way = next(_ways(source, lambda three: three[2].id in three[0].links.values() and three[2].id != three[1].id))
    return make_question(source, way, good.conditions, NAME)


def _with_exact_condition(source: KnowledgeSource, good: Question, entity: Entity) -> Question:
    exact = good.conditions[0].model_copy(update={"obscured": f"{entity.title} {source.text(entity.id)}"})
    return good.model_copy(update={"conditions": (exact, *good.conditions[1:])})


def _without_words(source: KnowledgeSource, good: Question) -> Question:
    rest = tuple(one for one in good.conditions if one.relation or not one.words)
    return _again(source, good, rest) if rest else good.model_copy(update={"conditions": ()})


def _with_much_to_read(source: KnowledgeSource) -> Question:
    """One word condition that so many satisfy that the last of them is not reached within the bound."""
    for entity in source.entities.values():
        words = next(one for one in conditions_of(source, entity) if one.words and not one.relation)
        elsewhere = [one for one in conditions_of(source, entity) if one.relation]
        conditions = (words, *elsewhere[:3])
        way = (Hop(entity=entity.id),)
        asked = make_question(source, way, conditions, NAME)
        order = [found for word in searches_for(asked) for found in source.search(word, MAX_PAGES_READ)]
        candidates = [one.id for one in matching_entities(source, entity.kind, [words])]
        before = [one for one in order if one in candidates]
        if elsewhere and entity.id in before and before.index(entity.id) * len(conditions) > MAX_PAGES_READ:
            return asked
    raise StopIteration
