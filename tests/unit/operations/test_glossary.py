"""The glossary: its page is current, its patterns work, and no identifier carries a retired word."""

import re
from pathlib import Path

import pytest

from annotation_app.operations.glossary import (
    RetiredWord,
    Term,
    is_current,
    load,
    python_identifiers,
    render,
    typescript_identifiers,
    violations,
    words_of,
)
from annotation_app.operations.runtime.stack import ROOT

LEAST_RETIRED_WORDS = 120


def test_no_identifier_carries_a_retired_word() -> None:
    assert violations(ROOT) == []


def test_the_page_is_what_the_source_gives() -> None:
    assert is_current(ROOT), "run ./pilothouse glossary"


def test_each_concept_has_one_term_and_each_retired_word_one_successor() -> None:
    terms = load(ROOT)
    names = [term.term for term in terms]
    assert len(names) == len(set(names))
    retired = [(word.word, word.scope) for term in terms for word in term.retired]
    assert len(retired) == len(set(retired))
    assert len(retired) >= LEAST_RETIRED_WORDS
    assert all(term.meaning.endswith(".") for term in terms)


@pytest.mark.parametrize(
    ("identifier", "words"),
    [("in_database", "in database"), ("DeedLog", "deed log"), ("HTTPDoor2", "http door 2"), ("_told", "told")],
)
def test_an_identifier_is_split_into_words(identifier: str, words: str) -> None:
    assert words_of(identifier) == words


def test_a_retired_word_is_found_as_a_whole_word_within_its_scope() -> None:
    word = RetiredWord("deed", re.compile(r"\b(?:deeds?)\b"), ("agent_backend/",), frozenset({"deed_sha256"}))
    assert word.matches("agent_backend/episode/runner.py", "last_deed")
    assert word.matches("agent_backend/episode/runner.py", "DeedLog")
    assert not word.matches("agent_backend/episode/runner.py", "indeed")
    assert not word.matches("agent_backend/episode/runner.py", "deed_sha256"), "it is stored"
    assert not word.matches("trainer/config.py", "last_deed"), "another folder"


def test_violations_are_found_in_python_typescript_and_module_names(tmp_path: Path) -> None:
    (tmp_path / "docs" / "concepts").mkdir(parents=True)
    (tmp_path / "docs" / "concepts" / "glossary.toml").write_text(
        '[[term]]\nterm = "result"\nmeaning = "What an action did."\n'
        '[[term.retired]]\nword = "deed"\npattern = "deeds?"\n'
    )
    package = tmp_path / "agent_backend"
    package.mkdir()
    (package / "deeds.py").write_text('"""Deeds in prose are no identifier."""\nx = 1\n')
    (package / "runner.py").write_text("first = 1\nlast_deed = 2\n")
    page = tmp_path / "frontend" / "src"
    page.mkdir(parents=True)
    (page / "list.tsx").write_text('const text = "a deed"; // deed\nconst deedList = [];\n')
    assert [(found.path, found.line, found.identifier) for found in violations(tmp_path)] == [
        ("agent_backend/deeds.py", 0, "deeds"),
        ("agent_backend/runner.py", 2, "last_deed"),
        ("frontend/src/list.tsx", 2, "deedList"),
    ]


def test_violations_are_found_in_english_and_log_messages(tmp_path: Path) -> None:
    (tmp_path / "docs" / "concepts").mkdir(parents=True)
    (tmp_path / "docs" / "concepts" / "glossary.toml").write_text(
        '[[term]]\nterm = "result"\nmeaning = "What an action did."\n'
        '[[term.retired]]\nword = "deed"\npattern = "deeds?"\nprose = "deeds?"\n'
    )
    english = tmp_path / "frontend" / "src" / "shared" / "i18n" / "en"
    english.mkdir(parents=True)
    (english / "desk.ts").write_text('  "desk.result": "The deed is stored",\n  "desk.deed": "The result",\n')
    package = tmp_path / "vm_bridge"
    package.mkdir()
    (package / "pool.py").write_text('logger.warning(\n    "no deed of %s", name\n)\nprint("indeed a deed")\n')
    assert [(found.path, found.line) for found in violations(tmp_path)] == [
        ("frontend/src/shared/i18n/en/desk.ts", 1),
        ("vm_bridge/pool.py", 1),
    ]


def test_identifiers_of_comments_and_strings_are_left_out() -> None:
    assert dict(python_identifiers("# deed\nname = 'deed'\n")) == {2: "name"}
    assert [name for _, name in typescript_identifiers("/* deed */ let name = 'deed';\n")] == ["let", "name"]


def test_a_template_literal_gives_the_identifiers_of_its_expressions() -> None:
    source = "go(`/deed/${first}/deed?a=${second.id}`);\nlet third;\n"
    assert [name for _, name in typescript_identifiers(source)] == ["go", "first", "second", "id", "let", "third"]


def test_what_strings_comments_and_numbers_of_python_hold_is_no_identifier() -> None:
    lines = (
        'a = """deed',
        '"two" deed"""; b = rb"deed\\"deed"  # it is a "deed',
        "c = 0xDEED + 1e5",
        "f'{deed}'.d('''it\\'s a deed''')",
    )
    assert list(python_identifiers("\n".join(lines))) == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]


def test_a_keyword_is_no_identifier() -> None:
    assert list(python_identifiers("pass\n")) == []


def test_a_row_of_the_page_names_the_term_its_meaning_and_what_it_replaces() -> None:
    retired = (RetiredWord("deed", re.compile("deed"), (), frozenset()),)
    assert "| **result** | What an action did. | *deed* |\n" in render([Term("result", "What an action did.", retired)])
