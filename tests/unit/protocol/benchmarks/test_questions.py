"""Sealed questions: decrypted in memory by their own scheme, in both languages; what is no question is refused."""

import base64
import hashlib

import pytest

from benchmarks.parts.published.own_tasks import ANSWER, CANARY, CHINESE_ANSWER, CHINESE_QUESTION, QUESTION
from protocol.benchmarks.forms import FolderSettings, FormError, oracle_source
from protocol.benchmarks.questions import is_question, question_task
from protocol.site_tasks import find_site_task
from protocol.trajectory.sealing import Seal, decrypt, encrypt

SETTINGS = FolderSettings(start_page="https://search.example/", network=("search.example",))


def row(question: str, answer: str, password: str = CANARY) -> dict[str, str]:
    return {"problem": encrypt(question, password), "answer": encrypt(answer, password), "canary": password}


def test_a_question_is_decrypted_and_keeps_its_seal() -> None:
    task = question_task(row(QUESTION, ANSWER), 3, SETTINGS)
    assert (task.id, task.platform, task.network) == ("browsecomp/0003", "browser", ("search.example",))
    assert QUESTION in task.instruction
    assert task.parameters["reference_answer"] == ANSWER
    assert oracle_source(task) == "published"
    assert Seal.of(task) == Seal(password=CANARY)
    site = find_site_task(task)
    assert site is not None
    assert site.site.kind == "live"


def test_a_chinese_question_has_its_own_columns_and_words() -> None:
    given = {
        "Topic": encrypt("历史", CANARY),
        "Question": encrypt(CHINESE_QUESTION, CANARY),
        "Answer": encrypt(CHINESE_ANSWER, CANARY),
        "canary": CANARY,
    }
    assert is_question(given)
    task = question_task(given, 1, SETTINGS)
    assert task.id == "browsecomp-zh/0001"
    assert task.instruction.startswith("请")


def test_the_scheme_is_the_published_one() -> None:
    text = "longer than one digest, so that the key comes around: 0123456789"
    key = hashlib.sha256(b"pass").digest()
    data = bytes(byte ^ key[place % 32] for place, byte in enumerate(text.encode()))
    assert decrypt(base64.b64encode(data).decode(), "pass") == text
    assert encrypt(text, "pass") == base64.b64encode(data).decode()


@pytest.mark.parametrize(
    "given",
    [
        row(QUESTION, ANSWER) | {"canary": "another"},
        row(QUESTION, ANSWER) | {"problem": QUESTION},
        row(QUESTION, " "),
        row(QUESTION, ANSWER) | {"canary": ""},
    ],
)
def test_what_is_no_sealed_question_is_refused_without_its_words(given: dict[str, str]) -> None:
    with pytest.raises(FormError) as refused:
        question_task(given, 1, SETTINGS)
    assert "lighthouse" not in str(refused.value)
