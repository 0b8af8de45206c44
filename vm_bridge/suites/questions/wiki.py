"""The bundled wiki: an invented country, dealt by the number of its edition."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from random import Random

from pydantic import TypeAdapter

from vm_bridge.suites.questions.schema import Entity, Kind, NumberAttribute, Value, YearGap
from vm_bridge.suites.questions.search_index import SearchIndex

WIKI_FILE = Path(__file__).with_name("wiki.json")
KEPT_EDITIONS = 4


@dataclass(frozen=True, slots=True)
class WikiKind(Kind):
    """A kind of the bundled wiki: how many there are, and how an invented word becomes a title."""

    count: int = 0
    title: str = "{}"


@dataclass(frozen=True, slots=True)
class NameParts:
    """What names are made of: a start, perhaps a middle, an end by kind; and titles of books."""

    starts: tuple[str, ...]
    middles: tuple[str, ...]
    ends: Mapping[str, tuple[str, ...]]
    book: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class WikiData:
    """The schema of every edition: wiki.json."""

    kinds: Mapping[str, WikiKind]
    names: NameParts


@cache
def read_data() -> WikiData:
    """The wiki's schema and the parts of its names."""
    return TypeAdapter(WikiData).validate_json(WIKI_FILE.read_bytes())


@lru_cache(maxsize=KEPT_EDITIONS)
def make_wiki(edition: int) -> "Wiki":
    """The wiki of this edition."""
    return Wiki(edition)


class Wiki:
    """Implements `KnowledgeSource`: 440 pages, the same for the same edition."""

    def __init__(self, edition: int) -> None:
        self.edition = edition
        self._entities = _deal_entities(Random(f"wiki-{edition}"))
        self._index = SearchIndex((one.id, one.title, self.text(one.id)) for one in self._entities.values())

    @property
    def version(self) -> str:
        """The edition by name."""
        return f"wiki-1.{self.edition}"

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The schema of every edition."""
        return read_data().kinds

    @property
    def entities(self) -> Mapping[str, Entity]:
        """Every entity by its id."""
        return self._entities

    def text(self, entity_id: str) -> str:
        """A page's text, without the title."""
        sentences = [opening(self._entities[entity_id])]
        sentences += [sentence for sentence, _ in link_sentences(self._entities[entity_id], self._entities)]
        return " ".join(sentences)

    def search(self, words: str, limit: int = 10) -> tuple[str, ...]:
        """The ids of the pages that match any of the words, best first."""
        return self._index.search(words, limit)


def opening(entity: Entity) -> str:
    """The first sentence of a page: all its facts."""
    kind = read_data().kinds[entity.kind]
    predicates = [attribute.state(entity.facts[name]) for name, attribute in kind.attributes.items()]
    joined = ", ".join(predicates[:-1]) + " and " + predicates[-1]
    return f"{kind.opening.format(title=entity.title)} {joined}."


def link_sentences(entity: Entity, entities: Mapping[str, Entity]) -> list[tuple[str, str]]:
    """The other sentences of a page, each with the id of the entity that its link leads to."""
    relations = read_data().kinds[entity.kind].relations
    return [
        (relation.sentence.format(link=entities[entity.links[name]].title), entity.links[name])
        for name, relation in relations.items()
    ]


def _deal_entities(draw: Random) -> dict[str, Entity]:
    """Names and facts first, then links between what fits together by its years."""
    names = _Names(draw)
    unlinked = [
        Entity(f"{kind}-{number}", kind, names.make(kind), _deal_facts(draw, kind), {})
        for kind, terms in read_data().kinds.items()
        for number in range(terms.count)
    ]
    return {one.id: replace(one, links=_deal_links(draw, one, unlinked)) for one in unlinked}


def _deal_links(draw: Random, entity: Entity, entities: list[Entity]) -> dict[str, str]:
    links = {}
    for name, relation in read_data().kinds[entity.kind].relations.items():
        others = [other for other in entities if other.kind == relation.kind and other.id != entity.id]
        if relation.gap is not None:
            misfits = {other.id: _misfit(entity, other, relation.gap) for other in others}
            best = min(misfits.values())
            others = [other for other in others if misfits[other.id] == best]
        links[name] = draw.choice(others).id
    return links


def _misfit(entity: Entity, other: Entity, gap: YearGap) -> int:
    """By how many years the two are too close together or too far apart; 0 where they fit."""
    years = int(entity.facts[gap.own]) - int(other.facts[gap.other])
    return max(gap.least - years, years - gap.most, 0)


def _deal_facts(draw: Random, kind: str) -> dict[str, Value]:
    return {
        name: draw.randint(attribute.least, attribute.most)
        if isinstance(attribute, NumberAttribute)
        else draw.choice(attribute.words)
        for name, attribute in read_data().kinds[kind].attributes.items()
    }


class _Names:
    """Makes titles of which none shares a word with another of its kind, but for the titles' own words."""

    def __init__(self, draw: Random) -> None:
        self._draw, self._parts = draw, read_data().names
        self._words: set[str] = set()

    def make(self, kind: str) -> str:
        if kind == "book":
            return self._unused(lambda: f"The {self._pick('adjectives')} {self._pick('nouns')}")
        ends = self._parts.ends.get(kind, self._parts.ends[""])
        words = [self._unused(lambda: self._word(ends)) for _ in range(2 if kind == "person" else 1)]
        return read_data().kinds[kind].title.format(" ".join(words))

    def _unused(self, make: Callable[[], str]) -> str:
        while (made := make()) in self._words:
            pass
        self._words.add(made)
        return made

    def _word(self, ends: tuple[str, ...]) -> str:
        middle = self._draw.choice(self._parts.middles) if self._draw.random() < 0.5 else ""
        return self._draw.choice(self._parts.starts) + middle + self._draw.choice(ends)

    def _pick(self, part: str) -> str:
        return self._draw.choice(self._parts.book[part])
