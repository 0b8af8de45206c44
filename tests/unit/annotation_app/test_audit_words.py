"""Every verb, kind of object and part of the platform in the audit log has words in each language of the pages."""

import re

import pytest

from annotation_app.audit.sources import PARTS
from annotation_app.audit.verbs import VERBS
from annotation_app.operations.runtime.stack import ROOT

MESSAGES = ROOT / "frontend" / "src" / "shared" / "i18n"


SUBJECT_PATTERN = re.compile(r'(?:subject=|_audit\([^"\n]*"[^"]*", |subject, details = )f?"([a-z]+)[:"]')


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_verb_has_words(language: str) -> None:
    words = dict(re.findall(r'"audit\.verb\.([\w.]+)": "(.+)"', (MESSAGES / language / "audit.ts").read_text()))
    assert words.keys() == set(VERBS)
    assert len(set(words.values())) == len(VERBS), "different things have different words"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_part_and_kind_has_words(language: str) -> None:
    text = (MESSAGES / language / "audit.ts").read_text()
    assert set(re.findall(r'"audit\.part\.(\w+)":', text)) == set(PARTS)
    files = [file for file in (ROOT / "annotation_app").rglob("*.py") if "import audit_record" in file.read_text()]
    recorded = {part for file in files for part in re.findall(r'part="(\w+)"', file.read_text())}
    assert recorded == set(PARTS), "a part that is never recorded has no words"
    kinds = {kind for file in files for kind in SUBJECT_PATTERN.findall(file.read_text())}
    assert {"machine", "quota", "graph", "webhook"} <= kinds
    assert kinds <= set(re.findall(r'"audit\.kind\.(\w+)":', text)) | {"health"}
