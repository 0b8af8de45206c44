"""The glossary: one word for each concept, and retired words that identifiers may no longer contain.

`docs/concepts/glossary.toml` is the source. `docs/concepts/glossary.md` is rendered from it, and `violations` finds
retired words in identifiers, module names, English messages of the pages and log messages.
"""

import keyword
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path("docs", "concepts", "glossary.toml")
PAGE = Path("docs", "concepts", "glossary.md")
PYTHON_ROOTS = (
    "protocol",
    "agent_backend",
    "task_factory",
    "vm_bridge",
    "annotation_app",
    "trainer",
    "recorder",
    "benchmarks",
    "tests",
)
EXEMPT = re.compile(r"/migrations/|/legacy_names\.py$|(^|/)test_glossary\.py$|^annotation_app/operations/glossary\.py$")
TYPESCRIPT = "frontend/src"
GENERATED = "frontend/src/generated"
ENGLISH = "frontend/src/shared/i18n/en"
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_COMMENT_OR_STRING = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_TEMPLATE = re.compile(r"`(?:\$\{[^`{}\n]*\}|\\.|(?!\$\{)[^`\\\n])*`")
"""A template literal on one line, without braces or templates in its expressions. Others are left unchanged."""
_EXPRESSION = re.compile(r"\$\{([^}]*)\}")
_MESSAGE = re.compile(r"^\s*\"[\w.]+\": (.*)$")
_LOG = re.compile(r"\blogger\.\w+\(\s*f?\"([^\"\n]*)")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_PYTHON_TOKEN = re.compile(
    r"#[^\n]*"
    r"|(?:\b[bBfFrRuU]{1,2})?(?:"
    r"\"\"\"(?:[^\\\"]|\\.|\"(?!\"\"))*\"\"\"|'''(?:[^\\']|\\.|'(?!''))*'''"
    r"|\"(?:[^\\\"\n]|\\.)*\"|'(?:[^\\'\n]|\\.)*')"
    r"|\d\w*"
    r"|([^\W\d]\w*)",
    re.DOTALL,
)
"""A comment, a string, a number or, as its group, a Python name."""


@dataclass(frozen=True, slots=True)
class RetiredWord:
    """A word that identifiers may no longer contain.

    Attributes:
        word: the word as it was used.
        pattern: matched against the identifier's words in lower case, joined by spaces.
        scope: path prefixes in which the word is retired; empty for everywhere.
        stored: identifiers that keep the word because they are stored or sent.
        prose: matched against English and log messages in lower case; None where the word has other meanings there.
    """

    word: str
    pattern: re.Pattern[str]
    scope: tuple[str, ...]
    stored: frozenset[str]
    prose: re.Pattern[str] | None = None

    def matches(self, path: str, identifier: str) -> bool:
        """Whether the identifier in the file at `path` contains the word."""
        if identifier in self.stored or (self.scope and not path.startswith(self.scope)):
            return False
        return bool(self.pattern.search(words_of(identifier)))


@dataclass(frozen=True, slots=True)
class Term:
    """A concept: its one word, one sentence, and the words that it replaces."""

    term: str
    meaning: str
    retired: tuple[RetiredWord, ...]


@dataclass(frozen=True, order=True, slots=True)
class Violation:
    """A retired word in an identifier or a message."""

    path: str
    line: int
    identifier: str
    word: str


def words_of(identifier: str) -> str:
    """The words of an identifier in lower case, joined by spaces: `in_DatabaseThread` gives `in database thread`."""
    return " ".join(word.lower() for word in _WORD.findall(identifier))


def load(root: Path) -> list[Term]:
    """The terms in alphabetical order. Raises KeyError or re.error if the source is malformed."""
    data: dict[str, Any] = tomllib.loads((root / SOURCE).read_text())
    return sorted((_term(entry) for entry in data["term"]), key=lambda term: term.term.lower())


def _term(entry: dict[str, Any]) -> Term:
    retired = tuple(
        RetiredWord(
            word["word"],
            re.compile(rf"\b(?:{word['pattern']})\b"),
            tuple(word.get("scope", ())),
            frozenset(word.get("stored", ())),
            re.compile(rf"\b(?:{word['prose']})\b") if "prose" in word else None,
        )
        for word in entry.get("retired", ())
    )
    return Term(entry["term"], entry["meaning"], retired)


def render(terms: list[Term]) -> str:
    """The page in Markdown."""
    lines = [
        "# Glossary",
        "",
        "Each concept has one word in code, database, API, pages and documentation. The right column lists the words",
        "that earlier versions used. No identifier carries them any more; a test checks it.",
        "",
        "This page is generated from `docs/concepts/glossary.toml` by `./pilothouse glossary`.",
        "",
        "| Term | Meaning | Replaces |",
        "| --- | --- | --- |",
    ]
    for term in terms:
        replaced = ", ".join(f"*{word}*" for word in dict.fromkeys(word.word for word in term.retired))
        lines.append(f"| **{term.term}** | {term.meaning} | {replaced} |")
    return "\n".join(lines) + "\n"


def write(root: Path) -> None:
    """Write the page from its source."""
    (root / PAGE).write_text(render(load(root)))


def is_current(root: Path) -> bool:
    """Whether the page matches its source."""
    return (root / PAGE).exists() and (root / PAGE).read_text() == render(load(root))


def violations(root: Path) -> list[Violation]:
    """Every retired word in an identifier, a module's name or a message, in order."""
    retired = [word for term in load(root) for word in term.retired]
    any_retired = re.compile("|".join(word.pattern.pattern for word in retired))
    found: set[Violation] = set()
    carried: dict[str, list[RetiredWord]] = {}
    for path, line, identifier in identifiers(root):
        if identifier not in carried:
            spelled = words_of(identifier)
            maybe = retired if any_retired.search(spelled) else []
            carried[identifier] = [word for word in maybe if word.pattern.search(spelled)]
        words = (word for word in carried[identifier] if word.matches(path, identifier))
        found.update(Violation(path, line, identifier, word.word) for word in words)
    found.update(
        Violation(path, line, text, word.word)
        for path, line, text in messages(root)
        for word in retired
        if word.prose is not None and word.prose.search(text.lower())
    )
    return sorted(found)


def messages(root: Path) -> Iterator[tuple[str, int, str]]:
    """Path, line and text of the pages' English messages and of log messages."""
    for file in sorted((root / ENGLISH).glob("*.ts")):
        for line, text in enumerate(file.read_text().splitlines(), start=1):
            if match := _MESSAGE.match(text):
                yield file.relative_to(root).as_posix(), line, match.group(1)
    for top in PYTHON_ROOTS:
        for file in sorted((root / top).rglob("*.py")):
            source = file.read_text()
            for match in _LOG.finditer(source):
                line = source.count("\n", 0, match.start()) + 1
                yield file.relative_to(root).as_posix(), line, match.group(1)


def identifiers(root: Path) -> Iterator[tuple[str, int, str]]:
    """Path, line and name of each identifier in Python and TypeScript. A module's own name is on line 0."""
    for top in PYTHON_ROOTS:
        for file in sorted((root / top).rglob("*.py")):
            path = file.relative_to(root).as_posix()
            if EXEMPT.search(path):
                continue
            yield path, 0, file.parent.name if file.stem == "__init__" else file.stem
            yield from ((path, line, name) for line, name in python_identifiers(file.read_text()))
    for file in sorted((root / TYPESCRIPT).rglob("*.ts*")):
        path = file.relative_to(root).as_posix()
        if path.startswith(GENERATED):
            continue
        yield path, 0, file.name.partition(".")[0]
        yield from ((path, line, name) for line, name in typescript_identifiers(file.read_text()))


def python_identifiers(source: str) -> Iterator[tuple[int, str]]:
    """Line and name of each distinct identifier of a module, where it first occurs. Leaves out comments and strings.

    The standard library's tokenizer gives the same result but takes ten times as long.
    """
    first: dict[str, int] = {}
    line, at = 1, 0
    for match in _PYTHON_TOKEN.finditer(source):
        name = match.group(1)
        if name and name not in first and not keyword.iskeyword(name):
            line, at = line + source.count("\n", at, match.start()), match.start()
            first[name] = line
    yield from ((line, name) for name, line in first.items())


def typescript_identifiers(source: str) -> Iterator[tuple[int, str]]:
    """Line and name of each distinct identifier, where it first occurs. Leaves out comments and the text of strings."""
    source = _TEMPLATE.sub(lambda match: " ".join(_EXPRESSION.findall(match.group())), source)
    code = _COMMENT_OR_STRING.sub(lambda match: "\n" * match.group().count("\n") or " ", source)
    first: dict[str, int] = {}
    for number, line in enumerate(code.splitlines(), start=1):
        for match in _IDENTIFIER.finditer(line):
            first.setdefault(match.group(), number)
    yield from ((line, name) for name, line in first.items())
