"""Finds out what a wiki's pages have in common: kinds of things, their attributes and relations.

A kind is a noun of first sentences. A label is an attribute or a relation of a kind where half of its pages say it in
the same form: a number, one to three words, or a link to a page of one kind.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from task_factory.questions.pages import Row, WikiPage
from task_factory.questions.values import facts_of, read_kind, read_number, read_word
from vm_bridge.suites.questions.schema import Entity, Kind, NumberAttribute, Relation, Value, WordAttribute

LEAST_OF_KIND = 8
"""Fewer pages of a kind tell nothing about it."""
LEAST_SHARE = 0.5
"""A label must be on so many of a kind's pages in its form."""
LEAST_LETTERS = 3
"""Words must begin with so many different letters, else a letter says too much or nothing."""
RANGES = 6
"""Into how many ranges numbers are cut, with about as many things in each."""
Form = Literal["number", "word", "link", "none"]


@dataclass(frozen=True, slots=True)
class CutAttribute(NumberAttribute):
    """A number whose ranges begin at `cuts`, in ascending order; the first ends all that is smaller."""

    cuts: tuple[int, ...] = ()

    def range_of(self, value: int) -> tuple[int, int]:
        """See `NumberAttribute.range_of`."""
        place = bisect_right(self.cuts, value)
        first = self.cuts[place - 1] if place else self.least
        return first, self.cuts[place] - 1 if place < len(self.cuts) else self.most

    def describe_range(self, first: int, last: int) -> str:
        """See `NumberAttribute.describe_range`."""
        return f"between {first} and {last}{f' {self.unit}' if self.unit else ''}"


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What pages say, in the terms of `KnowledgeSource`. The id of an entity is the address of its page."""

    kinds: Mapping[str, Kind]
    entities: Mapping[str, Entity]


def infer_knowledge(pages: Mapping[str, WikiPage], aliases: Mapping[str, str]) -> Knowledge:
    """Kinds and entities of pages by address. `aliases` has the addresses that lead to another one."""
    reader = _Reader(pages, aliases)
    members: defaultdict[str, list[str]] = defaultdict(list)
    for url, noun in reader.kind_of.items():
        members[noun].append(url)
    kinds = {noun: reader.read_kind(noun, urls) for noun, urls in sorted(members.items())}
    entities = {
        url: Entity(url, noun, pages[url].title, reader.facts[url], reader.links[url])
        for url, noun in reader.kind_of.items()
    }
    return Knowledge(kinds, entities)


class _Reader:
    def __init__(self, pages: Mapping[str, WikiPage], aliases: Mapping[str, str]) -> None:
        self.kind_of = _find_kinds(pages.values())
        self.facts: defaultdict[str, dict[str, Value]] = defaultdict(dict)
        self.links: defaultdict[str, dict[str, str]] = defaultdict(dict)
        self._rows = {url: facts_of(pages[url]) for url in self.kind_of}
        self._aliases = aliases

    def read_kind(self, noun: str, urls: Sequence[str]) -> Kind:
        """What the pages of a kind have in common; notes their facts and links."""
        attributes, relations = dict[str, NumberAttribute | WordAttribute](), dict[str, Relation]()
        counts = Counter(label for url in urls for label in self._rows[url])
        least = max(LEAST_OF_KIND, LEAST_SHARE * len(urls))
        for label in sorted(label for label, count in counts.items() if count >= least):
            values = {url: self._read(url, label) for url in urls if label in self._rows[url]}
            (form, detail), count = Counter(value[:2] for value in values.values()).most_common(1)[0]
            read = {url: value[2] for url, value in values.items() if value[:2] == (form, detail)}
            if form == "none" or count < least:
                continue
            if form == "link":
                relations[label] = _make_relation(label, detail)
                for url, other in read.items():
                    self.links[url][label] = str(other)
            elif (attribute := _make_attribute(label, form, detail, list(read.values()))) is not None:
                attributes[label] = attribute
                for url, value in read.items():
                    self.facts[url][label] = value
        return Kind(f"{_article(noun)} {noun}", f"{noun}s", "{title}", attributes, relations)

    def _read(self, url: str, label: str) -> tuple[Form, str, Value]:
        """The form of a value, its unit or the kind it leads to, and the value."""
        row = self._rows[url][label]
        if other := self._linked(url, row):
            return "link", self.kind_of[other], other
        if number := read_number(row.text):
            return "number", number.unit, number.value
        word = None if row.links else read_word(row.text)
        return ("none", "", "") if word is None else ("word", "", word)

    def _linked(self, url: str, row: Row) -> str | None:
        """The page that a row's only link leads to, where it is all that the row says."""
        found = {self._aliases.get(link.url, link.url) for link in row.links}
        if len(found) != 1 or row.links[0].text != row.text:
            return None
        (other,) = found
        return other if other in self.kind_of and other != url else None


def _find_kinds(pages: Iterable[WikiPage]) -> dict[str, str]:
    """The noun of each page by address: of those with a title of their own, and of nouns that enough pages share."""
    known = list(pages)
    titles = Counter(page.title for page in known)
    found = {page.url: read_kind(page.lead) for page in known if page.title and titles[page.title] == 1}
    counts = Counter(found.values())
    return {url: noun for url, noun in found.items() if noun is not None and counts[noun] >= LEAST_OF_KIND}


def _make_relation(label: str, kind: str) -> Relation:
    said = _braced(label)
    return Relation(kind, f"the “{said}” of {{thing}}", f"“{said}”: {{link}}.")


def _make_attribute(
    label: str, form: Form, unit: str, values: Sequence[Value]
) -> NumberAttribute | WordAttribute | None:
    """How a label is put into words; None where its values tell nothing apart."""
    said = _braced(label)
    if form == "number":
        numbers = sorted(int(value) for value in values)
        cuts = _cut(numbers)
        if len(cuts) < 2:
            return None
        return CutAttribute(
            literal=f"is listed with “{said}” {{value}}",
            obscured=f"is listed with “{said}” {{range}}",
            question=f"Which number is listed as the “{said}” of {{thing}}?",
            least=numbers[0] // _step(numbers[0]) * _step(numbers[0]),
            most=(numbers[-1] // _step(numbers[-1]) + 1) * _step(numbers[-1]) - 1,
            width=0,
            unit=_braced(unit),
            cuts=cuts,
        )
    by_letter: defaultdict[str, set[str]] = defaultdict(set)
    for value in values:
        by_letter[str(value)[0]].add(str(value))
    if len(by_letter) < LEAST_LETTERS:
        return None
    classes = {
        f"is listed with “{label}” beginning with the letter {letter.upper()}": tuple(sorted(words))
        for letter, words in sorted(by_letter.items())
    }
    return WordAttribute(literal=f"is listed with “{said}” {{value}}", classes=classes)


def _cut(numbers: Sequence[int]) -> tuple[int, ...]:
    """Where ranges begin: about as many numbers in each, and as round as that allows."""
    places = (len(numbers) * part // RANGES for part in range(1, RANGES))
    return tuple(sorted({rounded for place in places if (rounded := _round(numbers, place)) > numbers[0]}))


def _round(numbers: Sequence[int], place: int) -> int:
    """The roundest number between two neighbours of a place."""
    reach = max(1, len(numbers) // (4 * RANGES))
    low, high = numbers[max(0, place - reach)], numbers[min(len(numbers) - 1, place + reach)]
    for unit in (int(10**power) * step for power in range(len(str(high)), -1, -1) for step in (5, 2, 1)):
        if (rounded := -(-low // unit) * unit) <= high:
            return rounded
    return numbers[place]


def _step(number: int) -> int:
    """What the first and last range's ends are rounded to, so that they are no page's own value: two digits stay."""
    return int(10 ** max(1, len(str(number)) - 2))


def _article(noun: str) -> str:
    return "an" if noun[0] in "aeiou" else "a"


def _braced(text: str) -> str:
    """A text that `str.format` leaves as it is."""
    return text.replace("{", "{{").replace("}", "}}")
