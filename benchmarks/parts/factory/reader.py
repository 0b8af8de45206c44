"""Answers a question from screenshots alone: it reads them with OCR, clicks and types.

It understands the question's words, which word a condition may mean and how the wiki puts a fact into words. What the
wiki says it knows only from pictures.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from itertools import pairwise

from benchmarks.parts.factory.ocr import Line, Word, read_lines
from protocol.actions.types import Action, Click, NavigateBack, PressKeys, TypeText
from vm_bridge.suites.questions.composer import NAME, Question
from vm_bridge.suites.questions.conditions import Condition
from vm_bridge.suites.questions.filters import searches_for
from vm_bridge.suites.questions.schema import Kind, NumberAttribute, Value

FIELD_LEFT_OF_BUTTON = 140
"""How far left of the button *Search* one clicks into the field (pixels)."""


class Reader:
    """Answers one question.

    Args:
        kinds: How the wiki puts facts into words.
        question: Its words, taken apart.
        look: Returns a screenshot (PNG).
        act: Does an act and waits for the page to rest.
    """

    def __init__(
        self,
        kinds: Mapping[str, Kind],
        question: Question,
        look: Callable[[], Awaitable[bytes]],
        act: Callable[[Action], Awaitable[None]],
    ) -> None:
        self._kinds, self._question = kinds, question
        self._look, self._act = look, act
        self._button: Word | None = None
        """Where *Search* is, on every page."""
        self.pages_read = 0

    async def answer(self) -> str | None:
        """The answer; None where no page was found that fits."""
        for number, words in enumerate(searches_for(self._question)):
            await self._search(words, again=number > 0)
            while True:
                if await self._find_among_results():
                    return await self._follow_chain()
                if (on := _find_word(await self._read(), "Next")) is None:
                    break
                await self._click(on)
        return None

    async def _search(self, words: str, *, again: bool) -> None:
        if self._button is None:
            self._button = _find_word(await self._read(), "Search")
        if self._button is None:
            raise LookupError("no button Search is on the first page")
        await self._act(Click(x=self._button.x - FIELD_LEFT_OF_BUTTON, y=self._button.y))
        if again:
            await self._act(PressKeys(keys=("ctrl", "a")))
        await self._act(TypeText(text=f"{words}\n"))

    async def _find_among_results(self) -> bool:
        """Open the results that may fit, one after the other; whether the one that is open now does."""
        lines = await self._read()
        own = [one for one in self._question.conditions if not one.relation]
        for above, line in pairwise(lines):
            facts = facts_in(self._kinds[self._question.kind], line.text)
            if not facts or not all(_satisfies(one, facts) for one in own):
                continue
            await self._click(above.words[-1])
            if await self._fits():
                return True
            await self._act(NavigateBack())
        return False

    async def _fits(self) -> bool:
        """Whether what the open page leads to satisfies the other conditions; the page is open again afterwards."""
        relations = {one.relation for one in self._question.conditions if one.relation}
        for relation in relations:
            reached = await self._follow(self._question.kind, relation)
            facts = await self._facts(reached)
            await self._act(NavigateBack())
            about = [one for one in self._question.conditions if one.relation == relation]
            if not all(_satisfies(one, facts) for one in about):
                return False
        return True

    async def _follow_chain(self) -> str | None:
        kind = self._question.kind
        for relation in self._question.relations:
            kind = await self._follow(kind, relation)
        if self._question.asked != NAME:
            value = (await self._facts(kind)).get(self._question.asked)
            return None if value is None else str(value)
        for line in await self._read():
            before, found, _ = line.text.partition(f" {self._first_predicate(kind)}")
            if found:
                opening = self._kinds[kind].opening.partition("{title}")[0]
                return before.removeprefix(opening)
        return None

    def _first_predicate(self, kind: str) -> str:
        attribute = next(iter(self._kinds[kind].attributes.values()))
        return attribute.literal.partition(" {")[0]

    async def _follow(self, kind: str, relation: str) -> str:
        """Click the link of a relation; the kind of the page that opens."""
        terms = self._kinds[kind].relations[relation]
        start = terms.sentence.partition("{link}")[0].split()
        for line in await self._read():
            if [word.text for word in line.words[: len(start)]] == start:
                await self._click(line.words[len(start)])
                return terms.kind
        raise LookupError(f"no line begins with “{' '.join(start)}”")

    async def _facts(self, kind: str) -> dict[str, Value]:
        text = " ".join(line.text for line in await self._read())
        return facts_in(self._kinds[kind], text)

    async def _read(self) -> tuple[Line, ...]:
        self.pages_read += 1
        return await read_lines(await self._look())

    async def _click(self, word: Word) -> None:
        await self._act(Click(x=word.x, y=word.y))


def facts_in(kind: Kind, text: str) -> dict[str, Value]:
    """What a text says of a thing of this kind; empty where it does not say all that an opening does."""
    facts: dict[str, Value] = {}
    for name, attribute in kind.attributes.items():
        is_number = isinstance(attribute, NumberAttribute)
        value = r"(\d+)" if is_number else "(" + "|".join(attribute.words) + ")"  # type: ignore[union-attr]
        pattern = re.escape(attribute.literal).replace(r"\{value\}", value).replace(r"\{a_value\}", f"an? {value}")
        if (found := re.search(pattern, text)) is None:
            return {}
        facts[name] = int(found[1]) if is_number else found[1]
    return facts


def _satisfies(condition: Condition, facts: Mapping[str, Value]) -> bool:
    value = facts.get(condition.attribute)
    if value is None:
        return False
    return (
        value in condition.words if condition.range is None else condition.range[0] <= int(value) <= condition.range[1]
    )


def _find_word(lines: tuple[Line, ...], text: str) -> Word | None:
    return next((word for line in lines for word in line.words if word.text == text), None)
