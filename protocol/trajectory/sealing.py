"""Tasks whose text must not be published: their words are encrypted wherever an attempt is written down.

A benchmark of questions is of no use once models have read it. Its publishers encrypt it by a key that stands beside
each row, so that no crawler reads it; we write attempts at it in the same way. This hides text from crawlers. It does
not keep the text secret from people who look for it.
"""

import base64
import binascii
import hashlib
import itertools
import re
from collections.abc import Callable
from typing import Self

from pydantic import JsonValue, ValidationError

from protocol.base import FrozenModel
from protocol.trajectory.tasks import Task

SEALED = "sealed"
"""The parameter of a task whose text is sealed in what is written of its attempts."""
PREFIX = "sealed:"
"""How a sealed text begins; its base64 follows."""
HIDDEN_INSTRUCTION = "The words of this task are sealed."
HIDDEN_PARAMETERS = frozenset({"reference_answer", "success_criteria"})
RUN_CHARACTERS, RUN_CHARACTERS_CJK = 24, 8
"""How many characters in a row of a sealed text give it away, in spaced writing and in Chinese or Japanese."""
MIN_ANSWER_CHARACTERS = 3
"""Shorter answers, such as a digit, are hidden only where they are the whole of a text."""
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


class InvalidSeal(ValueError):
    """A text cannot be decrypted with this password."""


def encrypt(text: str, password: str) -> str:
    """Base64 of the text's UTF-8, combined by XOR with the SHA-256 of the password, which is repeated."""
    return base64.b64encode(_combine(text.encode(), password)).decode()


def decrypt(text: str, password: str) -> str:
    """The reverse of `encrypt`, as published question sets are encrypted. Raises InvalidSeal."""
    try:
        return _combine(base64.b64decode(text, validate=True), password).decode()
    except (binascii.Error, ValueError):
        raise InvalidSeal("a text is not encrypted by the password beside it") from None


class Seal(FrozenModel):
    """Encrypts what gives a task's words away; travels as `parameters["sealed"]`."""

    password: str

    @classmethod
    def of(cls, task: Task) -> Self | None:
        """The seal of a task; None where its words may be written down."""
        given = task.parameters.get(SEALED)
        try:
            return None if given is None else cls.model_validate(given)
        except ValidationError:
            return None

    def seal(self, value: JsonValue, task: Task) -> JsonValue:
        """A JSON value in which every text that repeats words of the task, or has an answer in it, is encrypted.

        The names of fields and the task's seal stay as they are. `unseal` gives the value back.
        """
        reveals = _detector(task)

        def hide(text: str) -> str:
            return PREFIX + encrypt(text, self.password) if reveals(text) and not text.startswith(PREFIX) else text

        return _map_texts(value, hide)

    def unseal(self, value: JsonValue) -> JsonValue:
        """The value as it was before `seal`. Raises InvalidSeal."""

        def show(text: str) -> str:
            return decrypt(text.removeprefix(PREFIX), self.password) if text.startswith(PREFIX) else text

        return _map_texts(value, show)


def unseal_trajectory(value: JsonValue) -> JsonValue:
    """A trajectory's JSON as it was before it was written, where its task is sealed. Raises InvalidSeal."""
    if not isinstance(value, dict) or not isinstance(task := value.get("task"), dict):
        return value
    parameters = task.get("parameters")
    given = parameters.get(SEALED) if isinstance(parameters, dict) else None
    return value if not isinstance(given, dict) else Seal.model_validate(given).unseal(value)


def without_sealed_text(task: Task) -> Task:
    """A sealed task as a machine gets it, which needs none of its words and writes down what it gets; any other task
    as it is."""
    if Seal.of(task) is None:
        return task
    parameters = {name: value for name, value in task.parameters.items() if name not in HIDDEN_PARAMETERS | {SEALED}}
    return task.model_copy(update={"instruction": HIDDEN_INSTRUCTION, "parameters": parameters})


def _combine(data: bytes, password: str) -> bytes:
    key = hashlib.sha256(password.encode()).digest()
    return bytes(byte ^ other for byte, other in zip(data, itertools.cycle(key), strict=False))


def _map_texts(value: JsonValue, change: Callable[[str], str]) -> JsonValue:
    match value:
        case str():
            return change(value)
        case list():
            return [_map_texts(each, change) for each in value]
        case dict():
            return {name: each if name == SEALED else _map_texts(each, change) for name, each in value.items()}
        case _:
            return value


def _detector(task: Task) -> Callable[[str], bool]:
    """Whether a text gives away words of the task or one of its answers."""
    question = _fold(task.instruction)
    length = RUN_CHARACTERS_CJK if _CJK.search(question) else RUN_CHARACTERS
    runs = {question[at : at + length] for at in range(max(1, len(question) - length + 1))}
    given = task.parameters.get("reference_answer")
    answers = [_fold(one) for one in (given if isinstance(given, list) else [given]) if isinstance(one, str)]
    words = [_word_pattern(answer) for answer in answers if len(answer) >= MIN_ANSWER_CHARACTERS or _CJK.search(answer)]

    def reveals(text: str) -> bool:
        folded = _fold(text)
        if folded in answers:
            return True
        if any(folded[at : at + length] in runs for at in range(max(1, len(folded) - length + 1))):
            return True
        return not _IDENTIFIER.fullmatch(text) and any(word.search(folded) for word in words)

    return reveals


_IDENTIFIER = re.compile(r"[0-9a-fA-F-]{32,64}|\d{4}-\d\d-\d\dT[0-9:.]+(Z|[+-]\d\d:\d\d)?")
"""Checksums, ids and times, which no text of a task is."""


def _word_pattern(answer: str) -> re.Pattern[str]:
    """The answer where it is no part of a longer word; Chinese has no spaces between words."""
    escaped = re.escape(answer)
    return re.compile(escaped if _CJK.search(answer) else rf"(?<!\w){escaped}(?!\w)")


def _fold(text: str) -> str:
    """For comparing: case and white space do not count."""
    return " ".join(text.casefold().split())
