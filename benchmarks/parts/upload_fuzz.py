"""Files of tasks as programs and accidents make them, from a seed; and whether the reader of uploads survives them."""

import csv
import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

from annotation_app.pools.task_files import COLUMNS, TaskFile, UploadFormat, task_file_read

TEXTS = (
    "Open the menu",
    "",
    " ",
    "a\nb",
    'say "hi"',
    "1",
    "1.0",
    "1_0",
    "-7",
    "NaN",
    "=1+1",
    "中文",
    "😀",
    "\\u0000",
    "x" * 300,
)
VALUES = (
    "1",
    "1.5",
    "null",
    "true",
    '"a"',
    "[]",
    "{}",
    "NaN",
    "-Infinity",
    "1e999",
    "1" * 5_000,
    '"\\ud83d"',
    '"\\u0000"',
)
PLAUSIBLE = {"seed": "7", "max_steps": "9", "network": "a.org", "parameters": '{"a": [1, "b"]}', "other": ""}
"""What a column is most likely to hold."""
TOKENS = (
    *(
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\x00",
        b"\x1a",
        b"\x0b",
        b"\x85",
        b"\xe2\x80\xa8",
        b"\r",
        b"\n",
        b"\r\n",
        b"sep=;\n",
    ),
    *(
        b'"',
        b",",
        b";",
        b"\t",
        b"|",
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b"\\",
        b"\\u0000",
        b"\\ud800",
        b"NaN",
        b"1e999",
        b"null",
    ),
    *(b"<", b"</", b"&#0;", b"<!DOCTYPE a>", b"[" * 3_000, b"9" * 5_000, b"PK\x03\x04", b"instruction", b"parameters"),
)


@dataclass(frozen=True)
class Fuzzed:
    """What became of fuzzed files: how many were read, how many held tasks, and what went wrong."""

    files: int
    with_tasks: int
    problems: tuple[str, ...]


def uploads_fuzz(*, seed: int, count: int) -> Fuzzed:
    """Read this many files; the same seed gives the same files."""
    with_tasks, problems = 0, []
    for number, (kind, data) in enumerate(upload_files(seed=seed, count=count)):
        try:
            upload = task_file_read(data, kind, "desktop")
            problem = upload_problem(upload)
            with_tasks += bool(upload.tasks)
        except Exception as error:  # noqa: BLE001  # a crash is what is looked for
            problem = f"{type(error).__name__}: {error}"
        if problem:
            problems.append(f"file {number} ({kind}) of seed {seed}: {problem}")
    return Fuzzed(count, with_tasks, tuple(problems))


def upload_problem(upload: TaskFile) -> str:
    """What is wrong with what was read of a file; empty where nothing is."""
    if not upload.tasks and not upload.faults:
        return "neither tasks nor faults"
    if any(not fault.reason.strip() or fault.row < 1 for fault in upload.faults):
        return "a fault without a reason or a row"
    ids = [task.id for task in upload.tasks]
    if len(set(ids)) < len(ids) or set(upload.rows) != set(ids):
        return "an id twice, or without its row"
    text = upload.model_dump_json()
    json.loads(text, parse_constant=_no_number)
    text.encode()
    return "a NUL" if any(_holds_nul(task.model_dump()) for task in upload.tasks) else ""


def upload_files(*, seed: int, count: int) -> Iterator[tuple[UploadFormat, bytes]]:
    """Files of every kind, most of them spoiled in one place or a few."""
    chance = random.Random(seed)
    makers: dict[UploadFormat, Callable[[random.Random], bytes]] = {
        "csv": _table,
        "xlsx": _workbook,
        "jsonl": _json_lines,
        "osworld": _osworld,
    }
    kinds = list(makers)
    for _ in range(count):
        kind = chance.choice(kinds)
        made = makers[chance.choice(kinds) if chance.random() < 0.05 else kind](chance)
        yield kind, _spoiled(chance, made) if chance.random() < 0.6 else made


def _spoiled(chance: random.Random, data: bytes) -> bytes:
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        start = chance.randint(0, len(data))
        end = min(len(data), start + chance.choice((0, 0, 1, 1, 4, 40)))
        token = chance.choice((b"", chance.choice(TOKENS), bytes([chance.randrange(256)])))
        data = data[:start] if chance.random() < 0.05 else data[:start] + token + data[end:]
    return data


def _cells(chance: random.Random) -> Iterator[list[str]]:
    heading = ["instruction", *chance.sample(COLUMNS, chance.randint(0, 4)), *chance.choice(([], [], [""], ["", ""]))]
    chance.shuffle(heading)
    yield [chance.choice((name, name.upper(), f" {name} ")) for name in heading]
    for _ in range(chance.choice((0, 1, 3, 8))):
        row = [_cell(chance, name) if name else "" for name in heading]
        yield row[: chance.randint(1, len(row))] if chance.random() < 0.1 else row + [""] * chance.choice((0, 0, 0, 2))


def _cell(chance: random.Random, name: str) -> str:
    if chance.random() < 0.9:
        return PLAUSIBLE.get(name, f"{name} {chance.randrange(10**6)}")
    return f'{{"a": {chance.choice(VALUES)}}}' if name == "parameters" else chance.choice(TEXTS)


def _table(chance: random.Random) -> bytes:
    text = io.StringIO()
    separator = chance.choice(",,;\t|")
    end = chance.choice(("\n", "\r\n", "\r"))
    text.write(chance.choice(("", "", "\ufeff", f"sep={separator}{end}", end)))
    csv.writer(
        text,
        delimiter=separator,
        lineterminator=end,
        quoting=csv.QUOTE_ALL if chance.random() < 0.5 else csv.QUOTE_MINIMAL,
    ).writerows(_cells(chance))
    return text.getvalue().encode(chance.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-32")))


def _object(chance: random.Random, *names: str) -> str:
    fields = [f'"instruction": {json.dumps(chance.choice(TEXTS))}'] if chance.random() < 0.9 else []
    for name in (name for name in names if chance.random() < 0.3):
        value = PLAUSIBLE.get(name, f'"{name} {chance.randrange(10**6)}"').replace("a.org", '["a.org"]') or "{}"
        fields.append(f'"{name}": {value if chance.random() < 0.8 else chance.choice(VALUES)}')
    return f"{{{', '.join(fields)}}}"


def _json_lines(chance: random.Random) -> bytes:
    objects = [
        _object(chance, *COLUMNS, *chance.choice(((), (), ("platform", "other"))))
        for _ in range(chance.choice((1, 1, 2, 6)))
    ]
    text = chance.choice(("\n".join(objects), "\r\n\r\n".join(objects), f"[{','.join(objects)}]"))
    return text.encode(chance.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16")))


def _osworld(chance: random.Random) -> bytes:
    def one() -> str:
        return f'{{"id": "{chance.randrange(9)}", "evaluator": {chance.choice(VALUES)}, {_object(chance, "config")[1:]}'

    return chance.choice((one(), f"[{one()}, {one()}]")).encode()


def _workbook(chance: random.Random) -> bytes:
    shared: list[str] = []
    rows = "".join(_sheet_row(chance, cells, shared) for cells in _cells(chance))
    texts = "".join(f"<si><t>{escape(text)}</t></si>" for text in shared)
    parts = {
        "xl/workbook.xml": '<workbook><sheets><sheet id="a"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="a" Target="s.xml"/></Relationships>',
        "xl/s.xml": f"<worksheet><sheetData>{rows}</sheetData></worksheet>",
        "xl/sharedStrings.xml": f"<sst>{texts}</sst>",
    }
    spoiled = chance.choice(list(parts)) if chance.random() < 0.3 else ""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as book:
        for name, text in parts.items():
            if name != spoiled:
                book.writestr(name, text)
            elif chance.random() < 0.8:
                book.writestr(name, _spoiled(chance, text.encode()))
    return file.getvalue()


def _sheet_row(chance: random.Random, cells: list[str], shared: list[str]) -> str:
    said = []
    for text in cells:
        if chance.random() < 0.5:
            said.append(f'<c t="s"><v>{len(shared) + (chance.random() < 0.02)}</v></c>')
            shared.append(text)
        else:
            said.append(f'<c t="{chance.choice(("str", "str", "n", "b", "e"))}"><v>{escape(text)}</v></c>')
    return f"<row>{''.join(said)}</row>"


def _holds_nul(value: object) -> bool:
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict):
        return any(map(_holds_nul, (*value, *value.values())))
    return isinstance(value, list | tuple) and any(map(_holds_nul, value))


def _no_number(text: str) -> None:
    raise ValueError(f"{text} in what is sent")
