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
class FuzzResult:
    """What became of fuzzed files: how many were read, how many held tasks, and what went wrong."""

    files: int
    with_tasks: int
    problems: tuple[str, ...]


def fuzz_uploads(*, seed: int, count: int) -> FuzzResult:
    """Read this many files; the same seed gives the same files."""
    with_tasks, problems = 0, []
    for number, (kind, data) in enumerate(generate_uploads(seed=seed, count=count)):
        try:
            upload = task_file_read(data, kind, "desktop")
            problem = find_problem(upload)
            with_tasks += bool(upload.tasks)
        except Exception as error:  # noqa: BLE001 - a crash is what is looked for
            problem = f"{type(error).__name__}: {error}"
        if problem:
            problems.append(f"file {number} ({kind}) of seed {seed}: {problem}")
    return FuzzResult(count, with_tasks, tuple(problems))


def find_problem(upload: TaskFile) -> str:
    """What is wrong with what was read of a file; empty where nothing is."""
    if not upload.tasks and not upload.faults:
        return "neither tasks nor faults"
    if any(not fault.reason.strip() or fault.row < 1 for fault in upload.faults):
        return "a fault without a reason or a row"
    ids = [task.id for task in upload.tasks]
    if len(set(ids)) < len(ids) or set(upload.rows) != set(ids):
        return "an id twice, or without its row"
    text = upload.model_dump_json()
    json.loads(text, parse_constant=_is_not_finite)
    text.encode()
    return "a NUL" if any(_holds_nul(task.model_dump()) for task in upload.tasks) else ""


def generate_uploads(*, seed: int, count: int) -> Iterator[tuple[UploadFormat, bytes]]:
    """Files of every kind, most of them spoiled in one place or a few."""
    rng = random.Random(seed)
    makers: dict[UploadFormat, Callable[[random.Random], bytes]] = {
        "csv": _table,
        "xlsx": _workbook,
        "jsonl": _json_lines,
        "osworld": _osworld,
    }
    kinds = list(makers)
    for _ in range(count):
        kind = rng.choice(kinds)
        made = makers[rng.choice(kinds) if rng.random() < 0.05 else kind](rng)
        yield kind, _corrupt(rng, made) if rng.random() < 0.6 else made


def _corrupt(rng: random.Random, data: bytes) -> bytes:
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        start = rng.randint(0, len(data))
        end = min(len(data), start + rng.choice((0, 0, 1, 1, 4, 40)))
        token = rng.choice((b"", rng.choice(TOKENS), bytes([rng.randrange(256)])))
        data = data[:start] if rng.random() < 0.05 else data[:start] + token + data[end:]
    return data


def _cells(rng: random.Random) -> Iterator[list[str]]:
    heading = ["instruction", *rng.sample(COLUMNS, rng.randint(0, 4)), *rng.choice(([], [], [""], ["", ""]))]
    rng.shuffle(heading)
    yield [rng.choice((name, name.upper(), f" {name} ")) for name in heading]
    for _ in range(rng.choice((0, 1, 3, 8))):
        row = [_cell(rng, name) if name else "" for name in heading]
        yield row[: rng.randint(1, len(row))] if rng.random() < 0.1 else row + [""] * rng.choice((0, 0, 0, 2))


def _cell(rng: random.Random, name: str) -> str:
    if rng.random() < 0.9:
        return PLAUSIBLE.get(name, f"{name} {rng.randrange(10**6)}")
    return f'{{"a": {rng.choice(VALUES)}}}' if name == "parameters" else rng.choice(TEXTS)


def _table(rng: random.Random) -> bytes:
    text = io.StringIO()
    separator = rng.choice(",,;\t|")
    end = rng.choice(("\n", "\r\n", "\r"))
    text.write(rng.choice(("", "", "\ufeff", f"sep={separator}{end}", end)))
    csv.writer(
        text,
        delimiter=separator,
        lineterminator=end,
        quoting=csv.QUOTE_ALL if rng.random() < 0.5 else csv.QUOTE_MINIMAL,
    ).writerows(_cells(rng))
    return text.getvalue().encode(rng.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-32")))


def _object(rng: random.Random, *names: str) -> str:
    fields = [f'"instruction": {json.dumps(rng.choice(TEXTS))}'] if rng.random() < 0.9 else []
    for name in (name for name in names if rng.random() < 0.3):
        value = PLAUSIBLE.get(name, f'"{name} {rng.randrange(10**6)}"').replace("a.org", '["a.org"]') or "{}"
        fields.append(f'"{name}": {value if rng.random() < 0.8 else rng.choice(VALUES)}')
    return f"{{{', '.join(fields)}}}"


def _json_lines(rng: random.Random) -> bytes:
    objects = [
        _object(rng, *COLUMNS, *rng.choice(((), (), ("platform", "other")))) for _ in range(rng.choice((1, 1, 2, 6)))
    ]
    text = rng.choice(("\n".join(objects), "\r\n\r\n".join(objects), f"[{','.join(objects)}]"))
    return text.encode(rng.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16")))


def _osworld(rng: random.Random) -> bytes:
    def one() -> str:
        return f'{{"id": "{rng.randrange(9)}", "evaluator": {rng.choice(VALUES)}, {_object(rng, "config")[1:]}'

    return rng.choice((one(), f"[{one()}, {one()}]")).encode()


def _workbook(rng: random.Random) -> bytes:
    shared: list[str] = []
    rows = "".join(_sheet_row(rng, cells, shared) for cells in _cells(rng))
    texts = "".join(f"<si><t>{escape(text)}</t></si>" for text in shared)
    parts = {
        "xl/workbook.xml": '<workbook><sheets><sheet id="a"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="a" Target="s.xml"/></Relationships>',
        "xl/s.xml": f"<worksheet><sheetData>{rows}</sheetData></worksheet>",
        "xl/sharedStrings.xml": f"<sst>{texts}</sst>",
    }
    corrupted = rng.choice(list(parts)) if rng.random() < 0.3 else ""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as book:
        for name, text in parts.items():
            if name != corrupted:
                book.writestr(zipfile.ZipInfo(name), text, book.compression)
            elif rng.random() < 0.8:
                book.writestr(zipfile.ZipInfo(name), _corrupt(rng, text.encode()), book.compression)
    return file.getvalue()


def _sheet_row(rng: random.Random, cells: list[str], shared: list[str]) -> str:
    said = []
    for text in cells:
        if rng.random() < 0.5:
            said.append(f'<c t="s"><v>{len(shared) + (rng.random() < 0.02)}</v></c>')
            shared.append(text)
        else:
            said.append(f'<c t="{rng.choice(("str", "str", "n", "b", "e"))}"><v>{escape(text)}</v></c>')
    return f"<row>{''.join(said)}</row>"


def _holds_nul(value: object) -> bool:
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict):
        return any(map(_holds_nul, (*value, *value.values())))
    return isinstance(value, list | tuple) and any(map(_holds_nul, value))


def _is_not_finite(text: str) -> None:
    raise ValueError(f"{text} in what is sent")
