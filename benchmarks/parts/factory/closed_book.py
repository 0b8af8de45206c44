"""Tries to answer questions without the wiki: by the answers that are most common elsewhere, or by a model."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import cache

import httpx

from vm_bridge.suites.questions.composer import NAME, Question
from vm_bridge.suites.questions.filters import normalize_answer
from vm_bridge.suites.questions.wiki import Wiki

TRIES = 8
OTHER_EDITIONS = range(9_000, 9_008)
MODEL_SECONDS = 60.0
MAX_TOKENS = 24
PROMPT = "Answer the question with the name or the number alone. If you do not know it, guess.\n\n{question}"

Guess = Callable[[Question], Awaitable[Sequence[str]]]
"""Gives `TRIES` answers to a question."""


async def count_solved(questions: Sequence[Question], guess: Guess) -> int:
    """How many questions one of the guesses answers."""
    solved = 0
    for question in questions:
        solved += normalize_answer(question.answer) in {normalize_answer(one) for one in await guess(question)}
    return solved


async def guess_common(question: Question) -> Sequence[str]:
    """The most common answers to the like in other editions: what somebody knows who has seen many questions."""
    return _common_answers(question.hops[-1].entity.rpartition("-")[0], question.asked)


@cache
def _common_answers(kind: str, asked: str) -> tuple[str, ...]:
    found = [one for edition in _other_editions() for one in edition.entities.values() if one.kind == kind]
    values = Counter(one.title if asked == NAME else str(one.facts[asked]) for one in found)
    return tuple(value for value, _ in values.most_common(TRIES))


@cache
def _other_editions() -> tuple[Wiki, ...]:
    return tuple(Wiki(number) for number in OTHER_EDITIONS)


def guess_by_model(url: str, model: str) -> Guess:
    """What a model behind an OpenAI-compatible address says, `TRIES` times. Raises httpx.HTTPError."""

    async def guess(question: Question) -> Sequence[str]:
        body = {
            "model": model,
            "messages": [{"role": "user", "content": PROMPT.format(question=question.text)}],
            "max_tokens": MAX_TOKENS,
            "temperature": 0.8,
        }
        answers = []
        async with httpx.AsyncClient(timeout=MODEL_SECONDS, trust_env=False) as client:
            for _ in range(TRIES):
                reply = (await client.post(f"{url.rstrip('/')}/chat/completions", json=body)).raise_for_status().json()
                answers.append(str(reply["choices"][0]["message"]["content"]))
        return answers

    return guess
