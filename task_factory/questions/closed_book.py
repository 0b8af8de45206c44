"""Tries to answer a question without the wiki: by its commonest answers, or by a language model."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

from task_factory.language_models import LanguageModel, Message
from vm_bridge.suites.questions.composer import NAME, Question
from vm_bridge.suites.questions.filters import normalize_answer
from vm_bridge.suites.questions.schema import KnowledgeSource

TRIES = 8
PROMPT = "Answer the question with the name or the number alone. If you do not know it, guess.\n\n{question}"
Guess = Callable[[Question], Awaitable[Sequence[str]]]
"""Gives up to `TRIES` answers to a question."""


async def is_guessed(question: Question, guess: Guess) -> bool:
    """Whether one of the guesses is right."""
    return normalize_answer(question.answer) in {normalize_answer(one) for one in await guess(question)}


def guess_by_model(model: LanguageModel) -> Guess:
    """What a model says, asked `TRIES` times. Raises PolicyError."""

    async def guess(question: Question) -> Sequence[str]:
        asked = [Message(role="user", content=PROMPT.format(question=question.text))]
        return [await model.complete(asked) for _ in range(TRIES)]

    return guess


def guess_common(source: KnowledgeSource) -> Guess:
    """The commonest values of what is asked for, of those that more than one page has."""

    async def guess(question: Question) -> Sequence[str]:
        kind = source.entities[question.hops[-1].entity].kind
        same = [one for one in source.entities.values() if one.kind == kind]
        if question.asked == NAME:
            return ()
        counts = Counter(str(one.facts[question.asked]) for one in same if question.asked in one.facts)
        return [value for value, count in counts.most_common(TRIES) if count > 1]

    return guess
