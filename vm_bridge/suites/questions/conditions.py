"""What a question says of the thing that it starts from, and how much each statement tells."""

from collections.abc import Sequence
from math import log2
from typing import Annotated

from pydantic import Field

from protocol.base import FrozenModel
from vm_bridge.suites.questions.schema import Entity, KnowledgeSource, NumberAttribute, Value, WordAttribute


class Condition(FrozenModel):
    """One statement about an entity, or about the one that a relation leads to.

    Attributes:
        relation: Leads from the entity to what the statement is about; empty for the entity itself.
        attribute: What it is about.
        words: The values that satisfy it, of an attribute with words.
        range: The first and the last value that satisfy it, of a number.
        literal: States the exact value, as the page does.
        obscured: States what a reader has to think about, without the words of the page.
        distinctiveness: How much it tells: minus the binary logarithm of the share that satisfies it (bits).
        posting_size: How many entities of the kind satisfy it.
    """

    relation: str = ""
    attribute: str
    words: tuple[str, ...] = ()
    range: tuple[int, int] | None = None
    literal: str
    obscured: str
    distinctiveness: Annotated[float, Field(ge=0)] = 0.0
    posting_size: Annotated[int, Field(ge=0)] = 0

    def holds_for(self, source: KnowledgeSource, entity: Entity) -> bool:
        """Whether the pages say that it is true of an entity."""
        value = self._value(source, entity)
        return value is not None and self._is_met(value)

    def may_hold_for(self, source: KnowledgeSource, entity: Entity) -> bool:
        """Whether it may be true of an entity: no page says otherwise."""
        value = self._value(source, entity)
        return value is None or self._is_met(value)

    def _value(self, source: KnowledgeSource, entity: Entity) -> Value | None:
        """What the pages say; None where they say nothing."""
        if not self.relation:
            return entity.facts.get(self.attribute)
        other = entity.links.get(self.relation)
        return None if other is None else source.entities[other].facts.get(self.attribute)

    def _is_met(self, value: Value) -> bool:
        return value in self.words if self.range is None else self.range[0] <= int(value) <= self.range[1]


def this_one(source: KnowledgeSource, kind: str) -> str:
    """How a question refers to what it starts from: "this town"."""
    return f"this {source.kinds[kind].noun.partition(' ')[2]}"


def entities_of(source: KnowledgeSource, kind: str) -> list[Entity]:
    """Every entity of a kind."""
    return [one for one in source.entities.values() if one.kind == kind]


def matching_entities(source: KnowledgeSource, kind: str, conditions: Sequence[Condition]) -> list[Entity]:
    """The entities of a kind of which the pages say that they satisfy every condition."""
    found = entities_of(source, kind)
    return [one for one in found if all(condition.holds_for(source, one) for condition in conditions)]


def possible_entities(source: KnowledgeSource, kind: str, conditions: Sequence[Condition]) -> list[Entity]:
    """The entities of a kind that may satisfy every condition: what no page says may be true."""
    found = entities_of(source, kind)
    return [one for one in found if all(condition.may_hold_for(source, one) for condition in conditions)]


def conditions_of(source: KnowledgeSource, entity: Entity) -> list[Condition]:
    """Every statement that is true of an entity: about itself, and about what its relations lead to."""
    relations = source.kinds[entity.kind].relations
    subject = this_one(source, entity.kind)
    made = []
    for relation, about in (("", entity), *((name, source.entities[other]) for name, other in entity.links.items())):
        told = relations[relation].phrase.format(thing=subject) if relation else subject
        for name, attribute in source.kinds[about.kind].attributes.items():
            if name in about.facts:
                made.append(_make_condition(relation, name, attribute, about.facts[name], told))
    return [_measured(source, entity.kind, one) for one in made]


def _make_condition(
    relation: str, name: str, attribute: NumberAttribute | WordAttribute, value: Value, subject: str
) -> Condition:
    literal = f"{subject} {attribute.state(value)}"
    if isinstance(attribute, WordAttribute):
        predicate, words = attribute.class_of(str(value))
        obscured = f"{subject} {predicate}"
        return Condition(relation=relation, attribute=name, words=words, literal=literal, obscured=obscured)
    first, last = attribute.range_of(int(value))
    obscured = f"{subject} {attribute.obscured.format(range=attribute.describe_range(first, last))}"
    return Condition(relation=relation, attribute=name, range=(first, last), literal=literal, obscured=obscured)


def _measured(source: KnowledgeSource, kind: str, condition: Condition) -> Condition:
    fitting, all_of_kind = len(matching_entities(source, kind, [condition])), len(entities_of(source, kind))
    update = {"distinctiveness": round(-log2(fitting / all_of_kind), 3) + 0.0, "posting_size": fitting}
    return condition.model_copy(update=update)
