"""What a knowledge source knows: kinds of things, their attributes and relations, and how each is put into words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

Value = int | str
CENTURY = 100


@dataclass(frozen=True, slots=True)
class NumberAttribute:
    """A whole number.

    Attributes:
        literal: States the exact value; `{value}` stands for it.
        obscured: States a range; `{range}` stands for it.
        question: Asks for the value; `{thing}` stands for whose it is.
        least, most: The smallest and the largest value.
        width: The size of the ranges that obscure a value.
        unit: The unit after a value, in the plural; empty for years.
    """

    literal: str
    obscured: str
    question: str
    least: int
    most: int
    width: int
    unit: str = ""

    def state(self, value: Value) -> str:
        """The predicate that states a value."""
        return self.literal.format(value=value)

    def range_of(self, value: int) -> tuple[int, int]:
        """The range of `width` values that holds this one: the first and the last value in it."""
        first = value // self.width * self.width
        return first, first + self.width - 1

    def describe_range(self, first: int, last: int) -> str:
        """A range in words: with its unit, or as half a century."""
        if self.unit:
            return f"between {first} and {last} {self.unit}"
        half = "first" if first % CENTURY == 0 else "second"
        return f"the {half} half of the {first // CENTURY + 1}th century"


@dataclass(frozen=True, slots=True)
class WordAttribute:
    """A word out of a list.

    Attributes:
        literal: States the word; `{value}` stands for it, `{a_value}` for it with its article.
        classes: Predicates, each with the words it is true of. None of these words is in a predicate.
    """

    literal: str
    classes: Mapping[str, tuple[str, ...]]

    def state(self, value: Value) -> str:
        """The predicate that states a word."""
        article = "an" if str(value)[:1] in "aeiou" else "a"
        return self.literal.format(value=value, a_value=f"{article} {value}")

    @property
    def words(self) -> tuple[str, ...]:
        """Every word of the list."""
        return tuple(word for words in self.classes.values() for word in words)

    def class_of(self, word: str) -> tuple[str, tuple[str, ...]]:
        """The predicate that is true of a word, with all words it is true of."""
        return next((predicate, words) for predicate, words in self.classes.items() if word in words)


@dataclass(frozen=True, slots=True)
class YearGap:
    """How much later one thing is than another: `own` is a year of the one, `other` of the other; in years."""

    own: str
    other: str
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Relation:
    """Leads from a thing to exactly one other.

    Attributes:
        kind: The kind of what it leads to.
        phrase: Names what it leads to; `{thing}` stands for where it starts.
        sentence: Says it on the page of where it starts; `{link}` stands for what it leads to.
        gap: What their years should be like, where this matters.
    """

    kind: str
    phrase: str
    sentence: str
    gap: YearGap | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of things.

    Attributes:
        noun: Names one, with its article: "a town".
        plural: Names several.
        opening: The first words of a page about one; `{title}` stands for its name.
    """

    noun: str
    plural: str
    opening: str
    attributes: Mapping[str, NumberAttribute | WordAttribute]
    relations: Mapping[str, Relation] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing with a page of its own. `facts` are by attribute; `links` lead to other entities' ids, by relation.
    Where its page does not say one, it is left out."""

    id: str
    kind: str
    title: str
    facts: Mapping[str, Value]
    links: Mapping[str, str]


class KnowledgeSource(Protocol):
    """Where questions come from, and where they are answered: entities with pages, and a search over these."""

    @property
    def version(self) -> str:
        """Names the source and its content; another content has another version."""
        ...

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The schema."""
        ...

    @property
    def entities(self) -> Mapping[str, Entity]:
        """Every entity by its id."""
        ...

    def text(self, entity_id: str) -> str:
        """A page's text as its readers see it, without the title."""
        ...

    def search(self, words: str, limit: int = 10) -> tuple[str, ...]:
        """The ids of the pages that match any of the words, best first."""
        ...
