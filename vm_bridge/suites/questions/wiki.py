"""The bundled wiki: an invented country, dealt by the number of its edition."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from random import Random

from vm_bridge.suites.questions.schema import Entity, Kind, NumberAttribute, Value, YearGap
from vm_bridge.suites.questions.search_index import SearchIndex
from vm_bridge.suites.questions.wiki_schema import COUNTS, KINDS

STARTS = (
    "Bal Bren Cal Cor Dar Del Dun Eld Fen Fir Gal Gor Hal Har Hel Ing Jor Kal Kel Kor Lan Lor Mar Mel Mor Nar Nel Nor "
    "Ost Pel Per Quel Ran Rav Rel Sal Sel Sor Tal Tam Tir Tor Ul Val Var Vel Vor Wen Wil Yar Yor Zel Zir Thal Bris "
    "Cras Drov Flin Gris Hask Jask Klen Lusk Mist Nesk Osk Prem Rusk Skal Trem Usk Vesk"
).split()
MIDDLES = "a e i o u an en in on ar er or al el il am em im as es is".split()
TOWN_ENDS = "holt mere wick stead burg dorf fell garth ham ley minster mouth stow thorpe toft worth".split()
RIVER_ENDS = "ava una eda ora isca enne itha".split()
PLAIN_ENDS = "dan dis dor kin lan len lin mar mir nas nel nor ras rin ros sen tas tel ten tis van vin".split()
ADJECTIVES = (
    "Amber Borrowed Broken Crimson Distant Drowned Empty Forgotten Gilded Hollow Idle Jealous Kindly Lonely Muted "
    "Narrow Pallid Quiet Restless Silent Tangled Unlit Velvet Wandering Yellow"
).split()
NOUNS = (
    "Anvil Banner Candle Doorway Echo Fiddle Gate Harbour Inkstand Jester Kettle Ladder Mirror Needle Orchard Parcel "
    "Quarry Ribbon Staircase Thimble Vessel Whistle"
).split()
FORMS = {
    "mountain": "Mount {}",
    "bridge": "{} Span",
    "museum": "{} Halls",
    "festival": "{} Days",
    "company": "{} Works",
}
"""How an invented word becomes a title, where the kind has a form."""
KEPT_EDITIONS = 4


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
        return KINDS

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
    kind = KINDS[entity.kind]
    predicates = [attribute.state(entity.facts[name]) for name, attribute in kind.attributes.items()]
    joined = ", ".join(predicates[:-1]) + " and " + predicates[-1]
    return f"{kind.opening.format(title=entity.title)} {joined}."


def link_sentences(entity: Entity, entities: Mapping[str, Entity]) -> list[tuple[str, str]]:
    """The other sentences of a page, each with the id of the entity that its link leads to."""
    relations = KINDS[entity.kind].relations
    return [
        (relation.sentence.format(link=entities[entity.links[name]].title), entity.links[name])
        for name, relation in relations.items()
    ]


def _deal_entities(draw: Random) -> dict[str, Entity]:
    """Names and facts first, then links between what fits together by its years."""
    names = _Names(draw)
    unlinked = [
        Entity(f"{kind}-{number}", kind, names.make(kind), _deal_facts(draw, kind), {})
        for kind, count in COUNTS.items()
        for number in range(count)
    ]
    return {one.id: replace(one, links=_deal_links(draw, one, unlinked)) for one in unlinked}


def _deal_links(draw: Random, entity: Entity, entities: list[Entity]) -> dict[str, str]:
    links = {}
    for name, relation in KINDS[entity.kind].relations.items():
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
        for name, attribute in KINDS[kind].attributes.items()
    }


class _Names:
    """Makes titles of which none shares a word with another of its kind, but for the forms' own words."""

    def __init__(self, draw: Random) -> None:
        self._draw = draw
        self._words: set[str] = set()

    def make(self, kind: str) -> str:
        if kind == "book":
            return self._book()
        if kind == "person":
            return f"{self._word(PLAIN_ENDS)} {self._word(PLAIN_ENDS)}"
        ends = {"town": TOWN_ENDS, "river": RIVER_ENDS}.get(kind, PLAIN_ENDS)
        return FORMS.get(kind, "{}").format(self._word(ends))

    def _word(self, ends: list[str]) -> str:
        while True:
            middle = self._draw.choice(MIDDLES) if self._draw.random() < 0.5 else ""
            word = self._draw.choice(STARTS) + middle + self._draw.choice(ends)
            if word not in self._words:
                self._words.add(word)
                return word

    def _book(self) -> str:
        while True:
            title = f"The {self._draw.choice(ADJECTIVES)} {self._draw.choice(NOUNS)}"
            if title not in self._words:
                self._words.add(title)
                return title
