"""BrowseComp and BrowseComp-ZH: encrypted questions whose short answers are found on the web.

Their files are tables with an encrypted question and answer and, beside them, the row's canary, which is the password.
They stay encrypted on the disk; rows are decrypted in memory, and attempts are written sealed
(`protocol.trajectory.sealing`).
"""

import re

from protocol.benchmarks.forms import BENCHMARK, FolderSettings, FormError, Row, origin, text_of, web_task
from protocol.trajectory.sealing import SEALED, InvalidSeal, decrypt
from protocol.trajectory.tasks import Task

MAX_STEPS = 100
ENGLISH, CHINESE = "browsecomp", "browsecomp-zh"
_CJK = re.compile("[\u4e00-\u9fff]")
_INSTRUCTION_PREFIXES = {
    ENGLISH: "Find the answer to this question on the web. Finish with the answer alone, as short as it can be.",
    CHINESE: "请在网上查找以下问题的答案。结束时只给出答案本身，尽量简短。",
}


def is_question(row: Row) -> bool:
    """Whether a row has the columns of an encrypted question."""
    names = {str(name).strip().lower() for name in row}
    return {"canary", "answer"} <= names and not names.isdisjoint({"problem", "question"})


def question_task(row: Row, place: int, settings: FolderSettings) -> Task:
    """A row as a task; `place` counts its rows from 1. Raises FormError, which never repeats decrypted text."""
    password = text_of(row, "canary")
    try:
        question = decrypt(text_of(row, "problem", "question"), password).strip()
        answer = decrypt(text_of(row, "answer"), password).strip()
    except InvalidSeal as error:
        raise FormError(str(error)) from None
    if not question or not answer:
        raise FormError("the question or its answer is empty")
    name = CHINESE if _CJK.search(question) else ENGLISH
    title = f"{name}/{place:04}"
    fields = {
        "id": title,
        "name": title,
        "instruction": f"{_INSTRUCTION_PREFIXES[name]}\n\n{question}",
        "max_steps": MAX_STEPS,
        "parameters": {
            "reference_answer": answer,
            "category": name,
            BENCHMARK: origin(name, "published"),
            SEALED: {"password": password},
        },
    }
    return web_task(fields, settings.start_page, settings)
