"""Composes questions: conditions that leave one thing, a chain of relations from it, and what is asked at the end."""

from collections.abc import Sequence
from random import Random
from typing import Annotated

from pydantic import Field

from protocol.base import FrozenModel
from vm_bridge.suites.questions.conditions import Condition, conditions_of, possible_entities, this_one
from vm_bridge.suites.questions.schema import Entity, KnowledgeSource, NumberAttribute

MAX_HOPS = 4
MAX_CONDITIONS = 6
NAME = "name"
"""Asked for at the end of a chain in place of an attribute."""
CHAIN_TRIES = 50


class Hop(FrozenModel):
    """One entity on the way to the answer, and the relation that leads on from it; none from the last."""

    entity: str
    relation: str = ""


class Question(FrozenModel):
    """A question over several pages.

    Attributes:
        source: The version of its knowledge source.
        text: What is asked.
        literal_text: The same with exact statements in place of obscured ones.
        answer: What is right.
        aliases: Other forms of the answer that are right.
        asked: The attribute that is asked for, or `name`.
        kind: The kind of what it starts from.
        conditions: What is said of it.
        hops: The way from it to what the answer is about, both included.
    """

    source: str
    text: str
    literal_text: str
    answer: str
    aliases: tuple[str, ...] = ()
    asked: str
    kind: str
    conditions: Annotated[tuple[Condition, ...], Field(min_length=1)]
    hops: Annotated[tuple[Hop, ...], Field(min_length=1)]

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations of the chain, in order."""
        return tuple(hop.relation for hop in self.hops if hop.relation)


def draw_chain(source: KnowledgeSource, draw: Random, hops: int) -> tuple[Hop, ...]:
    """A way of so many relations that meets no entity twice. Raises ValueError where the source has none."""
    starts = sorted(source.entities)
    for _ in range(CHAIN_TRIES):
        entity = source.entities[draw.choice(starts)]
        way = [entity.id]
        relations: list[str] = []
        while len(relations) < hops and entity.links:
            relations.append(draw.choice(sorted(entity.links)))
            entity = source.entities[entity.links[relations[-1]]]
            way.append(entity.id)
        if len(relations) == hops and len(set(way)) == len(way):
            steps = zip(way, (*relations, ""), strict=True)
            return tuple(Hop(entity=one, relation=relation) for one, relation in steps)
    raise ValueError(f"no way of {hops} relations was found in {source.version}")


def choose_conditions(source: KnowledgeSource, entity: Entity, draw: Random) -> tuple[Condition, ...]:
    """Statements about an entity that leave no other, without one that could be dropped; else as many as allowed. The
    first is about a word of its own page, from which a reader can begin to search."""
    offered = conditions_of(source, entity)
    chosen: list[Condition] = []
    drawn = draw.sample(offered, len(offered))
    drawn.sort(key=lambda one: not (one.words and not one.relation))
    del drawn[1 : 1 + sum(bool(one.words and not one.relation) for one in drawn[1:])]
    for one in drawn[:MAX_CONDITIONS]:
        chosen.append(one)
        if len(possible_entities(source, entity.kind, chosen)) == 1:
            break
    for one in chosen[1:]:
        rest = [other for other in chosen if other is not one]
        if rest and len(possible_entities(source, entity.kind, rest)) == 1:
            chosen = rest
    return tuple(chosen)


def compose(source: KnowledgeSource, draw: Random, hops: int) -> Question:
    """A question that no filter has looked at. Raises ValueError where the source has no way so long, or says nothing
    of where it starts."""
    way = draw_chain(source, draw, hops)
    conditions = choose_conditions(source, source.entities[way[0].entity], draw)
    last = source.entities[way[-1].entity]
    asked = draw.choice(askable_attributes(source, last))
    return make_question(source, way, conditions, asked)


def askable_attributes(source: KnowledgeSource, entity: Entity) -> list[str]:
    """What can be asked of an entity: its name, and its numbers."""
    attributes = source.kinds[entity.kind].attributes.items()
    numbers = (name for name, attribute in attributes if isinstance(attribute, NumberAttribute))
    return [NAME, *(name for name in numbers if name in entity.facts)]


def make_question(source: KnowledgeSource, way: Sequence[Hop], conditions: Sequence[Condition], asked: str) -> Question:
    """The question in words, with its answer."""
    first, last = source.entities[way[0].entity], source.entities[way[-1].entity]
    thing = this_one(source, first.kind)
    for hop in way[:-1]:
        kind = source.kinds[source.entities[hop.entity].kind]
        thing = kind.relations[hop.relation].phrase.format(thing=thing)
    attribute = source.kinds[last.kind].attributes.get(asked)
    end = attribute.question if isinstance(attribute, NumberAttribute) else "What is the name of {thing}?"
    start = f"Think of {source.kinds[first.kind].noun}."
    said, exact = (
        " ".join((start, *(_sentence(one) for one in statements), end.format(thing=thing)))
        for statements in ([one.obscured for one in conditions], [one.literal for one in conditions])
    )
    return Question(
        source=source.version,
        text=said,
        literal_text=exact,
        answer=last.title if asked == NAME else str(last.facts[asked]),
        asked=asked,
        kind=first.kind,
        conditions=tuple(conditions),
        hops=tuple(way),
    )


def _sentence(statement: str) -> str:
    return f"{statement[0].upper()}{statement[1:]}."
