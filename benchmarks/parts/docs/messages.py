"""Messages of the pages in both languages, and retired words in documents."""

import re
from collections.abc import Mapping
from pathlib import Path

from annotation_app.operations import glossary
from annotation_app.operations.documents.sentences import sentences

MESSAGES = Path("frontend", "src", "shared", "i18n")
ENTRY = re.compile(r"^\s*\"(?P<key>[\w.]+)\":\s*(?P<text>.*(?:\n\s{4,}.*)*)", re.MULTILINE)
PHRASE = re.compile(r"[a-z]{3,} [a-z]{3,} [a-z]{3,}")


def untranslated_messages(root: Path) -> list[str]:
    """Keys without a Chinese message, and those whose Chinese message has a phrase of English in it."""
    english, chinese = (read_messages(root / MESSAGES / language) for language in ("en", "zh"))
    return [key for key, text in english.items() if key not in chinese or _is_same_phrase(text, chinese[key])]


def _is_same_phrase(english: str, chinese: str) -> bool:
    return english == chinese and PHRASE.search(english) is not None


def read_messages(folder: Path) -> dict[str, str]:
    """The messages of a language by key, as they are written."""
    return {
        found["key"]: found["text"].strip()
        for file in sorted(folder.glob("*.ts"))
        for found in ENTRY.finditer(file.read_text())
    }


def retired_words(root: Path, pages: Mapping[str, str]) -> list[str]:
    """Retired words in the prose of pages, as `page: word`; code, tables and headings are left out."""
    retired = [word for term in glossary.load(root) for word in term.retired if word.prose is not None]
    return [
        f"{page}: {word.word}"
        for page, text in pages.items()
        for sentence in sentences(text)
        for word in retired
        if word.prose is not None and word.prose.search(sentence.lower())
    ]
